import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../errors.ts';
import { type Logger } from '../../log.ts';
import { indexSignatures, indexStoredCodes } from '../../repository/repository.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { indexNextProject, type SiblingParts } from './index-siblings.ts';

/** How what is found of stored compilations is kept up. */
export interface IndexingOptions {
  /** How often the work is looked for where nobody wakes it. */
  readonly pollMs?: number;
  /** How often the queue of verifications is looked at while sources are compiled. */
  readonly lookMs?: number;
  /** Whether the sources of stored contracts are compiled for the other contracts in them. Default true. */
  readonly compiles?: boolean;
  /** Called when codes were added: contracts that were not known before may be now. */
  readonly onIndexed?: () => void;
}

/** The indexing of a process. */
export interface Indexing {
  /** Has it look for work now. */
  wake(): void;
  close(): Promise<void>;
}

const POLL_MS = 2_000;
const LOOK_MS = 250;
/** After a fault, such as a database that is away. */
const PAUSE_MS = 5_000;

const IS_JOB_WAITING = sql(
  'is a job waiting',
  `SELECT EXISTS (SELECT FROM verification_jobs WHERE state = 'queued') AS is_waiting`,
);

async function isJobWaiting(database: Queryable): Promise<boolean> {
  const [row] = await database.query<{ is_waiting: boolean }>(IS_JOB_WAITING);
  return row?.is_waiting === true;
}

/**
 * Keeps the index of known codes and the signatures up, in the background: those of what is stored at once, and the other contracts of their sources by
 * compilations, one at a time, only while no verification waits. A compilation that one comes to wait for is ended and
 * begins again later. Any number of processes share the work.
 */
export function startIndexing(
  parts: SiblingParts,
  { pollMs = POLL_MS, lookMs = LOOK_MS, compiles = true, onIndexed }: IndexingOptions,
  log: Logger,
): Indexing {
  const { database } = parts;
  const closing = new AbortController();
  let waking = new AbortController();
  const pause = async (ms: number): Promise<void> => {
    const signal = AbortSignal.any([closing.signal, waking.signal]);
    await wait(ms, undefined, { signal }).catch(() => undefined);
  };
  const indexSiblings = async (): Promise<boolean> => {
    if (!compiles || (await isJobWaiting(database))) return false;
    const giving = new AbortController();
    const ended = new AbortController();
    const watching = giveWayToJobs(parts, giving, ended.signal, lookMs);
    try {
      const signal = AbortSignal.any([closing.signal, giving.signal]);
      return (await indexNextProject(parts, signal)) === 'settled';
    } finally {
      ended.abort();
      await watching;
    }
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      waking = new AbortController();
      let pauseMs = pollMs;
      try {
        let isAdded = false;
        while (!closing.signal.aborted && (await indexStoredCodes(database)) > 0) isAdded = true;
        while (!closing.signal.aborted && (await indexSignatures(database)) > 0);
        const isSettled = await indexSiblings();
        if (isAdded || isSettled) onIndexed?.();
        if (isSettled) pauseMs = 0;
      } catch (error) {
        if (closing.signal.aborted) return;
        const facts = { event: 'indexing_failed', error: messageOf(error) };
        log.warn(facts, 'what is stored could not be indexed');
        pauseMs = PAUSE_MS;
      }
      if (pauseMs > 0) await pause(pauseMs);
    }
  };
  const running = run();
  return {
    wake: () => waking.abort(),
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

/** Ends a compilation of the background as soon as a verification waits. Never rejects. */
async function giveWayToJobs(
  { database }: SiblingParts,
  giving: AbortController,
  ended: AbortSignal,
  lookMs: number,
): Promise<void> {
  while (!ended.aborted) {
    await wait(lookMs, undefined, { signal: ended }).catch(() => undefined);
    if (ended.aborted) return;
    // Where the database does not say, nothing is in a hurry.
    if (await isJobWaiting(database).catch(() => false)) {
      giving.abort();
      return;
    }
  }
}
