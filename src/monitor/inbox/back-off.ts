const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Pauses after failed tries: sources are often pinned minutes or days after a deployment. */
const PAUSES_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  12 * HOUR_MS,
  DAY_MS,
  3 * DAY_MS,
  7 * DAY_MS,
  14 * DAY_MS,
  30 * DAY_MS,
] as const;

/**
 * Pauses after failures that are not the contract's fault, such as a lagging endpoint, which often pass
 * within seconds.
 */
const SOON_MS = [5 * SECOND_MS, 20 * SECOND_MS] as const;

/** Jitter, so that the creations of one block are not always retried at the same moment. */
const SPREAD = 0.2;

/**
 * Returns the milliseconds until the next try, or undefined if there is none.
 * @param tries failed tries, including this one
 * @param isPassing whether the failure was not the contract's fault
 * @param chance from 0 to 1
 */
export function backOffMs(tries: number, isPassing: boolean, chance: number): number | undefined {
  const soon = isPassing ? SOON_MS : [];
  const pause = [...soon, ...PAUSES_MS][tries - 1];
  return pause === undefined ? undefined : Math.round(pause * (1 + SPREAD * chance));
}
