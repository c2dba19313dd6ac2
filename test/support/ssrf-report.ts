/** Outcome of one URL through one code path. */
export interface SsrfOutcome {
  readonly way: string;
  readonly url: string;
  readonly outcome: string;
}

/** The process's output. */
export interface SsrfReport {
  readonly outcomes: readonly SsrfOutcome[];
  /** Local, non-public addresses at which a connection arrived. */
  readonly hits: readonly string[];
  /** Whether each code path reaches a public address, without which the table could not fail. */
  readonly control: readonly string[];
  /** The guard's results for a name whose address changes after the first look-up. */
  readonly rebinding: readonly string[];
}
