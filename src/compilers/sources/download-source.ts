import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FullmatchError, messageOf } from '../../errors.ts';
import { type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { isOutOfSpace } from '../../lib/system-trouble.ts';
import { type CompilerSource, type Found } from '../compiler-file.ts';
import { type CompilerList, parseCompilerList, soljsonFileName } from './compiler-list.ts';
import { sha256OfFile } from './file-digest.ts';
import { findCatalogued, matchesCatalogue } from './solidity-catalogue.ts';

/** Where compilers are downloaded from and kept. */
export interface DownloadOptions {
  /**
   * The base of a tree in the layout of the official binaries: `<base>/bin/list.json` and
   * `<base>/bin/soljson-v<long version>.js`.
   */
  readonly baseUrl: string;
  /** The folder that keeps what was downloaded. */
  readonly directory: string;
  readonly fetch: Pick<GuardedFetch, 'fetch' | 'download'>;
  /** The clock in milliseconds; given by tests. */
  readonly now?: () => number;
}

/** The largest soljson so far has 28 MB. */
const MAX_SOLJSON_BYTES = 64_000_000;
const MAX_LIST_BYTES = 16_000_000;
const DOWNLOAD_DEADLINE_MS = 300_000;
const LIST_DEADLINE_MS = 60_000;
/** New compilers appear every few weeks. */
const LIST_FRESH_MS = 3_600_000;

function unavailable(message: string): Found {
  return { problem: { code: 'unavailable', message } };
}

/**
 * Compilers that are downloaded when they are first asked for. A download goes to a file of another name, its checksum
 * is compared with the catalogue's, or the list's where the catalogue has none, and only then does it get its name.
 */
export class DownloadSource implements CompilerSource {
  readonly #options: DownloadOptions;
  readonly #base: string;
  readonly #now: () => number;
  readonly #underWay = new Map<string, Promise<Found>>();
  #list: { readonly at: number; readonly value: Promise<CompilerList> } | undefined;

  constructor(options: DownloadOptions) {
    this.#options = options;
    this.#base = `${options.baseUrl.replace(/\/+$/, '')}/bin/`;
    this.#now = options.now ?? Date.now;
  }

  /** Nothing is known about what can be downloaded without asking for the list: see {@link listPublished}. */
  list(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  /** Long versions of the published list. @throws when the list cannot be had. */
  async listPublished(): Promise<readonly string[]> {
    return [...(await this.#fetchList()).soljsonByVersion.keys()];
  }

  /** The version's file: the one that is kept, or a download of it, which all who ask at once share. */
  find(longVersion: string): Promise<Found> {
    const underWay = this.#underWay.get(longVersion);
    if (underWay !== undefined) return underWay;
    const found = this.#findKept(longVersion)
      .then((kept) => kept ?? this.#download(longVersion))
      .catch((error: unknown) => {
        if (!isOutOfSpace(error))
          return unavailable(
            `Solidity ${longVersion} could not be downloaded: ${messageOf(error)}`,
          );
        throw new FullmatchError(
          'storage_full',
          `There is no space to keep the compiler of Solidity ${longVersion}.`,
          { cause: error },
        );
      })
      .finally(() => this.#underWay.delete(longVersion));
    this.#underWay.set(longVersion, found);
    return found;
  }

  /** The file that is kept, without asking the network; undefined when there is none that is sound. */
  async findKept(longVersion: string): Promise<Found> {
    return this.#findKept(longVersion);
  }

  #pathOf(longVersion: string): string {
    return path.join(this.#options.directory, soljsonFileName(longVersion));
  }

  /** Beside a file stands its checksum, as sha256sum writes it, for versions that the catalogue does not know. */
  #checksumPathOf(longVersion: string): string {
    return `${this.#pathOf(longVersion)}.sha256`;
  }

  async #findKept(longVersion: string): Promise<Found> {
    const file = this.#pathOf(longVersion);
    try {
      const sha256 = await sha256OfFile(file);
      const sound =
        (await matchesCatalogue(longVersion, { sha256, path: file })) ??
        (await readFile(this.#checksumPathOf(longVersion), 'utf8')).startsWith(sha256);
      return sound ? this.#give(longVersion, sha256) : undefined;
    } catch {
      return undefined;
    }
  }

  #give(longVersion: string, sha256: string): Found {
    const file = this.#pathOf(longVersion);
    return {
      file: { longVersion, kind: 'soljson', path: file, sha256, listed: true, source: 'download' },
    };
  }

  async #download(longVersion: string): Promise<Found> {
    const url = this.#base + soljsonFileName(longVersion);
    const { directory, fetch } = this.#options;
    const expected = await this.#expectedSha256(longVersion);
    if (expected === undefined && findCatalogued(longVersion)?.keccak256 === undefined) {
      return undefined;
    }
    await mkdir(directory, { recursive: true });
    const file = this.#pathOf(longVersion);
    const partial = `${file}.${randomUUID()}.partial`;
    const sink = (await open(partial, 'wx')).createWriteStream();
    try {
      const { status } = await fetch.download(url, sink, {
        maxBytes: MAX_SOLJSON_BYTES,
        deadlineMs: DOWNLOAD_DEADLINE_MS,
      });
      if (status !== 200) return unavailable(`${this.#base} answers ${status} for ${longVersion}.`);
      const sha256 = await sha256OfFile(partial);
      const sound =
        expected === undefined
          ? await matchesCatalogue(longVersion, { sha256, path: partial })
          : sha256 === expected;
      if (sound !== true) {
        const message = `${this.#base} gave another file than was published for ${longVersion}: its SHA-256 is ${sha256}.`;
        return { problem: { code: 'checksum', message } };
      }
      await writeFile(this.#checksumPathOf(longVersion), `${sha256}  ${path.basename(file)}\n`);
      await rename(partial, file);
      return this.#give(longVersion, sha256);
    } finally {
      sink.destroy();
      await rm(partial, { force: true });
    }
  }

  /** The official checksum by the catalogue, else by the list; the catalogue is ours, the list comes with the file. */
  async #expectedSha256(longVersion: string): Promise<string | undefined> {
    const entry = findCatalogued(longVersion);
    if (entry?.sha256 !== undefined) return entry.sha256;
    if (entry?.keccak256 !== undefined) return undefined;
    return (await this.#fetchList()).soljsonByVersion.get(longVersion)?.sha256;
  }

  async #fetchList(): Promise<CompilerList> {
    if (this.#list !== undefined && this.#now() - this.#list.at < LIST_FRESH_MS) {
      return this.#list.value;
    }
    const value = this.#requestList();
    this.#list = { at: this.#now(), value };
    value.catch(() => {
      this.#list = undefined;
    });
    return value;
  }

  async #requestList(): Promise<CompilerList> {
    const { status, body } = await this.#options.fetch.fetch(`${this.#base}list.json`, {
      maxBytes: MAX_LIST_BYTES,
      deadlineMs: LIST_DEADLINE_MS,
    });
    if (status !== 200) throw new Error(`${this.#base}list.json answers ${status}`);
    try {
      return parseCompilerList(body);
    } catch (error) {
      throw new Error(`${this.#base}list.json is unreadable: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}
