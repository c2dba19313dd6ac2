import { statfs } from 'node:fs/promises';
import { FullmatchError } from '../errors.ts';

/** How long a look at the file system holds. */
const CACHE_MS = 1_000;
/** When to ask again, in seconds: an operator needs at least as long. */
const RETRY_AFTER_S = 30;
const MIB = 2 ** 20;

/** Too little space on the file system of the data. */
export interface SpaceShortage {
  readonly since: Date;
  readonly freeBytes: number;
}

/**
 * Keeps some space free on the file system of the embedded server's data: a PostgreSQL that cannot write its journal
 * stops, and what is accepted already has to be stored as well.
 */
export class FreeSpace {
  readonly #folder: string | undefined;
  readonly #floorBytes: number;
  #shortage: SpaceShortage | undefined;
  #looked: { readonly at: number; readonly done: Promise<void> } | undefined;

  /** Without a folder, for a server whose disk cannot be seen from here, there is always space. */
  constructor(folder: string | undefined, floorBytes: number) {
    this.#folder = folder;
    this.#floorBytes = floorBytes;
  }

  /** The shortage as it was last seen. */
  get shortage(): SpaceShortage | undefined {
    return this.#shortage;
  }

  /** @throws FullmatchError `storage_full` with `details.retryAfterSeconds` when there is less space than the floor */
  async require(): Promise<void> {
    await this.look();
    if (this.#shortage === undefined) return;
    const mib = (bytes: number): string => `${Math.floor(bytes / MIB)} MB`;
    throw new FullmatchError(
      'storage_full',
      `There is too little space to store anything: ${mib(this.#shortage.freeBytes)} are free, and ${mib(this.#floorBytes)} must stay free (database.minFreeBytes). Try again in ${RETRY_AFTER_S} seconds.`,
      { details: { retryAfterSeconds: RETRY_AFTER_S } },
    );
  }

  /** Looks at the file system, at most once a second. Never rejects. */
  look(): Promise<void> {
    const now = performance.now();
    if (this.#looked === undefined || now - this.#looked.at > CACHE_MS) {
      this.#looked = { at: now, done: this.#measure() };
    }
    return this.#looked.done;
  }

  async #measure(): Promise<void> {
    if (this.#folder === undefined || this.#floorBytes === 0) return;
    // A folder that cannot be asked: the next write there shows what is wrong.
    const found = await statfs(this.#folder).catch(() => undefined);
    const freeBytes = found === undefined ? Infinity : found.bavail * found.bsize;
    this.#shortage =
      freeBytes >= this.#floorBytes
        ? undefined
        : { since: this.#shortage?.since ?? new Date(), freeBytes };
  }
}
