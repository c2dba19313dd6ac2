import { membersOf } from '../lib/members.ts';
import { cacheSourceHash, type Source } from '../repository/repository.ts';
import { type ContentHasher, type ContentHashes } from './content-hash.ts';
import { type ContractFolder } from './contract-folder.ts';
import { type ImportLimits } from './import-limits.ts';
import { decodeText, type HashedSource } from './parse-metadata.ts';
import { Refusal, toRefusal } from './refusal.ts';

const TRANSLATION_FILE = 'path-translation.json';

/** Returns whether a path is relative and stays within its folder. */
function staysInside(path: string): boolean {
  return !path.startsWith('/') && !path.split(/[/\\]/).includes('..') && !/^[A-Za-z]:/.test(path);
}

/** Counts the bytes read for one contract. */
export class ReadBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** @throws Refusal `file_too_large` if the contract's files exceed the limit together. */
  take(bytes: number, subject: string): void {
    this.#left -= bytes;
    if (this.#left < 0) {
      throw new Refusal(
        'file_too_large',
        subject,
        'the files of the contract together exceed the limit',
      );
    }
  }
}

interface HashedBytes extends ContentHashes {
  readonly bytes: Buffer;
}

/**
 * Finds the sources that the metadata lists. A source's name is data and never becomes a path: it is looked
 * up among the listed files of `sources` by path-translation.json, unchanged, with `@` and `:` replaced by
 * `_` (layout V1), or by its hash (layout V2). If none matches, any file with the expected hash or the
 * content in the metadata is the source, because its hash identifies it. A file found by name must have the
 * expected hash.
 * @throws Refusal `missing_source`, `wrong_source_hash`, `path_outside_tree`, and those of reading and
 * decoding a file
 */
export class SourceFinder {
  readonly #folder: ContractFolder;
  readonly #limits: ImportLimits;
  readonly #budget: ReadBudget;
  readonly #hasher: ContentHasher;
  readonly #contents = new Map<string, HashedBytes>();

  constructor(
    folder: ContractFolder,
    limits: ImportLimits,
    budget: ReadBudget,
    hasher: ContentHasher,
  ) {
    this.#folder = folder;
    this.#limits = limits;
    this.#budget = budget;
    this.#hasher = hasher;
  }

  async find(listed: readonly HashedSource[]): Promise<Source[]> {
    const translation = await this.#readTranslation();
    const sources: Source[] = [];
    for (const source of listed) {
      const { bytes, sha256 } = await this.#find(source, translation);
      const found = { path: source.path, content: decodeText(bytes, `source ${source.path}`) };
      cacheSourceHash(found, sha256);
      sources.push(found);
    }
    return sources;
  }

  async #find(
    source: HashedSource,
    translation: ReadonlyMap<string, string>,
  ): Promise<HashedBytes> {
    const subject = `source ${source.path}`;
    const stored = this.#storedName(source, translation);
    if (stored !== undefined) {
      const read = await this.#read(stored);
      if (read.keccak256 !== source.keccak256) throw new Refusal('wrong_source_hash', subject);
      return read;
    }
    const found = this.#ownCopy(source) ?? (await this.#findByHash(source.keccak256));
    if (found !== undefined) return found;
    throw new Refusal(staysInside(source.path) ? 'missing_source' : 'path_outside_tree', subject);
  }

  /** The stored file that the source's name or hash refers to. */
  #storedName(
    { path, keccak256 }: HashedSource,
    translation: ReadonlyMap<string, string>,
  ): string | undefined {
    const names = [
      translation.get(path),
      path,
      path.replace(/[@:]/g, '_'),
      keccak256,
      keccak256.slice(2),
    ];
    return names.find((name) => name !== undefined && this.#folder.sources.has(name));
  }

  #ownCopy({ path, content, keccak256 }: HashedSource): HashedBytes | undefined {
    if (content === undefined) return undefined;
    const bytes = Buffer.from(content, 'utf8');
    const hashes = this.#hasher.hash(bytes);
    if (hashes.keccak256 === keccak256) return { bytes, ...hashes };
    throw new Refusal('wrong_source_hash', `source ${path}`);
  }

  async #findByHash(wanted: string): Promise<HashedBytes | undefined> {
    for (const name of this.#folder.sources.keys()) {
      const read = await this.#read(name);
      if (read.keccak256 === wanted) return read;
    }
    return undefined;
  }

  async #read(name: string): Promise<HashedBytes> {
    const known = this.#contents.get(name);
    if (known !== undefined) return known;
    const read = this.#folder.sources.get(name);
    if (read === undefined) throw new Refusal('missing_source', name);
    const bytes = await read(`sources/${name}`, this.#limits.sourceBytes);
    this.#budget.take(bytes.length, `sources/${name}`);
    const content = { bytes, ...this.#hasher.hash(bytes) };
    this.#contents.set(name, content);
    return content;
  }

  /**
   * Reads path-translation.json of layout V1: `{original: stored}`. A path that leaves the folder refuses the
   * contract.
   */
  async #readTranslation(): Promise<Map<string, string>> {
    const read = this.#folder.files.get(TRANSLATION_FILE);
    if (read === undefined) return new Map();
    const bytes = await read(TRANSLATION_FILE, this.#limits.metadataBytes);
    this.#budget.take(bytes.length, TRANSLATION_FILE);
    const translation = new Map<string, string>();
    for (const [original, stored] of Object.entries(parseTranslation(bytes))) {
      if (typeof stored !== 'string') continue;
      if (!staysInside(stored))
        throw new Refusal('path_outside_tree', `${TRANSLATION_FILE}: ${stored}`);
      translation.set(original, stored);
    }
    return translation;
  }
}

/** Invalid JSON is ignored; the sources may be found without it. */
function parseTranslation(bytes: Buffer): object {
  try {
    return membersOf(JSON.parse(bytes.toString('utf8')));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw toRefusal(error, TRANSLATION_FILE);
  }
}
