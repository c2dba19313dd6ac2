import { type Logger } from '../log.ts';
import { type Database } from '../store/database.ts';
import { MATCHES_CHANNEL } from '../repository/matches/match-notifications.ts';
import { startPacedLoop } from './paced-loop.ts';

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
  const loop = startPacedLoop(refresh, { gapMs: 0, what: 'statistics', log });
  const timer = setInterval(loop.trigger, pollMs);
  const stopListening = await database.listen(MATCHES_CHANNEL, loop.trigger);
  return {
    close: async () => {
      clearInterval(timer);
      await stopListening();
      await loop.close();
    },
  };
}
