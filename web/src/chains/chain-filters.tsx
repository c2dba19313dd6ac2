import { type VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { formatCount } from '../format.ts';
import { type ChainQuery, FACET_NAMES, FACETS, type FacetName, NO_QUERY } from './chain-query.ts';
import { type FacetCounts } from './filter-chains.ts';
import { useHydrated } from '../use-hydrated.ts';
import { type ChangeQuery } from './use-chain-query.ts';

/** The search field and the facets: a form that asks the service, and changes the table at once where scripts run. */
export function ChainFilters({
  query,
  facets,
  withCounts,
  live,
  action,
  change,
}: {
  readonly query: ChainQuery;
  readonly facets: FacetCounts;
  /** Whether it is known which chains have contracts. */
  readonly withCounts: boolean;
  /** Whether the table follows at once. */
  readonly live: boolean;
  readonly action: string;
  readonly change: ChangeQuery;
}): VNode {
  const choose = (name: FacetName, value: string): void => {
    const others = Object.entries(query.facets).filter(([facet]) => facet !== name);
    const chosen = value === '' ? others : [...others, [name, value]];
    const all = Object.fromEntries(chosen) as ChainQuery['facets'];
    change({ ...query, facets: all, page: 1 }, 'chosen');
  };
  const hydrated = useHydrated();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // What was typed before the scripts ran.
    const words = field.current?.value ?? query.words;
    if (words !== query.words) change({ ...query, words, page: 1 }, 'typed');
  }, []);
  const isNarrowed = query.words !== '' || Object.keys(query.facets).length > 0;
  return (
    <form
      class="filters"
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
      {FACET_NAMES.filter(
        (name) =>
          (name === 'contracts' && !withCounts) || saysSomething(facets[name], query.facets[name]),
      ).map((name) => (
        <Facet
          key={name}
          name={name}
          value={query.facets[name] ?? ''}
          counts={facets[name]}
          disabled={name === 'contracts' && !withCounts}
          onChoose={(value) => choose(name, value)}
        />
      ))}
      {(query.sort !== NO_QUERY.sort || query.descending) && (
        <input type="hidden" name="sort" value={`${query.descending ? '-' : ''}${query.sort}`} />
      )}
      <p class="form-actions">
        {!live && <button type="submit">Apply</button>}
        {isNarrowed && (
          <a
            class="button"
            href={action}
            onClick={(event) => {
              if (!live) return;
              event.preventDefault();
              change({ ...query, words: '', facets: {}, page: 1 }, 'chosen');
            }}
          >
            Clear
          </a>
        )}
      </p>
    </form>
  );
}

/** A facet that has the same value everywhere narrows nothing. */
const saysSomething = (
  counts: Readonly<Record<string, number>>,
  chosen: string | undefined,
): boolean =>
  chosen !== undefined || Object.values(counts).filter((count) => count > 0).length !== 1;

function Facet({
  name,
  value,
  counts,
  disabled,
  onChoose,
}: {
  readonly name: FacetName;
  readonly value: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly disabled: boolean;
  readonly onChoose: (value: string) => void;
}): VNode {
  const { label, options } = FACETS[name];
  const id = `facet-${name}`;
  return (
    <p>
      <label for={id}>{label}</label>
      <select
        id={id}
        name={name}
        disabled={disabled}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        <option value="" selected={value === ''}>
          any
        </option>
        {options.map(([option, text]) => (
          <option key={option} value={option} selected={value === option}>
            {text} ({formatCount(counts[option] ?? 0)})
          </option>
        ))}
      </select>
    </p>
  );
}
