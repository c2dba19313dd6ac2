const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long after each try in vain the next one comes: sources are often pinned minutes or days after a deployment. */
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

/** What was not the contract's fault, such as an endpoint that lags behind, is often over in seconds. */
const SOON_MS = [5 * SECOND_MS, 20 * SECOND_MS] as const;

/** Creations of one block are not tried in one moment for all time. */
const SPREAD = 0.2;

/**
 * Milliseconds until the next try, or undefined where there is none any more.
 * @param tries how often it was tried in vain, this time included
 * @param isPassing whether the reason was none of the contract
 * @param chance from 0 to 1
 */
export function pauseAfter(tries: number, isPassing: boolean, chance: number): number | undefined {
  const soon = isPassing ? SOON_MS : [];
  const pause = [...soon, ...PAUSES_MS][tries - 1];
  return pause === undefined ? undefined : Math.round(pause * (1 + SPREAD * chance));
}
