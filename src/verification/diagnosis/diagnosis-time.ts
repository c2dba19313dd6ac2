/** What fails is looked at while somebody waits for the answer. */
const LONGEST_MS = 6_000;
/**
 * So long also while others wait for the worker: enough for most contracts, and longer than the state of the queue stays
 * unread (`queue-state.ts`), so that the job itself does not count among those that wait.
 */
const LEAST_MS = 2_500;
const LOOK_MS = 200;

/**
 * Fires a signal when a diagnosis has taken its time: sooner while other jobs wait, which a job of a third of a second would
 * hold up for twenty times as long.
 * @param doOthersWait asked again and again from the least time on
 */
export function limitDiagnosis(
  doOthersWait: () => boolean,
  { longestMs = LONGEST_MS, leastMs = LEAST_MS } = {},
): { readonly signal: AbortSignal; readonly end: () => void } {
  const over = new AbortController();
  const begun = performance.now();
  const look = (): void => {
    const spent = performance.now() - begun;
    if (spent >= longestMs || (spent >= leastMs && doOthersWait())) over.abort();
    else timer = setTimeout(look, Math.min(LOOK_MS, longestMs - spent));
  };
  let timer = setTimeout(look, leastMs);
  return { signal: over.signal, end: () => clearTimeout(timer) };
}
