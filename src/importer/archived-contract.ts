import { type Header } from 'tar-stream';
import type { Match } from '../repository/repository.ts';
import { type ContractFolder, type FileReader } from './contract-folder.ts';
import { parseAddressFolder, parseChainFolder } from './entry-name.ts';
import { type ImportLimits } from './import-limits.ts';
import { Refusal } from './refusal.ts';
import { type TreeEntry } from './repository-tree.ts';

/** What memory keeps of an entry beside its name and its bytes. */
const ENTRY_BYTES = 256;

/** An entry of an archive, as its bytes come. */
export interface ArchivedEntry extends AsyncIterable<Buffer> {
  readonly header: Header;
  /** Leaves its bytes out. */
  resume(): unknown;
}

/** Where an entry lies in the archived tree. */
export interface ArchivedPlace {
  readonly match: Match;
  /** The names of the chain's and the contract's folder. */
  readonly chain: string;
  readonly address: string;
  /** The contract's folder from the root of the tree. */
  readonly path: string;
  /** The names below that folder; none for the folder itself. */
  readonly below: readonly string[];
}

/**
 * A contract whose files come out of an archive, one after the other. It holds what reading it may ask for, within the same limits as a folder; a file
 * beyond them is refused when it is asked for, and a link or a special file refuses the contract, as in a folder.
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

  /** Takes one entry of the contract, with its bytes. */
  async take(below: readonly string[], entry: ArchivedEntry): Promise<void> {
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
    // A name may have megabytes, and files without bytes are held too.
    this.#bytes += ENTRY_BYTES + Buffer.byteLength(name);
    const isTooMuch =
      this.#entries > this.#limits.entriesPerContract ||
      this.#bytes > this.#limits.contractBytes ||
      below.length > this.#limits.folderDepth;
    return isTooMuch ? new Refusal('too_many_files', name) : undefined;
  }

  async #read(entry: ArchivedEntry): Promise<FileReader> {
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

  /** What the walk meets at the contract's place, when its files are there. */
  asTreeEntry(): TreeEntry {
    const { match, chain, address: name } = this.#place;
    let chainId: number | undefined;
    try {
      chainId = parseChainFolder(chain);
      const address = parseAddressFolder(name);
      const list = (): Promise<ContractFolder> =>
        this.#refusal === undefined
          ? Promise.resolve({ files: this.#files, sources: this.#sources })
          : Promise.reject(this.#refusal);
      const { path } = this;
      return {
        kind: 'contract',
        location: { match, chainId, address, path, list, heldBytes: this.#bytes },
      };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return {
        kind: 'refused',
        path: chainId === undefined ? this.path.split('/').slice(0, 2).join('/') : this.path,
        refusal: error,
        ...(chainId !== undefined && { chainId }),
      };
    }
  }
}
