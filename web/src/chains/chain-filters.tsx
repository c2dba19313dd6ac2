import { type VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { formatCount } from '../format.ts';
import { type ChainQuery, FACET_NAMES, FACETS, type FacetName, NO_QUERY } from './chain-query.ts';
import { type ChainFilter, type FacetCounts } from './filter-chains.ts';
import { QueryLink, type QueryLinks } from './query-link.tsx';
import { useHydrated } from '../use-hydrated.ts';
import { type ChangeQuery } from './use-chain-query.ts';

/** Search field and filter chips: a form that queries the service, and with scripts updates the table at once. */
export function ChainFilters({
  query,
  facets,
  filters,
  withCounts,
  live,
  action,
  change,
}: {
  readonly query: ChainQuery;
  readonly facets: FacetCounts;
  /** Filters of the whole table: their chips keep their positions during typing. */
  readonly filters: readonly ChainFilter[];
  /** Whether it is known which chains have contracts. */
  readonly withCounts: boolean;
  /** Whether the table updates at once. */
  readonly live: boolean;
  readonly action: string;
  readonly change: ChangeQuery;
}): VNode {
  const hydrated = useHydrated();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // What was typed before the scripts ran.
    const words = field.current?.value ?? query.words;
    if (words !== query.words) change({ ...query, words, page: 1 }, 'typed');
  }, []);
  const chips = { query, facets, filters, withCounts, action, change: live ? change : undefined };
  return (
    <>
      <form
        class="filters one-line"
        role="search"
        action={action}
        onSubmit={(event) => {
          if (live) event.preventDefault();
        }}
      >
        <p class="search-field">
          <label for="chain-words">Search by name, id, short name or currency</label>
          <input
            id="chain-words"
            ref={field}
            type="search"
            name="q"
            {...(hydrated ? { value: query.words } : { defaultValue: query.words })}
            maxLength={100}
            autoComplete="off"
            spellcheck={false}
            onInput={(event) =>
              change({ ...query, words: event.currentTarget.value, page: 1 }, 'typed')
            }
          />
        </p>
        {Object.entries(query.facets).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {(query.sort !== NO_QUERY.sort || query.descending) && (
          <input type="hidden" name="sort" value={`${query.descending ? '-' : ''}${query.sort}`} />
        )}
        {!live && (
          <p>
            <button type="submit">Search</button>
          </p>
        )}
      </form>
      <FilterChips {...chips} />
    </>
  );
}

/** Filter chips: each one adds its value to the query, or removes it. */
function FilterChips({
  query,
  facets,
  filters,
  withCounts,
  ...links
}: Omit<QueryLinks, 'query'> & {
  readonly query: ChainQuery;
  readonly facets: FacetCounts;
  readonly filters: readonly ChainFilter[];
  readonly withCounts: boolean;
}): VNode {
  const chips = FACET_NAMES.filter((name) => name !== 'contracts' || withCounts).flatMap((name) =>
    chipsOf(name, filters, facets[name], query.facets[name]),
  );
  return (
    <ul class="filter-chips" aria-label="Filters">
      {chips.map(({ name, value, text, count, isOn }) => {
        const others = Object.entries(query.facets).filter(([facet]) => facet !== name);
        const chosen = Object.fromEntries(isOn ? others : [...others, [name, value]]);
        return (
          <li key={text} class={isOn ? 'on' : undefined}>
            <QueryLink {...links} to={{ ...query, facets: chosen, page: 1 }} isOn={isOn}>
              {text}
            </QueryLink>{' '}
            <span class="count">{isOn ? '×' : formatCount(count)}</span>
          </li>
        );
      })}
      {(query.words !== '' || Object.keys(query.facets).length > 0) && (
        <li class="clear">
          <QueryLink {...links} to={{ ...query, words: '', facets: {}, page: 1 }}>
            Clear
          </QueryLink>
        </li>
      )}
    </ul>
  );
}

interface Chip {
  readonly name: FacetName;
  readonly value: string;
  readonly text: string;
  /** Number of chains that remain with it. */
  readonly count: number;
  readonly isOn: boolean;
}

/** A filter that is not offered has a chip while it is active: it came from a URL. */
function chipsOf(
  name: FacetName,
  filters: readonly ChainFilter[],
  counts: Readonly<Record<string, number>>,
  chosen: string | undefined,
): readonly Chip[] {
  return FACETS[name].options.flatMap(([value, text]) => {
    const isOn = chosen === value;
    if (!isOn && !filters.includes(`${name}=${value}`)) return [];
    return [{ name, value, text, count: counts[value] ?? 0, isOn }];
  });
}
