/** How much a finding asks of the operator: mend it now, look at it, or only know it. */
export type FindingLevel = 'error' | 'warning' | 'info';

/**
 * Something the chain registry noticed and did not stop for. `code` is stable, lower_snake_case;
 * `field` is the field of the chain record or of the service configuration that it concerns.
 * The message may be shown to anyone: it never holds a URL that may carry a credential.
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

/** Orders findings by gravity, then chain, code, field and message, so that equal input gives an equal report. */
export function compareFindings(left: Finding, right: Finding): number {
  return (
    LEVELS[left.level] - LEVELS[right.level] ||
    (left.chainId ?? 0) - (right.chainId ?? 0) ||
    compareText(left.code, right.code) ||
    compareText(left.field ?? '', right.field ?? '') ||
    compareText(left.message, right.message)
  );
}
