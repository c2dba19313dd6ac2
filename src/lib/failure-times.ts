/** Since when each path gives no answer that can be used, and when it was last asked. */
export type FailureTimes = Map<string, { readonly since: string; readonly lastAt: string }>;

/** What nobody asked for so long may have been well in between. */
const FORGOTTEN_MS = 600_000;
const MOST = 1000;

/** Writes down whether a path failed at a moment, and says since when it does. */
export function recordFailure(
  outages: FailureTimes,
  path: string,
  at: string,
  isOutage: boolean,
): string {
  const known = outages.get(path);
  outages.delete(path);
  if (!isOutage) return at;
  const goesOn = known !== undefined && Date.parse(at) - Date.parse(known.lastAt) < FORGOTTEN_MS;
  const since = goesOn ? known.since : at;
  // The map keeps the order of entry, so what was asked for longest ago goes first.
  const [oldest] = outages.keys();
  if (outages.size >= MOST && oldest !== undefined) outages.delete(oldest);
  outages.set(path, { since, lastAt: at });
  return since;
}
