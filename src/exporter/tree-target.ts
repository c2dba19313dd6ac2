import { createWriteStream, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { createTurns } from '../lib/in-turn.ts';
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
  const archive = pack();
  const beside = `${file}${PARTIAL}`;
  const out = createWriteStream(beside, { flush: true });
  const written = /\.(?:tar\.gz|tgz)$/.test(file)
    ? pipeline(archive, createGzip(), out)
    : pipeline(archive, out);
  // Received by end().
  written.catch(() => undefined);
  const add = async (name: string, content: Buffer): Promise<void> => {
    // A failed pipeline destroys the archive; this throws its error.
    if (archive.destroying) await written;
    // The callback also receives the error if the archive is destroyed meanwhile.
    await new Promise<void>((resolve, reject) => {
      const header = { name, size: content.length, mtime: new Date(0) };
      const entry = archive.entry(header, content, (error) => {
        if (error) reject(error);
        else resolve();
      });
      // Without a listener the error would end the process.
      entry.on('error', () => undefined);
    });
  };
  // Entries of an archive are written one after another.
  const inTurn = createTurns();
  return {
    path: file,
    putContract: (folder, files) =>
      inTurn(async () => {
        for (const { path: name, content } of files) {
          await add(`${folder}/${name}`, Buffer.from(content));
        }
      }),
    removeContract: () => Promise.resolve(),
    putFile: (name, bytes) => inTurn(() => add(name, bytes)),
    async end() {
      archive.finalize();
      await written;
      await rename(beside, file);
    },
    async giveUp() {
      archive.destroy();
      await written.catch(() => undefined);
      await rm(beside, { force: true });
    },
  };
}
