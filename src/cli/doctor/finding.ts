import type { FullmatchError } from '../../errors.ts';

/** What the doctor looks at, in the order of its report. */
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
 * How much a finding asks of the operator. `unknown` could not be checked, which is no fault; a `warning` works for now; a
 * `fault` keeps something from working.
 */
export type Level = 'ok' | 'unknown' | 'warning' | 'fault';

/** Something the doctor found. */
export interface Finding {
  readonly area: Area;
  readonly level: Level;
  /** Stable: `sound` of what is ok, `not_checked` of what is unknown, else a code of the fault. */
  readonly code: string;
  /** What was found, and why it matters. */
  readonly message: string;
  /** The command or the key that fixes it. */
  readonly fix?: string;
}

/** What fixes faults whose message does not say it. */
const FIXES: Readonly<Record<string, string>> = {
  database_unreachable: 'start PostgreSQL, or correct DATABASE_URL (database.url)',
};

/** Where the checks of one area write what they find. */
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

  /** What a part refuses to work with. */
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
