import { statfs } from 'node:fs/promises';
import { FullmatchError } from '../errors.ts';

/** How long a reading of the file system is cached. */
const CACHE_MS = 1_000;
/** Retry-After in seconds; an operator needs at least that long. */
const RETRY_AFTER_S = 30;
const MIB = 2 ** 20;

/** Too little space on the file system of the data. */
export interface SpaceShortage {
  readonly since: Date;
  readonly freeBytes: number;
}

/**
 * Keeps some space free on the file system of the embedded server's data: a PostgreSQL that cannot write its
 * journal stops, and accepted work still has to be stored.
 */
export class FreeSpace {
  readonly #folder: string | undefined;
  readonly #floorBytes: number;
  #shortage: SpaceShortage | undefined;
  #lastCheck: { readonly at: number; readonly done: Promise<void> } | undefined;

  /** Without a folder, for a server whose disk is not visible from here, space is never short. */
  constructor(folder: string | undefined, floorBytes: number) {
    this.#folder = folder;
    this.#floorBytes = floorBytes;
  }

  /** The shortage at the last check. */
  get shortage(): SpaceShortage | undefined {
    return this.#shortage;
  }

  /** @throws FullmatchError `storage_full` with `details.retryAfterSeconds` if less space is free than the minimum */
  async require(): Promise<void> {
    await this.refresh();
    if (this.#shortage === undefined) return;
    const mib = (bytes: number): string => `${Math.floor(bytes / MIB)} MB`;
    throw new FullmatchError(
      'storage_full',
      `There is too little space to store anything: ${mib(this.#shortage.freeBytes)} are free, and ${mib(this.#floorBytes)} must stay free (database.minFreeBytes). Try again in ${RETRY_AFTER_S} seconds.`,
      { details: { retryAfterSeconds: RETRY_AFTER_S } },
    );
  }

  /** Checks the file system, at most once a second. Never rejects. */
  refresh(): Promise<void> {
    const now = performance.now();
    if (this.#lastCheck === undefined || now - this.#lastCheck.at > CACHE_MS) {
      this.#lastCheck = { at: now, done: this.#measure() };
    }
    return this.#lastCheck.done;
  }

  async #measure(): Promise<void> {
    if (this.#folder === undefined || this.#floorBytes === 0) return;
    // The folder cannot be read: the next write there will report the cause.
    const found = await statfs(this.#folder).catch(() => undefined);
    const freeBytes = found === undefined ? Infinity : found.bavail * found.bsize;
    this.#shortage =
      freeBytes >= this.#floorBytes
        ? undefined
        : { since: this.#shortage?.since ?? new Date(), freeBytes };
  }
}
