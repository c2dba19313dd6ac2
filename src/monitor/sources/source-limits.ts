/** What looking for the sources of one contract may cost. Bytes are bytes of content or of answers, times milliseconds. */
export interface SourceLimits {
  /** Largest metadata document. */
  readonly metadataBytes: number;
  /** Text of all sources of a contract, one that is listed under two paths counted twice. */
  readonly sourceBytes: number;
  /** Sources that a metadata document may list. */
  readonly sources: number;
  /** Levels, values and escapes of a metadata document. */
  readonly jsonDepth: number;
  readonly jsonValues: number;
  readonly jsonEscapes: number;
  /** URLs of one source that are tried. */
  readonly urls: number;
  /** Sources that are fetched at once. */
  readonly concurrency: number;
  /** Requests to gateways, and bytes of their answers, for one contract. */
  readonly requests: number;
  readonly answerBytes: number;
  /** Bytes of files of IPFS, for one contract: a block may be in many. */
  readonly fileBytes: number;
  /** Fields of blocks that are read, and visits of blocks, for one contract: what reading files of IPFS costs. */
  readonly steps: number;
  /** How long one answer may take, and the whole. */
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
  // As many as so many requests bring of honest files: a block and its link have about ten fields.
  steps: 120_000,
  requestMs: 20_000,
  totalMs: 120_000,
};
