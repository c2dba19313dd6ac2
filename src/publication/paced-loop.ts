import { messageOf } from '../errors.ts';
import { type Logger } from '../log.ts';

/** Repeated work, one run at a time. */
export interface PacedLoop {
  /** Schedules a run; triggers during a run are covered by one more run. */
  readonly trigger: () => void;
  /** Time since which its runs have failed. */
  readonly failingSince: Date | undefined;
  /** Waits for the current run and prevents further ones. */
  close(): Promise<void>;
}

/**
 * A loop whose runs start at least `gapMs` apart, so that triggers in between are handled together. The first
 * run after a pause starts at once. A failure is logged once until a run succeeds, and the next trigger tries
 * again.
 * @param run does a bounded part of the work; true if more is left, in which case the next run follows
 * without a gap
 */
export function startPacedLoop(
  run: () => Promise<boolean>,
  { gapMs, what, log }: { gapMs: number; what: string; log: Logger },
): PacedLoop {
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lastStart = -Infinity;
  let again = false;
  let closed = false;
  let failingSince: Date | undefined;
  const runOnce = async (): Promise<boolean> => {
    try {
      const isMore = await run();
      if (failingSince !== undefined)
        log.info({ event: 'refresh_recovered' }, `${what} are fresh again`);
      failingSince = undefined;
      return isMore;
    } catch (error) {
      // One line when it starts to fail, not one for each run.
      if (failingSince === undefined)
        log.error({ event: 'refresh_failed', error: messageOf(error) }, `${what} are stale`);
      failingSince ??= new Date();
      return false;
    }
  };
  const begin = (): void => {
    timer = undefined;
    lastStart = performance.now();
    again = false;
    running = runOnce().then((isMore) => {
      running = undefined;
      if (isMore && !closed) begin();
      else if (again) trigger();
    });
  };
  const trigger = (): void => {
    if (closed || timer !== undefined) return;
    if (running !== undefined) again = true;
    else {
      const restMs = lastStart + gapMs - performance.now();
      if (restMs <= 0) begin();
      else timer = setTimeout(begin, restMs);
    }
  };
  return {
    trigger,
    get failingSince() {
      return failingSince;
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
