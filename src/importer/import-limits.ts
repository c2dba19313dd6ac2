/** What one entry of a tree may cost; larger entries are refused. Real contracts stay far below. */
export interface ImportLimits {
  /** Largest metadata.json or path-translation.json. */
  readonly metadataBytes: number;
  /** Largest single source. */
  readonly sourceBytes: number;
  /** Largest constructor-args.txt, creator-tx-hash.txt, library-map.json or immutable-references.json. */
  readonly factBytes: number;
  /** All that is read for one contract. */
  readonly contractBytes: number;
  /** Sources that metadata.json lists; the command takes what a request to verify may send, `limits.sources`. */
  readonly sources: number;
  /** Files and folders below `sources`, counted together. */
  readonly entriesPerContract: number;
  /** Folders within folders below `sources`. */
  readonly folderDepth: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_IMPORT_LIMITS: ImportLimits = {
  metadataBytes: 16 * MIB,
  sourceBytes: 8 * MIB,
  factBytes: MIB,
  contractBytes: 32 * MIB,
  sources: 2000,
  entriesPerContract: 10_000,
  folderDepth: 100,
};
