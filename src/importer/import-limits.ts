/** Limits of one tree entry; larger entries are refused. Real contracts stay far below. */
export interface ImportLimits {
  /** Maximum size of metadata.json and path-translation.json. */
  readonly metadataBytes: number;
  /** Maximum size of a source. */
  readonly sourceBytes: number;
  /** Maximum size of constructor-args.txt, creator-tx-hash.txt, library-map.json and immutable-references.json. */
  readonly factBytes: number;
  /** Maximum bytes read for one contract. */
  readonly contractBytes: number;
  /** Maximum sources in metadata.json; the command uses `limits.sources`, the limit of a verification request. */
  readonly sources: number;
  /** Maximum files and folders below `sources` together. */
  readonly entriesPerContract: number;
  /** Maximum folder depth below `sources`. */
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
