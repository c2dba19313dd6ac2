import { open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sha256OfFile } from './file-digest.ts';
import { makeFolder } from '../../lib/writable-folder.ts';

/** A downloaded file with its size and the time of its last use. */
interface KeptFile {
  readonly name: string;
  readonly bytes: number;
  readonly usedMs: number;
}

const CHECKSUM = '.sha256';
const PARTIAL = '.partial';
const LOCK = '.lock';
/** Renewal interval of a download lock; a lock older than the second limit was left by a killed process. */
const LOCK_RENEWED_MS = 2_000;
const LOCK_STALE_MS = 15_000;
const LOCK_POLL_MS = 300;
/** Minimum interval between two records of a use. */
const USE_WRITTEN_MS = 60_000;

/**
 * The folder of downloaded compilers, which contains nothing else. Each file has a checksum file in the
 * format of sha256sum, whose modification time is the last use of the compiler. If the folder exceeds its
 * size limit, the least recently used files are removed.
 */
export class DownloadFolder {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #now: () => number;

  constructor(folder: string, maxBytes: number, now: () => number = Date.now) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  pathOf(name: string): string {
    return path.join(this.#folder, name);
  }

  /** Lists the names of the stored files without verifying them. */
  async names(): Promise<readonly string[]> {
    return (await this.#kept()).map(({ name }) => name);
  }

  /** Returns two checksums of a stored file: that of its current content, and the one recorded when it was stored. */
  async read(
    name: string,
  ): Promise<{ readonly sha256: string; readonly written: string } | undefined> {
    try {
      const sha256 = await sha256OfFile(this.pathOf(name));
      const written = await readFile(this.#checksumOf(name), 'utf8');
      return { sha256, written: written.slice(0, sha256.length) };
    } catch {
      return undefined;
    }
  }

  /** Records the use of a file. */
  async use(name: string): Promise<void> {
    const file = this.#checksumOf(name);
    const now = this.#now();
    const known = await stat(file).catch(() => undefined);
    if (known === undefined || now - known.mtimeMs < USE_WRITTEN_MS) return;
    await utimes(file, now / 1000, now / 1000).catch(() => undefined);
  }

  /** Returns the path of an incomplete file. If a download is killed, the next one overwrites it. */
  partialOf(name: string): string {
    return this.pathOf(name + PARTIAL);
  }

  /**
   * Renames a complete file to its final name, after making room for it. The caller must have verified the
   * checksum.
   */
  async keep(name: string, sha256: string): Promise<void> {
    const { size } = await stat(this.partialOf(name));
    await this.#makeRoom(size, name);
    await writeFile(this.#checksumOf(name), `${sha256}  ${name}\n`);
    await rename(this.partialOf(name), this.pathOf(name));
  }

  /** Removes the partial file of a download. */
  async discard(name: string): Promise<void> {
    await rm(this.partialOf(name), { force: true });
  }

  /**
   * Runs the work while no other process downloads the file. `waiting` receives the number of bytes that the
   * other process has. The signal aborts the wait with its reason.
   * @returns the result of the work; undefined after waiting for another process, which may have stored the
   * file
   */
  async exclusively<T>(
    name: string,
    work: () => Promise<T>,
    waiting: (receivedBytes: number) => void,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    signal.throwIfAborted();
    await makeFolder(this.#folder);
    const lock = this.pathOf(name + LOCK);
    if (!(await this.#take(lock))) {
      while (await this.#isHeld(lock)) {
        const partial = await stat(this.partialOf(name)).catch(() => undefined);
        waiting(partial?.size ?? 0);
        await wait(LOCK_POLL_MS, undefined, { signal });
      }
      return undefined;
    }
    const renewal = setInterval(() => {
      void utimes(lock, new Date(), new Date()).catch(() => undefined);
    }, LOCK_RENEWED_MS);
    try {
      return await work();
    } finally {
      clearInterval(renewal);
      await rm(lock, { force: true });
    }
  }

  async #take(lock: string): Promise<boolean> {
    if ((await this.#ageOf(lock)) > LOCK_STALE_MS) await rm(lock, { force: true });
    try {
      await (await open(lock, 'wx')).close();
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  }

  async #isHeld(lock: string): Promise<boolean> {
    const age = await this.#ageOf(lock);
    return age >= 0 && age <= LOCK_STALE_MS;
  }

  /** Returns the time since a lock was renewed, by the file system's clock; -1 if there is none. */
  async #ageOf(lock: string): Promise<number> {
    const found = await stat(lock).catch(() => undefined);
    return found === undefined ? -1 : Math.max(0, Date.now() - found.mtimeMs);
  }

  async #makeRoom(bytes: number, name: string): Promise<void> {
    const kept = (await this.#kept()).filter((each) => each.name !== name);
    let total = kept.reduce((sum, each) => sum + each.bytes, bytes);
    for (const each of kept.sort((left, right) => left.usedMs - right.usedMs)) {
      if (total <= this.#maxBytes) return;
      await rm(this.pathOf(each.name), { force: true });
      await rm(this.#checksumOf(each.name), { force: true });
      total -= each.bytes;
    }
  }

  async #kept(): Promise<KeptFile[]> {
    const names = await readdir(this.#folder).catch((): string[] => []);
    const files = await Promise.all(
      names
        .filter((name) => names.includes(name + CHECKSUM))
        .map(async (name) => {
          const [file, checksum] = await Promise.all([
            stat(this.pathOf(name)).catch(() => undefined),
            stat(this.#checksumOf(name)).catch(() => undefined),
          ]);
          return file && checksum && { name, bytes: file.size, usedMs: checksum.mtimeMs };
        }),
    );
    return files.filter((file) => file !== undefined);
  }

  #checksumOf(name: string): string {
    return this.pathOf(name + CHECKSUM);
  }
}
