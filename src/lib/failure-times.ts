/** Start of the outage of each path, and the time of its last failure. */
export type FailureTimes = Map<string, { readonly since: string; readonly lastAt: string }>;

/** After this long without a request, an outage is not assumed to have continued. */
const FORGOTTEN_MS = 600_000;
const MOST = 1000;

/** Records whether a path failed at a given time, and returns the start of its outage. */
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
  // The map is in insertion order, so its first entry has the oldest failure.
  const [oldest] = outages.keys();
  if (outages.size >= MOST && oldest !== undefined) outages.delete(oldest);
  outages.set(path, { since, lastAt: at });
  return since;
}
