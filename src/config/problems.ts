import { ERROR_CODES, FullmatchError, type ErrorCode } from '../errors.ts';

/**
 * One fault of the configuration. `where` is a location that the operator can open: `fullmatch.yaml:12:3`,
 * `environment FULLMATCH_HOST`.
 */
export interface Problem {
  readonly code: ErrorCode;
  readonly where: string;
  readonly message: string;
  /** Dotted key at fault, if there is one. */
  readonly key?: string;
}

/** Collects the faults of a configuration, so that the operator sees all at once. */
export class Problems {
  readonly #found: Problem[] = [];

  add(problem: Problem): void {
    this.#found.push(problem);
  }

  /** Adds an `invalid_configuration` problem. */
  invalid(where: string, message: string, key?: string): void {
    this.add({ code: 'invalid_configuration', where, message, ...(key !== undefined && { key }) });
  }

  /** Runs `read`; converts an error of ours into a problem at that location and returns undefined. */
  attempt<T>(where: string, key: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof FullmatchError)) throw error;
      this.add({ code: error.code, where, key, message: error.message });
      return undefined;
    }
  }

  /**
   * Throws one error with every fault, one per line, and the list under `details.problems`. Its code is that
   * of the faults if they share one, else `invalid_configuration`.
   */
  throwIfAny(): void {
    const [first] = this.#found;
    if (first === undefined) return;
    const alike = this.#found.every((problem) => problem.code === first.code);
    const code = alike ? first.code : 'invalid_configuration';
    const lines = this.#found.map((problem) => `${problem.where}: ${problem.message}`);
    const message =
      lines.length === 1
        ? lines.join('')
        : `${lines.length} problems in the configuration\n  ${lines.join('\n  ')}`;
    throw new FullmatchError(code, message, {
      details: {
        problems: this.#found.map((problem) => ({
          ...problem,
          title: ERROR_CODES[problem.code].title,
        })),
      },
    });
  }
}
