import { type WriteStream } from 'node:fs';
import { chmod, open, statfs } from 'node:fs/promises';
import { FullmatchError, messageOf } from '../../errors.ts';
import { type FetchHead, type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { isOutOfSpace } from '../../lib/system-trouble.ts';
import {
  type CompilerFile,
  type CompilerSource,
  type DownloadProgress,
  type FindOptions,
  type Found,
  type SourceProblem,
} from '../compiler-file.ts';
import { WorkQueue } from '../work-queue.ts';
import { type BuildKind, type Toolchain } from '../toolchains/toolchain.ts';
import { DownloadFolder } from './download-folder.ts';
import { sha256OfFile } from './file-digest.ts';
import { PublishedLists } from './published-lists.ts';

/** Where compilers are downloaded from and kept. */
export interface DownloadOptions {
  /**
   * The base of a tree in the layout of the official binaries. Solidity's has `<base>/bin/list.json` and
   * `<base>/bin/soljson-v<long version>.js`, `<base>/linux-amd64/…` beside them; Vyper's
   * `<base>/v0.3.10/vyper.0.3.10+commit.91361694.linux`.
   */
  readonly baseUrl: string;
  /** The folder that keeps what was downloaded, and nothing else. */
  readonly directory: string;
  readonly fetch: Pick<GuardedFetch, 'fetch' | 'download'>;
  /** Bytes that all downloads may take together; what was used longest ago goes first. Default 2 GB. */
  readonly maxBytes?: number;
  /** Whether native builds are asked for, where this machine could run them. Default true. */
  readonly native?: boolean;
  /** The clock in milliseconds; given by tests. */
  readonly now?: () => number;
}

/** The largest binary so far has 28 MB. */
const MAX_BINARY_BYTES = 64_000_000;
const DEFAULT_MAX_BYTES = 2_000_000_000;
const DOWNLOAD_DEADLINE_MS = 300_000;
/** Downloads at once: more would only share the line, and each may take a file's worth of disk above the bound. */
const DOWNLOADS_AT_ONCE = 2;
/** How long a download that failed is not tried again: all who waited for it are told, and none of them starts it anew. */
const FAILURE_REST_MS = 15_000;
const FREE_BYTES_LEAST = 2 * MAX_BINARY_BYTES;

/** A download that is under way. */
interface UnderWay {
  readonly found: Promise<Found>;
  progress: () => DownloadProgress;
}

function problem(code: SourceProblem['code'], message: string): Found {
  return { problem: { code, message } };
}

/**
 * Compilers that are downloaded when they are first asked for. A download goes to a file of another name, its checksum
 * is compared with the catalogue's, or the list's where the catalogue has none, and only then does it get its name.
 */
export class DownloadSource implements CompilerSource {
  readonly #options: DownloadOptions;
  readonly #toolchain: Toolchain;
  readonly #base: string;
  readonly #folder: DownloadFolder;
  readonly #lists: PublishedLists;
  readonly #now: () => number;
  readonly #turns = new WorkQueue(DOWNLOADS_AT_ONCE);
  readonly #underWay = new Map<string, UnderWay>();
  readonly #closing = new AbortController();
  readonly #failed = new Map<string, { readonly at: number; readonly found: Found }>();

  constructor(options: DownloadOptions, toolchain: Toolchain) {
    this.#options = options;
    this.#toolchain = toolchain;
    this.#base = options.baseUrl.replace(/\/+$/, '');
    this.#now = options.now ?? Date.now;
    const { directory, maxBytes = DEFAULT_MAX_BYTES } = options;
    this.#folder = new DownloadFolder(directory, maxBytes, this.#now);
    const { fetch } = options;
    const { signal } = this.#closing;
    this.#lists = new PublishedLists(this.#base, toolchain.names, fetch, this.#now, signal);
  }

  /** The versions that were downloaded; what can be is not known without the list: see {@link listPublished}. */
  async list(): Promise<readonly string[]> {
    const names = await this.#folder.names();
    return [
      ...new Set(names.flatMap((name) => this.#names.readBuildName(name)?.longVersion ?? [])),
    ];
  }

  /** Long versions of the published list. @throws when the list cannot be had. */
  listPublished(): Promise<readonly string[]> {
    return this.#lists.readVersions();
  }

  /** The same as far as the list was read before; nothing is asked of the network. */
  listKnownPublished(): readonly string[] {
    return this.#lists.releases;
  }

  /** The downloads that are under way. */
  underWay(): readonly DownloadProgress[] {
    return [...this.#underWay.values()].map(({ progress }) => progress());
  }

  /** How far the download of a version has come; undefined where none is under way. */
  progressOf(longVersion: string): DownloadProgress | undefined {
    return this.underWay().find((progress) => progress.longVersion === longVersion);
  }

  /** The version's file: the one that is kept, or a download of it, which all who ask at once share. */
  async find(longVersion: string, { soljsonOnly = false }: FindOptions = {}): Promise<Found> {
    // What is here is used, also where a faster build might be had.
    const kept = await this.findKept(longVersion, { soljsonOnly });
    if (kept !== undefined) return kept;
    let refused: Found;
    for (const kind of this.#kindsOf(longVersion, soljsonOnly)) {
      const found = await this.#share(longVersion, kind);
      if (found !== undefined && 'file' in found) return found;
      refused = found ?? refused;
    }
    return refused;
  }

  /** The file that is kept, without asking the network; undefined when there is none that is sound. */
  async findKept(longVersion: string, { soljsonOnly = false }: FindOptions = {}): Promise<Found> {
    for (const kind of this.#kindsOf(longVersion, soljsonOnly)) {
      const found = await this.#findKeptBuild(longVersion, kind);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Ends the downloads under way and begins no more; resolves when none holds a file any more. */
  async close(): Promise<void> {
    const reason = new Error('the service is shutting down');
    this.#closing.abort(reason);
    this.#turns.close(reason);
    await Promise.allSettled([...this.#underWay.values()].map(({ found }) => found));
  }

  get #names(): Toolchain['names'] {
    return this.#toolchain.names;
  }

  #kindsOf(longVersion: string, soljsonOnly: boolean): readonly BuildKind[] {
    const native = !soljsonOnly && this.#options.native !== false;
    return this.#names.kindsOf(longVersion, { native });
  }

  async #findKeptBuild(longVersion: string, kind: BuildKind): Promise<Found> {
    const name = this.#names.fileNameOf(longVersion, kind);
    const kept = await this.#folder.read(name);
    if (kept === undefined) return undefined;
    const { sha256, written } = kept;
    const pinned = await this.#toolchain.catalogue.isPinned(longVersion, kind, {
      sha256,
      path: this.#folder.pathOf(name),
    });
    // What the catalogue pins must be that; what it does not know must be what was taken in.
    if (!(pinned ?? sha256 === written)) return undefined;
    await this.#folder.use(name);
    return this.#give(longVersion, kind, sha256, pinned === true);
  }

  #give(longVersion: string, kind: BuildKind, sha256: string, pinned: boolean): Found {
    const path = this.#folder.pathOf(this.#names.fileNameOf(longVersion, kind));
    const file: CompilerFile = {
      compiler: this.#toolchain.compiler,
      ...{ longVersion, kind, path, sha256, pinned },
      listed: true,
      source: 'download',
    };
    return { file };
  }

  #share(longVersion: string, kind: BuildKind): Promise<Found> {
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

  async #obtain(longVersion: string, kind: BuildKind): Promise<Found> {
    const name = this.#names.fileNameOf(longVersion, kind);
    const { label } = this.#toolchain;
    try {
      const expected = await this.#expectedSha256(longVersion, kind);
      if (expected === undefined && !this.#toolchain.catalogue.pins(longVersion, kind))
        return undefined;
      const fetched = (): Promise<Found> =>
        this.#folder.exclusively(
          name,
          () => this.#download(longVersion, kind, expected),
          (receivedBytes) => this.#follow(name, () => ({ longVersion, receivedBytes })),
          this.#closing.signal,
        );
      return (
        (await this.#turns.run(fetched)) ??
        // Another process has brought it, or has given up.
        (await this.#findKeptBuild(longVersion, kind)) ??
        (await this.#turns.run(fetched)) ??
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
  ): Promise<Found> {
    const name = this.#names.fileNameOf(longVersion, kind);
    const partial = this.#folder.partialOf(name);
    const url = `${this.#base}/${this.#names.pathOf(longVersion, kind)}`;
    await this.#requireSpace();
    this.#closing.signal.throwIfAborted();
    // Opened before anything can fail: a file that is still being opened appears after it was discarded.
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

  /** A disk that is nearly full is left to the database. */
  async #requireSpace(): Promise<void> {
    const { bavail, bsize } = await statfs(this.#options.directory);
    if (bavail * bsize > FREE_BYTES_LEAST) return;
    throw Object.assign(new Error('the disk is nearly full'), { code: 'ENOSPC' });
  }

  /** The official checksum by the catalogue, else by the list; the catalogue is ours, the list comes with the file. */
  async #expectedSha256(longVersion: string, kind: BuildKind): Promise<string | undefined> {
    const { catalogue } = this.#toolchain;
    const catalogued = catalogue.sha256Of(longVersion, kind);
    if (catalogued !== undefined) return catalogued;
    if (catalogue.pins(longVersion, kind)) return undefined;
    return (await this.#lists.read(kind)).byFileName.get(this.#names.fileNameOf(longVersion, kind))
      ?.sha256;
  }
}

/** A stream that failed has thrown its error where it was written to; here only its file is let go of. */
async function closed(sink: WriteStream): Promise<void> {
  sink.destroy();
  if (!sink.closed) await new Promise<void>((resolve) => sink.once('close', resolve));
}

/** The length of the file, where the answer says it; of a compressed answer only its own is known. */
function lengthOf({ headers }: FetchHead): number | undefined {
  const { 'content-length': length = '', 'content-encoding': coding } = headers;
  return coding === undefined && /^\d{1,12}$/.test(length) ? Number(length) : undefined;
}
