/** Severity of a finding: fix it now, check it, or for information. */
export type FindingLevel = 'error' | 'warning' | 'info';

/**
 * A non-fatal observation about the chain registry. `code` is stable, lower_snake_case; `field` is the field
 * of the chain record or of the service configuration that it concerns. The message is safe to publish: it
 * never contains a URL that may carry a credential.
 */
export interface Finding {
  readonly level: FindingLevel;
  readonly code: string;
  readonly chainId?: number;
  readonly field?: string;
  readonly message: string;
}

const LEVELS: Readonly<Record<FindingLevel, number>> = { error: 0, warning: 1, info: 2 };

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Sorts findings by severity, then chain, code, field and message, so that equal input gives an equal report. */
export function compareFindings(left: Finding, right: Finding): number {
  return (
    LEVELS[left.level] - LEVELS[right.level] ||
    (left.chainId ?? 0) - (right.chainId ?? 0) ||
    compareText(left.code, right.code) ||
    compareText(left.field ?? '', right.field ?? '') ||
    compareText(left.message, right.message)
  );
}
