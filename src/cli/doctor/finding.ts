import type { FullmatchError } from '../../errors.ts';

/** Areas that the doctor checks, in the order of its report. */
export const AREAS = [
  'configuration',
  'machine',
  'data directory',
  'disk',
  'database',
  'migrations',
  'clock',
  'ports',
  'service',
  'public urls',
  'proxies',
  'compilers',
  'mirror',
  'list',
  'chains',
] as const;

/** One of {@link AREAS}. */
export type Area = (typeof AREAS)[number];

/**
 * Severity of a finding. `unknown` could not be checked, which is not a fault; a `warning` works for now; a
 * `fault` prevents something from working.
 */
export type Level = 'ok' | 'unknown' | 'warning' | 'fault';

/** A finding of the doctor. */
export interface Finding {
  readonly area: Area;
  readonly level: Level;
  /** Stable: `sound` for level ok, `not_checked` for unknown, else a fault code. */
  readonly code: string;
  /** The finding, and why it matters. */
  readonly message: string;
  /** Command or configuration key that fixes it. */
  readonly fix?: string;
}

/** Fixes for errors whose message does not name one. */
const FIXES: Readonly<Record<string, string>> = {
  database_unreachable: 'start PostgreSQL, or correct DATABASE_URL (database.url)',
};

/** Collects the findings of one area. */
export class AreaReport {
  readonly area: Area;
  readonly findings: Finding[] = [];

  constructor(area: Area) {
    this.area = area;
  }

  ok(message: string): void {
    this.#add('ok', 'sound', message);
  }

  unknown(message: string, fix?: string): void {
    this.#add('unknown', 'not_checked', message, fix);
  }

  warning(code: string, message: string, fix?: string): void {
    this.#add('warning', code, message, fix);
  }

  fault(code: string, message: string, fix?: string): void {
    this.#add('fault', code, message, fix);
  }

  /** Adds an error of ours as a fault. */
  refused(error: FullmatchError): void {
    this.fault(error.code, error.forOperator, FIXES[error.code]);
  }

  #add(level: Level, code: string, message: string, fix?: string): void {
    this.findings.push({
      area: this.area,
      level,
      code,
      message,
      ...(fix !== undefined && { fix }),
    });
  }
}
