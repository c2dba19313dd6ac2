import { constants } from 'node:fs';
import { access, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../errors.ts';
import { type CompilerSource, type FindOptions, type FindResult } from '../compiler-file.ts';
import { type CompilerList, EMPTY_LIST, LIST_NAME, parseCompilerList } from './compiler-list.ts';
import { sha256OfFile } from './file-digest.ts';
import { type NamedBuild, type Toolchain } from '../toolchains/toolchain.ts';

/** Options of a compiler folder, which the operator maintains. */
export interface DirectoryOptions {
  readonly toolchain: Toolchain;
  readonly directory: string;
}

/** Compilers in a folder: native builds for this machine, which are faster, take precedence over soljson. */
export class DirectorySource implements CompilerSource {
  readonly #options: DirectoryOptions;
  /** The list as last read; the official one has a megabyte. */
  #list: { readonly state: string; readonly value: CompilerList } | undefined;

  constructor(options: DirectoryOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly string[]> {
    const files = await this.#files();
    return [...new Set(files.map(({ longVersion }) => longVersion))];
  }

  async find(longVersion: string, { soljsonOnly = false }: FindOptions = {}): Promise<FindResult> {
    const files = (await this.#files())
      .filter((file) => file.longVersion === longVersion)
      .filter(({ kind }) => !soljsonOnly || kind === 'soljson')
      .sort((left, right) => left.kind.localeCompare(right.kind));
    if (files.length === 0) return undefined;
    const list = await this.#readList();
    let refused: FindResult;
    for (const file of files) {
      const found = await this.#check(file, list);
      if (found !== undefined && 'file' in found) return found;
      refused ??= found;
    }
    return refused;
  }

  async #files(): Promise<readonly NamedBuild[]> {
    let names: readonly string[];
    try {
      names = await readdir(this.#options.directory);
    } catch {
      // A missing folder counts as empty.
      return [];
    }
    return names
      .map((name) => this.#options.toolchain.names.readFileName(name))
      .filter((file) => file !== undefined);
  }

  async #readList(): Promise<CompilerList> {
    const file = path.join(this.#options.directory, LIST_NAME);
    try {
      const { ino, size, mtimeMs } = await stat(file);
      const state = [ino, size, mtimeMs].join(' ');
      if (this.#list?.state !== state) {
        this.#list = { state, value: parseCompilerList(await readFile(file)) };
      }
      return this.#list.value;
    } catch {
      // Without a list, only the catalogue can verify files.
      return EMPTY_LIST;
    }
  }

  async #check(
    { fileName, longVersion, kind }: NamedBuild,
    list: CompilerList,
  ): Promise<FindResult> {
    const file = path.join(this.#options.directory, fileName);
    const refuse = (code: 'checksum' | 'unlisted' | 'unusable', message: string): FindResult => ({
      problem: { code, message: `${file} ${message}` },
    });
    try {
      if (kind === 'native') await access(file, constants.X_OK);
      const sha256 = await sha256OfFile(file);
      const { compiler, catalogue } = this.#options.toolchain;
      const found = {
        ...{ compiler, longVersion, kind, path: file, sha256 },
        source: 'directory',
      } as const;
      const expected = list.byFileName.get(fileName)?.sha256;
      const inCatalogue = await catalogue.isPinned(longVersion, kind, { sha256, path: file });
      const pinned = inCatalogue === true;
      if (pinned || expected === sha256) return { file: { ...found, pinned, listed: true } };
      // A native build may be the operator's own if the operator's list contains it.
      if ((inCatalogue === false && kind === 'soljson') || expected !== undefined) {
        return refuse(
          'checksum',
          `is not what was published: its SHA-256 is ${sha256}; get it again.`,
        );
      }
      return refuse('unlisted', 'is in no list; add a list.json that lists it to the same folder.');
    } catch (error) {
      return refuse(
        'unusable',
        `cannot be ${kind === 'native' ? 'run' : 'read'}: ${messageOf(error)}`,
      );
    }
  }
}
