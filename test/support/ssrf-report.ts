/** What came of one URL on one way. */
export interface SsrfOutcome {
  readonly way: string;
  readonly url: string;
  readonly outcome: string;
}

/** What the process prints. */
export interface SsrfReport {
  readonly outcomes: readonly SsrfOutcome[];
  /** Local addresses, not public ones, at which a connection arrived. */
  readonly hits: readonly string[];
  /** Whether each way reaches a public address, without which the table could not fail. */
  readonly control: readonly string[];
  /** What the guard says of a name whose address changes after it was asked first. */
  readonly rebinding: readonly string[];
}
