import { setMaxListeners } from 'node:events';
import { type WriteStream } from 'node:fs';
import { chmod, open, statfs } from 'node:fs/promises';
import { FullmatchError, messageOf } from '../../errors.ts';
import { Admission } from '../../lib/admission.ts';
import { type FetchHead, type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { isOutOfSpace } from '../../lib/resource-shortage.ts';
import {
  type CompilerFile,
  type CompilerSource,
  type DownloadProgress,
  type FindOptions,
  type FindResult,
  type SourceProblem,
} from '../compiler-file.ts';
import { type BuildKind, type Toolchain } from '../toolchains/toolchain.ts';
import { DownloadFolder } from './download-folder.ts';
import { sha256OfFile } from './file-digest.ts';
import { PublishedLists } from './published-lists.ts';

/** Options for downloading and storing compilers. */
export interface DownloadOptions {
  /**
   * Base URL of a tree with the layout of the official binaries. Solidity's has `<base>/bin/list.json`,
   * `<base>/bin/soljson-v<long version>.js` and `<base>/linux-amd64/`; Vyper's
   * `<base>/v0.3.10/vyper.0.3.10+commit.91361694.linux`.
   */
  readonly baseUrl: string;
  /** Folder for downloads, used for nothing else. */
  readonly directory: string;
  readonly fetch: Pick<GuardedFetch, 'fetch' | 'download'>;
  /** Size limit of all downloads in bytes; the least recently used are removed first. Default 2 GB. */
  readonly maxBytes?: number;
  /** Whether to download native builds if this machine can run them. Default true. */
  readonly native?: boolean;
  /** Clock in milliseconds, for tests. */
  readonly now?: () => number;
}

/** The largest binary so far is 28 MB. */
const MAX_BINARY_BYTES = 64_000_000;
const DEFAULT_MAX_BYTES = 2_000_000_000;
const DOWNLOAD_DEADLINE_MS = 300_000;
/** Concurrent downloads: more would only share the bandwidth, and each may exceed the disk limit by one file. */
const DOWNLOADS_AT_ONCE = 2;
/** How long a failed download is not retried: all waiting requests get the error, and none restarts it. */
const FAILURE_REST_MS = 15_000;
const FREE_BYTES_LEAST = 2 * MAX_BINARY_BYTES;

/** A download in progress. */
interface UnderWay {
  readonly found: Promise<FindResult>;
  progress: () => DownloadProgress;
}

function problem(code: SourceProblem['code'], message: string): FindResult {
  return { problem: { code, message } };
}

/**
 * Downloads compilers on first use. The file is downloaded to a temporary name, and renamed only after its
 * checksum matches the catalogue's, or the list's if the catalogue has none.
 */
export class DownloadSource implements CompilerSource {
  readonly #options: DownloadOptions;
  readonly #toolchain: Toolchain;
  readonly #base: string;
  readonly #folder: DownloadFolder;
  readonly #lists: PublishedLists;
  readonly #now: () => number;
  readonly #turns = new Admission({ total: DOWNLOADS_AT_ONCE, waiting: Infinity });
  readonly #underWay = new Map<string, UnderWay>();
  readonly #closing = new AbortController();
  readonly #failed = new Map<string, { readonly at: number; readonly found: FindResult }>();

  constructor(options: DownloadOptions, toolchain: Toolchain) {
    this.#options = options;
    this.#toolchain = toolchain;
    this.#base = options.baseUrl.replace(/\/+$/, '');
    this.#now = options.now ?? Date.now;
    const { directory, maxBytes = DEFAULT_MAX_BYTES } = options;
    this.#folder = new DownloadFolder(directory, maxBytes, this.#now);
    const { fetch } = options;
    const { signal } = this.#closing;
    // One for each waiting download.
    setMaxListeners(0, signal);
    this.#lists = new PublishedLists(this.#base, toolchain.names, fetch, this.#now, signal);
  }

  /** Lists the downloaded versions; those available for download are in {@link listPublished}. */
  async list(): Promise<readonly string[]> {
    const names = await this.#folder.names();
    return [
      ...new Set(names.flatMap((name) => this.#names.readBuildName(name)?.longVersion ?? [])),
    ];
  }

  /**
   * Lists the long versions of the published list.
   * @throws if the list is not available.
   */
  listPublished(): Promise<readonly string[]> {
    return this.#lists.readVersions();
  }

  /** Lists the same from the last read list, without network access. */
  listKnownPublished(): readonly string[] {
    return this.#lists.releases;
  }

  /** Lists the downloads in progress. */
  underWay(): readonly DownloadProgress[] {
    return [...this.#underWay.values()].map(({ progress }) => progress());
  }

  /** Returns the download progress of a version; undefined if it is not being downloaded. */
  progressOf(longVersion: string): DownloadProgress | undefined {
    return this.underWay().find((progress) => progress.longVersion === longVersion);
  }

  /** Returns the file of a version: the stored one, or a download shared by concurrent calls. */
  async find(longVersion: string, { soljsonOnly = false }: FindOptions = {}): Promise<FindResult> {
    // A stored file is used even if a faster build could be downloaded.
    const kept = await this.findKept(longVersion, { soljsonOnly });
    if (kept !== undefined) return kept;
    let refused: FindResult;
    for (const kind of this.#kindsOf(longVersion, soljsonOnly)) {
      const found = await this.#share(longVersion, kind);
      if (found !== undefined && 'file' in found) return found;
      refused = found ?? refused;
    }
    return refused;
  }

  /** Returns the stored file without network access; undefined if there is no valid one. */
  async findKept(
    longVersion: string,
    { soljsonOnly = false }: FindOptions = {},
  ): Promise<FindResult> {
    for (const kind of this.#kindsOf(longVersion, soljsonOnly)) {
      const found = await this.#findKeptBuild(longVersion, kind);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Aborts all downloads and starts no more; resolves when no file is open. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the service is shutting down'));
    await Promise.allSettled([...this.#underWay.values()].map(({ found }) => found));
  }

  get #names(): Toolchain['names'] {
    return this.#toolchain.names;
  }

  #kindsOf(longVersion: string, soljsonOnly: boolean): readonly BuildKind[] {
    const native = !soljsonOnly && this.#options.native !== false;
    return this.#names.kindsOf(longVersion, { native });
  }

  async #findKeptBuild(longVersion: string, kind: BuildKind): Promise<FindResult> {
    const name = this.#names.fileNameOf(longVersion, kind);
    const kept = await this.#folder.read(name);
    if (kept === undefined) return undefined;
    const { sha256, written } = kept;
    const pinned = await this.#toolchain.catalogue.isPinned(longVersion, kind, {
      sha256,
      path: this.#folder.pathOf(name),
    });
    // A pinned build must match the catalogue; any other must match the checksum recorded with it.
    if (!(pinned ?? sha256 === written)) return undefined;
    await this.#folder.use(name);
    return this.#give(longVersion, kind, sha256, pinned === true);
  }

  #give(longVersion: string, kind: BuildKind, sha256: string, pinned: boolean): FindResult {
    const path = this.#folder.pathOf(this.#names.fileNameOf(longVersion, kind));
    const file: CompilerFile = {
      compiler: this.#toolchain.compiler,
      ...{ longVersion, kind, path, sha256, pinned },
      listed: true,
      source: 'download',
    };
    return { file };
  }

  #share(longVersion: string, kind: BuildKind): Promise<FindResult> {
    const key = this.#names.fileNameOf(longVersion, kind);
    const failed = this.#failed.get(key);
    if (failed !== undefined && this.#now() - failed.at < FAILURE_REST_MS) {
      return Promise.resolve(failed.found);
    }
    const shared = this.#underWay.get(key);
    if (shared !== undefined) return shared.found;
    const found = this.#obtain(longVersion, kind)
      .then((each) => {
        if (each !== undefined && 'file' in each) this.#failed.delete(key);
        else this.#failed.set(key, { at: this.#now(), found: each });
        return each;
      })
      .finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, { found, progress: () => ({ longVersion, receivedBytes: 0 }) });
    return found;
  }

  async #obtain(longVersion: string, kind: BuildKind): Promise<FindResult> {
    const name = this.#names.fileNameOf(longVersion, kind);
    const { label } = this.#toolchain;
    try {
      const expected = await this.#expectedSha256(longVersion, kind);
      if (expected === undefined && !this.#toolchain.catalogue.pins(longVersion, kind))
        return undefined;
      const closing = this.#closing.signal;
      const fetched = (): Promise<FindResult> =>
        this.#folder.exclusively(
          name,
          () => this.#download(longVersion, kind, expected),
          (receivedBytes) => this.#follow(name, () => ({ longVersion, receivedBytes })),
          closing,
        );
      const fetchInTurn = (): Promise<FindResult> => this.#turns.run(this.#base, fetched, closing);
      return (
        (await fetchInTurn()) ??
        // Another process has stored the file, or failed.
        (await this.#findKeptBuild(longVersion, kind)) ??
        (await fetchInTurn()) ??
        problem('unavailable', `${label} ${longVersion} is being downloaded by another process.`)
      );
    } catch (error) {
      if (!isOutOfSpace(error)) {
        const message = `${label} ${longVersion} could not be downloaded: ${messageOf(error)}`;
        return problem('unavailable', message);
      }
      throw new FullmatchError(
        'storage_full',
        `There is no space to store the compiler for ${label} ${longVersion}.`,
        { cause: error },
      );
    }
  }

  #follow(name: string, progress: () => DownloadProgress): void {
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) underWay.progress = progress;
  }

  async #download(
    longVersion: string,
    kind: BuildKind,
    expected: string | undefined,
  ): Promise<FindResult> {
    const name = this.#names.fileNameOf(longVersion, kind);
    const partial = this.#folder.partialOf(name);
    const url = `${this.#base}/${this.#names.pathOf(longVersion, kind)}`;
    await this.#requireSpace();
    this.#closing.signal.throwIfAborted();
    // Opened before anything can fail: otherwise the file could be created after it was discarded.
    const file = await open(partial, 'w');
    const sink = file.createWriteStream();
    let totalBytes: number | undefined;
    this.#follow(name, () => ({
      longVersion,
      receivedBytes: sink.bytesWritten,
      ...(totalBytes !== undefined && { totalBytes }),
    }));
    try {
      const { status } = await this.#options.fetch.download(url, sink, {
        maxBytes: MAX_BINARY_BYTES,
        deadlineMs: DOWNLOAD_DEADLINE_MS,
        signal: this.#closing.signal,
        onHead: (head) => (totalBytes = lengthOf(head)),
      });
      if (status === 404) return undefined;
      if (status !== 200) {
        return problem('unavailable', `${this.#base} answers ${status} for ${longVersion}.`);
      }
      const sha256 = await sha256OfFile(partial);
      const pinned = await this.#toolchain.catalogue.isPinned(longVersion, kind, {
        sha256,
        path: partial,
      });
      if (!(pinned ?? sha256 === expected)) {
        const message = `${this.#base} returned a file that differs from the one published for ${longVersion}: its SHA-256 is ${sha256}.`;
        return problem('checksum', message);
      }
      if (kind === 'native') await chmod(partial, 0o755);
      await this.#folder.keep(name, sha256);
      return this.#give(longVersion, kind, sha256, pinned === true);
    } finally {
      await closed(sink);
      await this.#folder.discard(name);
    }
  }

  /** A nearly full disk is left to the database. */
  async #requireSpace(): Promise<void> {
    const { bavail, bsize } = await statfs(this.#options.directory);
    if (bavail * bsize > FREE_BYTES_LEAST) return;
    throw Object.assign(new Error('the disk is nearly full'), { code: 'ENOSPC' });
  }

  /**
   * Returns the official checksum from the catalogue, otherwise from the list. The catalogue is trusted; the
   * list comes from the same server as the file.
   */
  async #expectedSha256(longVersion: string, kind: BuildKind): Promise<string | undefined> {
    const { catalogue } = this.#toolchain;
    const catalogued = catalogue.sha256Of(longVersion, kind);
    if (catalogued !== undefined) return catalogued;
    if (catalogue.pins(longVersion, kind)) return undefined;
    return (await this.#lists.read(kind)).byFileName.get(this.#names.fileNameOf(longVersion, kind))
      ?.sha256;
  }
}

/** Closes the file of a stream. A failed stream has already reported its error. */
async function closed(sink: WriteStream): Promise<void> {
  sink.destroy();
  if (!sink.closed) await new Promise<void>((resolve) => sink.once('close', resolve));
}

/** Returns the length of the file, if the response states it; a compressed response only states its own length. */
function lengthOf({ headers }: FetchHead): number | undefined {
  const { 'content-length': length = '', 'content-encoding': coding } = headers;
  return coding === undefined && /^\d{1,12}$/.test(length) ? Number(length) : undefined;
}
