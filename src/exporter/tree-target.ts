import { createWriteStream, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { once } from 'node:events';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import type { RepositoryFile } from '../repository/repository.ts';

/** Where a tree is written: a folder, or an archive. */
export interface TreeTarget {
  readonly path: string;
  /** Writes the files of a contract into its folder, which replaces what was there. */
  putContract(folder: string, files: readonly RepositoryFile[]): Promise<void>;
  /** Takes a contract out that was there before. */
  removeContract(folder: string): Promise<void>;
  /** Writes one file. */
  putFile(name: string, bytes: Buffer): Promise<void>;
  /** Ends what is written: only then it is whole. */
  end(): Promise<void>;
  /** Leaves nothing behind that is not whole. */
  giveUp(): Promise<void>;
}

const PARTIAL = '.partial';

/**
 * A folder that may be served as it is: what stands in it is whole at any time, since it comes by renaming. An export has
 * a process of its own, so it writes synchronously: trips through the thread pool take longer than the files.
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

/** A tar archive, gzipped where its name says so. The same contracts give the same bytes. */
export function archiveTarget(file: string): TreeTarget {
  const archive = pack();
  const beside = `${file}${PARTIAL}`;
  const out = createWriteStream(beside, { flush: true });
  const written = /\.(?:tar\.gz|tgz)$/.test(file)
    ? pipeline(archive, createGzip(), out)
    : pipeline(archive, out);
  // It is met at the end.
  written.catch(() => undefined);
  const add = async (name: string, content: Buffer): Promise<void> => {
    const entry = archive.entry({ name, size: content.length, mtime: new Date(0) });
    entry.end(content);
    await Promise.race([once(entry, 'finish'), written]);
  };
  // Entries of an archive come one after the other.
  let turn: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  };
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
