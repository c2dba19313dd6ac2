import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { FullmatchError, messageOf } from '../../errors.ts';
import { Admission, type Leave, NotAdmitted } from '../../lib/admission.ts';
import { type Logger } from '../../log.ts';
import { type Queryable } from '../../store/database.ts';
import { type JobWatch } from './job-notifications.ts';
import { isJobId, listUnfinished, readJobs } from './read-job.ts';
import { isFinished, type VerificationJob } from './verification-job.ts';

/** Limits on the requests of this process that wait for jobs to end. */
export interface WaiterLimits {
  readonly total: number;
  readonly perClient: number;
}

/** The waiting client, and its timeout. */
export interface WaitOptions {
  /** Any text that identifies the client. */
  readonly client: string;
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

interface Waiter {
  readonly resolve: (job: VerificationJob | undefined) => void;
  readonly reject: (reason: Error) => void;
}

interface Read {
  readonly resolve: (job: VerificationJob | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/** Polling interval for ended jobs, since notifications can be lost. */
const POLL_MS = 2000;
/** Maximum number of jobs per statement. A failed job may hold 128 kB. */
const READ_MAX_JOBS = 50;
/** Requests resumed in one turn of the event loop: each renders its response at once. */
const RESUMED_PER_TURN = 8;
const RETRY_AFTER_S = 2;

/**
 * Requests that wait for jobs to end, by job id. An ended job is read once for all its waiters, and one
 * statement at a time reads all jobs requested in the meantime.
 */
export class JobWaiters {
  readonly #database: Queryable;
  readonly #log: Logger;
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #admission: Admission;
  readonly #closing = new AbortController();
  readonly #polling: Promise<void>;
  #queuedReads = new Map<string, Read[]>();
  #reading = false;

  constructor(
    parts: {
      readonly database: Queryable;
      readonly watch: Pick<JobWatch, 'onEnd'>;
      readonly log: Logger;
    },
    limits: WaiterLimits,
    pollMs = POLL_MS,
  ) {
    this.#database = parts.database;
    this.#admission = new Admission(limits);
    this.#log = parts.log;
    parts.watch.onEnd((id) => this.#readAgain(id === undefined ? [...this.#waiters.keys()] : [id]));
    this.#polling = this.#poll(pollMs);
  }

  /** Number of waiting requests. */
  get size(): number {
    return this.#admission.running;
  }

  /** Reads a job; returns undefined for an unknown id. Concurrent reads of the same job share one query. */
  read(id: string): Promise<VerificationJob | undefined> {
    return new Promise((resolve, reject) => {
      const reads = this.#queuedReads.get(id);
      if (reads === undefined) this.#queuedReads.set(id, [{ resolve, reject }]);
      else reads.push({ resolve, reject });
      void this.#readAsked();
    });
  }

  /**
   * Waits until a job ends.
   * @returns the ended job; undefined if the id is unknown or the timeout expires
   * @throws FullmatchError too_many_waiters; shutting_down if the service stops first; the reason of
   * `signal`.
   */
  async waitForEnd(
    givenId: string,
    { client, signal, timeoutMs }: WaitOptions,
  ): Promise<VerificationJob | undefined> {
    signal?.throwIfAborted();
    if (!isJobId(givenId)) return undefined;
    this.#closing.signal.throwIfAborted();
    const id = givenId.toLowerCase();
    const giveBack = this.#enter(id, client);
    let waiter: Waiter | undefined;
    let timer: NodeJS.Timeout | undefined;
    let leave: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        waiter = { resolve, reject };
        this.#waiters.set(id, (this.#waiters.get(id) ?? new Set()).add(waiter));
        leave = () => reject(signal?.reason as Error);
        signal?.addEventListener('abort', leave, { once: true });
        if (timeoutMs !== undefined) timer = setTimeout(() => resolve(undefined), timeoutMs);
        // The job may have ended before the waiter was registered.
        this.#readAgain([id]);
      });
    } finally {
      clearTimeout(timer);
      if (leave !== undefined) signal?.removeEventListener('abort', leave);
      giveBack();
      if (waiter !== undefined) this.#leave(id, waiter);
    }
  }

  /** Rejects all waiters with a reason. */
  async close(reason: Error): Promise<void> {
    this.#closing.abort(reason);
    for (const waiters of this.#waiters.values()) {
      for (const { reject } of waiters) reject(reason);
    }
    await this.#polling;
  }

  /** @throws FullmatchError too_many_waiters */
  #enter(id: string, client: string): Leave {
    try {
      return this.#admission.enterNow(client);
    } catch (error) {
      throw error instanceof NotAdmitted ? tooManyWaiters(id) : error;
    }
  }

  #leave(id: string, waiter: Waiter): void {
    const waiters = this.#waiters.get(id);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiters.delete(id);
  }

  /** Reads the jobs among these that have waiters, and notifies the waiters of ended ones. */
  #readAgain(ids: readonly string[]): void {
    for (const id of ids) {
      if (!this.#waiters.has(id) || this.#queuedReads.has(id)) continue;
      this.#queuedReads.set(id, []);
    }
    void this.#readAsked();
  }

  async #readAsked(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    while (this.#queuedReads.size > 0) {
      const batch = [...this.#queuedReads].slice(0, READ_MAX_JOBS);
      for (const [id] of batch) this.#queuedReads.delete(id);
      try {
        const jobs = await readJobs(
          this.#database,
          batch.map(([id]) => id),
        );
        // Not awaited: requests about other jobs need not wait for these.
        void resumeInTurns(
          batch.flatMap(([id, reads]) => this.#resumptions(id, reads, jobs.get(id))),
        );
      } catch (error) {
        // Waiters keep waiting; the next poll reads again.
        this.#log.debug({ event: 'jobs_unread', error: messageOf(error) }, 'jobs were not read');
        for (const [, reads] of batch) for (const { reject } of reads) reject(error);
      }
    }
    this.#reading = false;
  }

  /** The functions that resume the readers of a job and, once it has ended, its waiters. */
  #resumptions(
    id: string,
    reads: readonly Read[],
    job: VerificationJob | undefined,
  ): readonly (() => void)[] {
    const hasEnded = job === undefined || isFinished(job);
    const waiters = hasEnded ? (this.#waiters.get(id) ?? []) : [];
    return [...reads, ...waiters].map(
      ({ resolve }) =>
        () =>
          resolve(job),
    );
  }

  async #poll(pollMs: number): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      await wait(pollMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      const ids = [...this.#waiters.keys()];
      if (ids.length === 0) continue;
      const unfinished = await listUnfinished(this.#database, ids).catch(() => undefined);
      if (unfinished !== undefined) this.#readAgain(ids.filter((id) => !unfinished.has(id)));
    }
  }
}

/** Resumes requests over several turns of the event loop, so that others have theirs. Never rejects. */
async function resumeInTurns(resumptions: readonly (() => void)[]): Promise<void> {
  for (const [index, resume] of resumptions.entries()) {
    if (index > 0 && index % RESUMED_PER_TURN === 0) await nextTurn();
    resume();
  }
}

function tooManyWaiters(id: string): FullmatchError {
  return new FullmatchError(
    'too_many_waiters',
    `Too many requests are waiting for verifications; request the verification ${id} again in ${RETRY_AFTER_S} seconds.`,
    { details: { retryAfterSeconds: RETRY_AFTER_S, verificationId: id } },
  );
}
