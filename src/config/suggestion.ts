import { distance } from 'fastest-levenshtein';

/**
 * Returns the end of a message about an unknown name: the name probably meant, or else all known names.
 * Ignores case; a known name that starts with the unknown one also counts as near.
 */
export function describeSuggestion(unknown: string, known: readonly string[]): string {
  const near = closestName(unknown, known);
  if (near !== undefined) return `did you mean '${near}'?`;
  return known.length === 0 ? 'remove it' : `known here: ${known.join(', ')}`;
}

/** Returns the known name closest to `unknown`, if it is close enough to be a typo. */
export function closestName(unknown: string, known: readonly string[]): string | undefined {
  const wanted = unknown.toLowerCase();
  let best: { name: string; cost: number; steps: number } | undefined;
  for (const name of known) {
    const candidate = name.toLowerCase();
    const begins =
      wanted.length >= 4 && (candidate.startsWith(wanted) || wanted.startsWith(candidate));
    const steps = distance(wanted, candidate);
    const cost = begins ? Math.min(1, steps) : steps;
    // Two transposed letters cost 2.
    const slips = candidate.length < 4 ? 1 : Math.max(2, Math.floor(candidate.length / 3));
    // If the word begins two names, prefer the shorter one: `chain` suggests `chains` rather than
    // `chainsDirectory`.
    const isNearer =
      best === undefined || cost < best.cost || (cost === best.cost && steps < best.steps);
    if (cost <= slips && isNearer) best = { name, cost, steps };
  }
  return best?.name;
}
