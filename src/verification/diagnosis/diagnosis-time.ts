/** Settings that will be stored are worth more than a hint, and may take so many times as long. */
const TIMES_FOR_SETTINGS = 3;
/**
 * Part of the time that a diagnosis has even if other jobs are waiting: enough for most contracts. By default it
 * is longer than the polling interval of the queue state (`queue-state.ts`), so that the job itself does not
 * count as waiting.
 */
const LEAST_SHARE = 0.4;
/** If one compilation takes a larger part of the time than this, there is time for only a few. */
const SLOW_SHARE = 1 / 3;
const CHECK_MS = 200;

/** How long a diagnosis may take. */
export interface DiagnosisLimits {
  /** The limit while no other jobs are waiting, in milliseconds. */
  readonly longestMs: number;
  /** The limit while others are. */
  readonly leastMs: number;
  /** A compilation that takes longer is not repeated with other settings. */
  readonly slowCompilationMs: number;
}

/**
 * Limits of a diagnosis.
 * @param diagnosisMs the configured time limit
 * @param willUseSettings whether settings that are found will be stored
 */
export function diagnosisLimits(diagnosisMs: number, willUseSettings: boolean): DiagnosisLimits {
  const longestMs = diagnosisMs * (willUseSettings ? TIMES_FOR_SETTINGS : 1);
  return {
    longestMs,
    leastMs: longestMs * LEAST_SHARE,
    slowCompilationMs: diagnosisMs * SLOW_SHARE,
  };
}

/**
 * Aborts a signal when the time for a diagnosis is used up. This happens sooner if other jobs are waiting: a
 * job of a third of a second would hold them up for twenty times as long.
 * @param doOthersWait called repeatedly once the minimum time has passed
 */
export function startDiagnosisTimer(
  doOthersWait: () => boolean,
  { longestMs, leastMs }: Pick<DiagnosisLimits, 'longestMs' | 'leastMs'>,
): { readonly signal: AbortSignal; readonly end: () => void } {
  const over = new AbortController();
  const begun = performance.now();
  const checkTime = (): void => {
    const spent = performance.now() - begun;
    if (spent >= longestMs || (spent >= leastMs && doOthersWait())) over.abort();
    else timer = setTimeout(checkTime, Math.min(CHECK_MS, longestMs - spent));
  };
  let timer = setTimeout(checkTime, leastMs);
  return { signal: over.signal, end: () => clearTimeout(timer) };
}
