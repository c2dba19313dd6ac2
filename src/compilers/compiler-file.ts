/** Name of a compiler in records. */
export type CompilerName = 'solc' | 'vyper' | 'solar';

/** A verified compiler binary on disk. */
export interface CompilerFile {
  readonly compiler: CompilerName;
  /** `0.8.37+commit.f401782d` */
  readonly longVersion: string;
  /** soljson is the compiler as JavaScript or WebAssembly; native is an executable for this system. */
  readonly kind: 'soljson' | 'native';
  readonly path: string;
  /** SHA-256 of the file, lower-case hex. */
  readonly sha256: string;
  /** Only files whose checksum the catalogue or a list contains are used. Part of the JSON that commands print. */
  readonly listed: true;
  /**
   * Whether the catalogue of this program pins the checksum; otherwise it comes from a list published with
   * the file.
   */
  readonly pinned: boolean;
  /** The source that provided it. */
  readonly source: 'directory' | 'package' | 'download';
}

/** Why a source that lists a version cannot provide it. */
export interface SourceProblem {
  readonly code: 'checksum' | 'unlisted' | 'unusable' | 'unavailable';
  /** States the problem, the file and the remedy. */
  readonly message: string;
}

/** A source's result for a version: the file, the problem, or undefined if it does not have the version. */
export type FindResult =
  { readonly file: CompilerFile } | { readonly problem: SourceProblem } | undefined;

/** Restricts the search to soljson builds. By default native builds are allowed unless this machine cannot run them. */
export interface FindOptions {
  readonly soljsonOnly?: boolean;
}

/** A source of compilers. */
export interface CompilerSource {
  /** Lists the long versions that it may have, without network access. */
  list(): Promise<readonly string[]>;
  /** Finds a version by its long version and verifies its file. Problems are returned, not thrown. */
  find(longVersion: string, options?: FindOptions): Promise<FindResult>;
}

/** Progress of a download. */
export interface DownloadProgress {
  readonly longVersion: string;
  readonly receivedBytes: number;
  /** Absent if the mirror does not report it. */
  readonly totalBytes?: number;
}

const MEGABYTE = 1_000_000;

/** Formats the progress of a download: `0.8.20: downloading, 8 of 9 MB`. */
export function describeDownload({
  longVersion,
  receivedBytes,
  totalBytes,
}: DownloadProgress): string {
  const [release = ''] = longVersion.split('+');
  const received = Math.floor(receivedBytes / MEGABYTE);
  const total =
    totalBytes === undefined ? '' : ` of ${Math.max(1, Math.ceil(totalBytes / MEGABYTE))}`;
  return `${release}: downloading, ${received}${total} MB`;
}
