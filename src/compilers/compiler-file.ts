/** A compiler, as records name it. */
export type CompilerName = 'solc' | 'vyper' | 'solar';

/** A compiler's binary on disk that may be run. */
export interface CompilerFile {
  readonly compiler: CompilerName;
  /** `0.8.37+commit.f401782d` */
  readonly longVersion: string;
  /** soljson is the compiler as JavaScript or WebAssembly; native is a program of this system. */
  readonly kind: 'soljson' | 'native';
  readonly path: string;
  /** SHA-256 of the file, lower-case hex. */
  readonly sha256: string;
  /** Whether a list names this checksum; false only for files that the operator trusts without one. */
  readonly listed: boolean;
  /** Whether the catalogue of this program pins the checksum; else it is a list's word that came with the file. */
  readonly pinned: boolean;
  /** Which source gave it. */
  readonly source: 'directory' | 'package' | 'download';
}

/** Why a source that seemed to have a version cannot give it. */
export interface SourceProblem {
  readonly code: 'checksum' | 'unlisted' | 'unusable' | 'unavailable';
  /** Says what, which and what to do. */
  readonly message: string;
}

/** What a source says when asked for a version: its file, why not, or nothing because it does not have it. */
export type Found =
  { readonly file: CompilerFile } | { readonly problem: SourceProblem } | undefined;

/** Whether a native build will do; it does unless it was found that this machine cannot run it. */
export interface FindOptions {
  readonly soljsonOnly?: boolean;
}

/** A place that compilers come from. */
export interface CompilerSource {
  /** Long versions that it may have, without going to the network. */
  list(): Promise<readonly string[]>;
  /** Finds one version by its long version, checks its file and gives it. Never rejects for what it finds. */
  find(longVersion: string, options?: FindOptions): Promise<Found>;
}

/** How far a download has come. */
export interface DownloadProgress {
  readonly longVersion: string;
  readonly receivedBytes: number;
  /** Absent where the mirror does not say it. */
  readonly totalBytes?: number;
}

const MEGABYTE = 1_000_000;

/** How far a download has come, for people: `0.8.20: downloading, 8 of 9 MB`. */
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
