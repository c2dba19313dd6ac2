/** Time limit of a diagnosis, while a client waits for the result. */
const LONGEST_MS = 6_000;
/**
 * Minimum time, even if other jobs are waiting: enough for most contracts, and longer than the polling
 * interval of the queue state (`queue-state.ts`), so that the job itself does not count as waiting.
 */
const LEAST_MS = 2_500;
const LOOK_MS = 200;

/**
 * Aborts a signal when the time for a diagnosis is used up. This happens sooner if other jobs are waiting: a
 * job of a third of a second would hold them up for twenty times as long.
 * @param doOthersWait called repeatedly once the minimum time has passed
 */
export function startDiagnosisTimer(
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
