import { type VNode } from 'preact';
import {
  type ContractQuery,
  type FilterName,
  FILTERS,
  formatContractPath,
  MAX_WORDS,
  NO_QUERY,
} from './contract-query.ts';

const MALFORMED = 'contract-words-malformed';

/** Search field and filters: a plain form that queries the service. */
export function ContractFilters({
  query,
  base,
  isMalformed,
}: {
  readonly query: ContractQuery;
  readonly base: string;
  readonly isMalformed: boolean;
}): VNode {
  const isNarrowed = formatContractPath({ ...query, after: '' }) !== formatContractPath(NO_QUERY);
  return (
    <form class="filters" role="search" aria-label="Contracts" action={`${base}contracts`}>
      <p class="search-field">
        <label for="contract-words">Search by address, its first 4 digits, name or code hash</label>
        <input
          id="contract-words"
          type="search"
          name="q"
          value={query.words}
          maxLength={MAX_WORDS}
          autoComplete="off"
          spellcheck={false}
          aria-invalid={isMalformed}
          aria-describedby={isMalformed ? MALFORMED : undefined}
        />
        {isMalformed && (
          <span id={MALFORMED} class="fault">
            Type 0x and 4 to 40 hexadecimal digits of an address, or a hash of 64 digits.
          </span>
        )}
      </p>
      <p>
        <label for="contract-chain">Chain</label>
        <input
          id="contract-chain"
          type="search"
          name="chain"
          value={query.chain}
          maxLength={MAX_WORDS}
          placeholder="id or name"
          autoComplete="off"
          spellcheck={false}
        />
      </p>
      <Filter name="match" value={query.match} />
      <Filter name="origin" value={query.origin} />
      <Filter name="trust" value={query.trust} />
      <p class="form-actions">
        <button type="submit">Search</button>{' '}
        {isNarrowed && (
          <a class="button" href={`${base}contracts`}>
            Clear
          </a>
        )}
      </p>
    </form>
  );
}

function Filter({ name, value }: { readonly name: FilterName; readonly value: string }): VNode {
  const { label, options } = FILTERS[name];
  const id = `contract-${name}`;
  return (
    <p>
      <label for={id}>{label}</label>
      <select id={id} name={name}>
        <option value="">any</option>
        {Object.entries(options).map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </p>
  );
}
