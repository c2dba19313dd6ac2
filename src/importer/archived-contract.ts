import { type Header } from 'tar-stream';
import { type TarEntry } from '../lib/read-tar.ts';
import type { Match } from '../repository/repository.ts';
import { type ContractFolder, type FileReader } from './contract-folder.ts';
import { type ImportLimits } from './import-limits.ts';
import { Refusal } from './refusal.ts';
import { toTreeEntry, type TreeEntry } from './repository-tree.ts';

/** Memory overhead of an entry in addition to its name and bytes. */
const ENTRY_BYTES = 256;

/** Position of an entry in the archived tree. */
export interface ArchivedPlace {
  readonly match: Match;
  /** Names of the chain folder and the contract folder. */
  readonly chain: string;
  readonly address: string;
  /** Path of the contract folder from the root of the tree. */
  readonly path: string;
  /** Path segments below that folder; empty for the folder itself. */
  readonly below: readonly string[];
}

/**
 * A contract whose files are read from an archive in sequence. It holds the files that reading the contract
 * may need, within the limits of a folder. A file beyond those limits is refused when it is read; a link or
 * special file refuses the contract, as in a folder.
 */
export class ArchivedContract {
  readonly path: string;
  readonly #place: ArchivedPlace;
  readonly #limits: ImportLimits;
  readonly #files = new Map<string, FileReader>();
  readonly #sources = new Map<string, FileReader>();
  #entries = 0;
  #bytes = 0;
  #refusal: Refusal | undefined;

  constructor(place: ArchivedPlace, limits: ImportLimits) {
    this.path = place.path;
    this.#place = place;
    this.#limits = limits;
  }

  /** Adds an entry of the contract and its bytes. */
  async take(below: readonly string[], entry: TarEntry): Promise<void> {
    const { type } = entry.header;
    const [first, ...more] = below;
    const name = below.join('/');
    const isSource = first === 'sources' && more.length > 0;
    if (type === 'directory' || (more.length > 0 && !isSource)) {
      entry.resume();
      return;
    }
    this.#refusal ??= this.#refusalOf(below, type);
    if (this.#refusal !== undefined) {
      entry.resume();
      return;
    }
    const reader = await this.#read(entry);
    if (isSource) this.#sources.set(more.join('/'), reader);
    else this.#files.set(name, reader);
  }

  #refusalOf(below: readonly string[], type: Header['type']): Refusal | undefined {
    const name = below.join('/');
    if (type === 'symlink' || type === 'link') return new Refusal('symlink', name);
    if (below.length === 0) return new Refusal('not_a_folder', this.#place.address);
    if (type !== 'file' && type !== 'contiguous-file') return new Refusal('special_file', name);
    this.#entries += 1;
    // Names can be megabytes long, and empty files are held too.
    this.#bytes += ENTRY_BYTES + Buffer.byteLength(name);
    const isTooMuch =
      this.#entries > this.#limits.entriesPerContract ||
      this.#bytes > this.#limits.contractBytes ||
      below.length > this.#limits.folderDepth;
    return isTooMuch ? new Refusal('too_many_files', name) : undefined;
  }

  async #read(entry: TarEntry): Promise<FileReader> {
    const { size } = entry.header;
    const { metadataBytes, sourceBytes, contractBytes } = this.#limits;
    if (size > Math.max(metadataBytes, sourceBytes) || this.#bytes + size > contractBytes) {
      entry.resume();
      return (subject) => Promise.reject(new Refusal('file_too_large', subject));
    }
    this.#bytes += size;
    const parts: Buffer[] = [];
    for await (const part of entry) parts.push(part);
    const content = Buffer.concat(parts);
    return (subject, maxBytes) => {
      if (content.length <= maxBytes) return Promise.resolve(content);
      const more = `larger than the limit of ${maxBytes} bytes`;
      return Promise.reject(new Refusal('file_too_large', subject, more));
    };
  }

  /** The walk's entry for this contract, once all of its files are here. */
  asTreeEntry(): TreeEntry {
    const { match, chain, address } = this.#place;
    const list = (): Promise<ContractFolder> =>
      this.#refusal === undefined
        ? Promise.resolve({ files: this.#files, sources: this.#sources })
        : Promise.reject(this.#refusal);
    const entry = toTreeEntry(this.path, [chain, address], (place) => {
      return { ...place, match, list, heldBytes: this.#bytes };
    });
    const isInvalidChain = entry.kind === 'refused' && entry.chainId === undefined;
    return isInvalidChain ? { ...entry, path: this.path.split('/').slice(0, 2).join('/') } : entry;
  }
}
