import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../errors.ts';
import { repeatUntilClosed } from '../../lib/repeat.ts';
import { type Logger } from '../../log.ts';
import { indexSignatures, indexStoredCodes } from '../../repository/repository.ts';
import { type Database } from '../../store/database.ts';

/** The background indexing of a process. */
export interface Indexing {
  /** Starts the next pass now. */
  wake(): void;
  close(): Promise<void>;
}

/** Polling interval if nothing wakes it. */
const POLL_MS = 2_000;
/** Minimum pause between two passes, since every verification of a batch wakes it. */
const REST_MS = 250;
/** Pause after an error, such as an unavailable database. */
const PAUSE_MS = 5_000;

/**
 * Indexes newly stored bytecode and signatures in the background, without compiling. Any number of processes
 * share the work.
 */
export function startIndexing(database: Database, log: Logger): Indexing {
  let waking = new AbortController();
  const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
    wait(ms, undefined, { signal }).catch(() => undefined);
  const index = async (signal: AbortSignal): Promise<number> => {
    waking = new AbortController();
    while (!signal.aborted && (await indexStoredCodes(database)) > 0);
    while (!signal.aborted && (await indexSignatures(database)) > 0);
    await pause(REST_MS, signal);
    await pause(POLL_MS, AbortSignal.any([signal, waking.signal]));
    return 0;
  };
  const indexing = repeatUntilClosed(index, {
    retryMs: PAUSE_MS,
    onFailure: (error) =>
      log.warn(
        { event: 'indexing_failed', error: messageOf(error) },
        'stored compilations could not be indexed',
      ),
  });
  return { wake: () => waking.abort(), close: () => indexing.close() };
}
