import { messageOf } from '../errors.ts';
import { type Logger } from '../log.ts';
import { type Database } from '../store/database.ts';
import { MATCHES_CHANNEL } from '../repository/matches/match-notifications.ts';

/** Calls a refresh after every change of a match and, as a fallback for lost notifications, at an interval. */
export interface MatchWatch {
  close(): Promise<void>;
}

/**
 * Runs `refresh` after each notification and every `pollMs` milliseconds, one run at a time: what arrives
 * during a run is covered by one more run after it. A failed run is logged and tried again at the next turn.
 */
export async function watchMatches(
  database: Database,
  { pollMs, refresh, log }: { pollMs: number; refresh: () => Promise<void>; log: Logger },
): Promise<MatchWatch> {
  let running: Promise<void> | undefined;
  let again = false;
  let closed = false;
  let failing = false;
  const run = async (): Promise<void> => {
    do {
      again = false;
      try {
        await refresh();
        if (failing) log.info({ event: 'refresh_recovered' }, 'statistics are fresh again');
        failing = false;
      } catch (error) {
        // One line when it begins to fail, not one at every turn.
        if (!failing)
          log.error({ event: 'refresh_failed', error: messageOf(error) }, 'statistics are stale');
        failing = true;
      }
    } while (again && !closed);
  };
  const trigger = (): void => {
    if (closed) return;
    if (running !== undefined) {
      again = true;
      return;
    }
    running = run().finally(() => {
      running = undefined;
    });
  };
  const timer = setInterval(trigger, pollMs);
  const stopListening = await database.listen(MATCHES_CHANNEL, trigger);
  return {
    close: async () => {
      closed = true;
      clearInterval(timer);
      await stopListening();
      await running;
    },
  };
}
