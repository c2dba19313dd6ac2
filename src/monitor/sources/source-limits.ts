/** Limits on the source search of one contract. Sizes in bytes of content or responses, times in milliseconds. */
export interface SourceLimits {
  /** Largest metadata document. */
  readonly metadataBytes: number;
  /** Total text of a contract's sources; a source listed under two paths counts twice. */
  readonly sourceBytes: number;
  /** Most sources that a metadata document may list. */
  readonly sources: number;
  /** Limits on nesting levels, values and escapes of a metadata document. */
  readonly jsonDepth: number;
  readonly jsonValues: number;
  readonly jsonEscapes: number;
  /** Most URLs tried per source. */
  readonly urls: number;
  /** Sources fetched concurrently. */
  readonly concurrency: number;
  /** Requests to gateways and bytes of their responses, per contract. */
  readonly requests: number;
  readonly answerBytes: number;
  /** Bytes of IPFS files per contract; a block counts in each file that contains it. */
  readonly fileBytes: number;
  /** Fields read and blocks visited per contract, which is the CPU cost of reading IPFS files. */
  readonly steps: number;
  /** Timeout of a single response, and of the whole search. */
  readonly requestMs: number;
  readonly totalMs: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_SOURCE_LIMITS: SourceLimits = {
  metadataBytes: 2_000_000,
  sourceBytes: 5 * MIB,
  sources: 2000,
  jsonDepth: 64,
  jsonValues: 200_000,
  jsonEscapes: 200_000,
  urls: 8,
  concurrency: 4,
  requests: 10_000,
  answerBytes: 32 * MIB,
  fileBytes: 32 * MIB,
  // Enough for the valid files that this many requests can deliver: a block and its link have about ten
  // fields.
  steps: 120_000,
  requestMs: 20_000,
  totalMs: 120_000,
};
