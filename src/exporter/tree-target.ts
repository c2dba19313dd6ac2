import { createWriteStream, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { createGzip } from 'node:zlib';
import { createTurns } from '../lib/in-turn.ts';
import { TarWriter } from '../lib/tar-writer.ts';
import type { RepositoryFile } from '../repository/repository.ts';

/** Destination of a tree: a folder or an archive. */
export interface TreeTarget {
  readonly path: string;
  /** Writes the files of a contract and replaces its folder. */
  putContract(folder: string, files: readonly RepositoryFile[]): Promise<void>;
  /** Removes a contract. */
  removeContract(folder: string): Promise<void>;
  /** Writes one file. */
  putFile(name: string, bytes: Buffer): Promise<void>;
  /** Finishes the output, which is incomplete before that. */
  end(): Promise<void>;
  /** Removes incomplete output. */
  giveUp(): Promise<void>;
}

const PARTIAL = '.partial';

/**
 * A folder that can be served while it is written: every file in it is complete, because files are renamed
 * into place. An export has its own process, so it writes synchronously: a trip through the thread pool takes
 * longer than a file.
 */
export function folderTarget(root: string): TreeTarget {
  const remove = (place: string): void => rmSync(place, { recursive: true, force: true });
  return {
    path: root,
    async putContract(folder, files) {
      const place = path.join(root, folder);
      const beside = `${place}${PARTIAL}`;
      remove(beside);
      const made = new Set<string>();
      for (const { path: name, content } of files) {
        const file = path.join(beside, name);
        const parent = path.dirname(file);
        if (!made.has(parent)) mkdirSync(parent, { recursive: true });
        made.add(parent);
        writeFileSync(file, content);
      }
      remove(place);
      renameSync(beside, place);
    },
    async removeContract(folder) {
      remove(path.join(root, folder));
    },
    async putFile(name, bytes) {
      const file = path.join(root, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(`${file}${PARTIAL}`, bytes);
      renameSync(`${file}${PARTIAL}`, file);
    },
    end: () => Promise.resolve(),
    giveUp: () => Promise.resolve(),
  };
}

/** A tar archive, gzipped if its name says so. Equal contracts give equal bytes. */
export function archiveTarget(file: string): TreeTarget {
  const beside = `${file}${PARTIAL}`;
  const out = createWriteStream(beside, { flush: true });
  const isCompressed = /\.(?:tar\.gz|tgz)$/.test(file);
  const archive = new TarWriter({ out, ...(isCompressed && { compressor: createGzip() }) });
  // Entries of an archive are written one after another.
  const inTurn = createTurns();
  return {
    path: file,
    putContract: (folder, files) =>
      inTurn(async () => {
        for (const { path: name, content } of files) {
          await archive.add(`${folder}/${name}`, Buffer.from(content));
        }
      }),
    removeContract: () => Promise.resolve(),
    putFile: (name, bytes) => inTurn(() => archive.add(name, bytes)),
    async end() {
      await archive.end();
      await rename(beside, file);
    },
    async giveUp() {
      await archive.giveUp();
      await rm(beside, { force: true });
    },
  };
}
