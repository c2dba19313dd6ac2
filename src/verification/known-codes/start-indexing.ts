import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../errors.ts';
import { repeatUntilClosed, type RepeatedWork } from '../../lib/repeat.ts';
import { type Logger } from '../../log.ts';
import { indexSignatures, indexStoredCodes } from '../../repository/repository.ts';
import { type Database } from '../../store/database.ts';

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
export function startIndexing(database: Database, log: Logger): RepeatedWork {
  const index = async (signal: AbortSignal): Promise<number> => {
    while (!signal.aborted && (await indexStoredCodes(database)) > 0);
    while (!signal.aborted && (await indexSignatures(database)) > 0);
    await wait(REST_MS, undefined, { signal }).catch(() => undefined);
    return POLL_MS;
  };
  return repeatUntilClosed(index, {
    retryMs: PAUSE_MS,
    onFailure: (error) =>
      log.warn(
        { event: 'indexing_failed', error: messageOf(error) },
        'stored compilations could not be indexed',
      ),
  });
}
