const RESULTS = 12;

/** A selectable chain. */
export interface ChainChoice {
  readonly chainId: number;
  readonly name: string;
  readonly shortName?: string;
}

/** Chains that match a text, and their number on all pages. */
interface ChainMatches {
  readonly results: readonly ChainChoice[];
  readonly matching: number;
}

/**
 * Returns the only chain that a text names, ignoring case: by its short name, else by its id or name, else
 * because no other chain matches. Pure.
 */
export function selectNamedChain(
  text: string,
  { results, matching }: ChainMatches,
): ChainChoice | undefined {
  const wanted = text.trim().toLowerCase();
  const byShortName = results.filter(({ shortName }) => shortName?.toLowerCase() === wanted);
  const byName = results.filter(
    ({ chainId, name }) => String(chainId) === wanted || name.toLowerCase() === wanted,
  );
  const exact = byShortName.length > 0 ? byShortName : byName;
  if (exact.length > 0) return exact.length === 1 ? exact[0] : undefined;
  return matching === 1 ? results[0] : undefined;
}

/** Returns the only supported chain that a text names; undefined if there is none or it cannot be read. */
export async function findNamedChain(base: string, text: string): Promise<ChainChoice | undefined> {
  const query = new URLSearchParams({
    fields: 'name,shortName',
    limit: String(RESULTS),
    order: 'relevance',
    q: text.trim().slice(0, 100),
    supported: 'true',
  });
  try {
    const response = await fetch(`${base}v1/chains?${query.toString()}`);
    return response.ok
      ? selectNamedChain(text, (await response.json()) as ChainMatches)
      : undefined;
  } catch {
    return undefined;
  }
}
