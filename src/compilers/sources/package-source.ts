import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { messageOf } from '../../errors.ts';
import { type CompilerSource, type FindResult } from '../compiler-file.ts';
import { sha256OfFile } from './file-digest.ts';
import { type CataloguedCompiler, SOLIDITY_CATALOGUE } from './solidity-catalogue.ts';

const SOLJSON = 'soljson.js';

const BY_NPM_VERSION: ReadonlyMap<string, CataloguedCompiler> = new Map(
  SOLIDITY_CATALOGUE.flatMap((entry) =>
    entry.npmVersion === undefined ? [] : [[entry.npmVersion, entry] as const],
  ),
);

/** Returns the folder of the `solc` package that this program depends on, so that one version is always available. */
export function installedSolcFolders(): readonly string[] {
  const require = createRequire(import.meta.url);
  return [path.dirname(require.resolve('solc/package.json'))];
}

/**
 * Compilers in installed npm packages of `solc`. The version of a package is not trusted (`solc@0.8.7`
 * contains 0.7.5): its file must match the catalogue's checksum for that npm version.
 */
export class PackageSource implements CompilerSource {
  readonly #folders: readonly string[];

  /** @param folders package folders, each with a package.json and a soljson.js */
  constructor(folders: readonly string[]) {
    this.#folders = folders;
  }

  async list(): Promise<readonly string[]> {
    const entries = await Promise.all(this.#folders.map((folder) => this.#entryOf(folder)));
    return entries.flatMap((entry) => (entry === undefined ? [] : [entry.longVersion]));
  }

  async find(longVersion: string): Promise<FindResult> {
    for (const folder of this.#folders) {
      const entry = await this.#entryOf(folder);
      if (entry?.longVersion === longVersion) return this.#check(folder, entry);
    }
    return undefined;
  }

  /** Returns the catalogue entry of the package in a folder; undefined if there is none. */
  async #entryOf(folder: string): Promise<CataloguedCompiler | undefined> {
    try {
      const text = await readFile(path.join(folder, 'package.json'), 'utf8');
      return BY_NPM_VERSION.get(String((JSON.parse(text) as { version?: unknown }).version));
    } catch {
      return undefined;
    }
  }

  async #check(
    folder: string,
    { longVersion, npmSha256 }: CataloguedCompiler,
  ): Promise<FindResult> {
    const file = path.join(folder, SOLJSON);
    try {
      const sha256 = await sha256OfFile(file);
      if (sha256 !== npmSha256) {
        const message = `${file} differs from the npm package: its SHA-256 is ${sha256}; install it again.`;
        return { problem: { code: 'checksum', message } };
      }
      const known = { listed: true, pinned: true, source: 'package' } as const;
      return {
        file: { compiler: 'solc', longVersion, kind: 'soljson', path: file, sha256, ...known },
      };
    } catch (error) {
      return {
        problem: { code: 'unusable', message: `${file} cannot be read: ${messageOf(error)}` },
      };
    }
  }
}
