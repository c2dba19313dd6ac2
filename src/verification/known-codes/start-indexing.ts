import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../errors.ts';
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
  const closing = new AbortController();
  let waking = new AbortController();
  const pause = (ms: number, signal: AbortSignal): Promise<unknown> =>
    wait(ms, undefined, { signal }).catch(() => undefined);
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      waking = new AbortController();
      let pauseMs = POLL_MS;
      try {
        while (!closing.signal.aborted && (await indexStoredCodes(database)) > 0);
        while (!closing.signal.aborted && (await indexSignatures(database)) > 0);
      } catch (error) {
        if (closing.signal.aborted) return;
        const facts = { event: 'indexing_failed', error: messageOf(error) };
        log.warn(facts, 'stored compilations could not be indexed');
        pauseMs = PAUSE_MS;
      }
      await pause(REST_MS, closing.signal);
      await pause(pauseMs, AbortSignal.any([closing.signal, waking.signal]));
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
