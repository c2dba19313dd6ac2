import { type VNode } from 'preact';
import { type Loaded } from '../api.ts';
import { ChainLink } from '../chains/chain-link.tsx';
import { DidYouMean } from '../chains/did-you-mean.tsx';
import { type ContractsData } from '../contracts/find-contracts.ts';
import { kindOfWords } from '../contracts/contract-query.ts';
import { formatCount } from '../format.ts';
import { listContract } from '../listed-contract.ts';
import { definePage, type PageContext, type ViewProps } from '../page.ts';
import { ContractList } from '../parts/contract-list.tsx';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { searchAll, type SearchData, soleResult } from '../search/search-all.ts';
import { type FoundChains, matchesName, wordsOf } from '../search/search-words.ts';

/** All search results: chains, contracts, and the job with this id. */
export const page = definePage<SearchData>({
  isShared: true,
  section: 'search',
  title: ({ request }) => {
    const words = wordsOf(request.query);
    return `${words === '' ? '' : `${words} · `}Search`;
  },
  load: searchAll,
  redirect: ({ data, request }) => soleResult(wordsOf(request.query), data),
  status: ({ chains, contracts }) =>
    [chains, contracts].some((part) => part?.state === 'failed' && part.status >= 500) ? 503 : 200,
  View: SearchView,
});

function SearchView({ data, request, context }: ViewProps<SearchData>): VNode {
  const words = wordsOf(request.query);
  const { chains, contracts, near } = data;
  const [likeliest] = chains?.state === 'ready' ? chains.value.results : [];
  const isChainMeant = likeliest !== undefined && matchesName(likeliest, words);
  const chainsFound = chains !== null && <Chains key="chains" {...{ words, chains, context }} />;
  const contractsFound = contracts !== null && (
    <Contracts key="contracts" {...{ words, contracts, context }} />
  );
  return (
    <>
      <h1>Search</h1>
      <p class="lead">
        {words === '' ? (
          'Type an address, contract name, chain, transaction, code hash or job id above.'
        ) : (
          <>
            Results for “<SafeText text={words} />”
          </>
        )}
      </p>
      {isChainMeant ? [chainsFound, contractsFound] : [contractsFound, chainsFound]}
      {words !== '' && <Nothing {...{ words, data, base: context.base }} />}
      <DidYouMean chains={near} base={context.base} />
    </>
  );
}

function Chains({
  words,
  chains,
  context: { base },
}: {
  readonly words: string;
  readonly chains: Loaded<FoundChains>;
  readonly context: PageContext;
}): VNode | null {
  if (chains.state === 'failed') return <Failure what="The chains" loaded={chains} />;
  const { results, matching } = chains.value;
  if (matching === 0) return null;
  return (
    <section aria-labelledby="chains-found">
      <h2 id="chains-found">Chains</h2>
      <ul class="found">
        {results.map((chain) => (
          <li key={chain.chainId}>
            <ChainLink chain={chain} base={base} />
            {chain.supported && <span class="tag supported">supported</span>}
          </li>
        ))}
      </ul>
      {matching > results.length && (
        <p>
          <a href={`${base}registry?${new URLSearchParams({ q: words }).toString()}`}>
            All {formatCount(matching)} chains
          </a>
        </p>
      )}
    </section>
  );
}

function Contracts({
  words,
  contracts,
  context,
}: {
  readonly words: string;
  readonly contracts: NonNullable<ContractsData['list']>;
  readonly context: PageContext;
}): VNode | null {
  if (contracts.state === 'failed') return <Failure what="The contracts" loaded={contracts} />;
  const { contracts: found, next } = contracts.value;
  if (found.length === 0) return null;
  return (
    <section aria-labelledby="contracts-found">
      <h2 id="contracts-found">Contracts</h2>
      <ContractList
        contracts={found.map((each) => ({ ...each, ...listContract(each, each.chainName) }))}
        caption={`Contracts matching ${words}`}
        context={context}
        withChain
        withOrigin
      />
      {next !== null && (
        <p>
          <a href={`${context.base}contracts?${new URLSearchParams({ q: words }).toString()}`}>
            More contracts, with filters
          </a>
        </p>
      )}
    </section>
  );
}

/** Reports that nothing was found, and what to do. */
function Nothing({
  words,
  data: { chains, contracts },
  base,
}: {
  readonly words: string;
  readonly data: SearchData;
  readonly base: string;
}): VNode | null {
  const hasChains = chains?.state === 'ready' && chains.value.matching > 0;
  const hasContracts = contracts?.state === 'ready' && contracts.value.contracts.length > 0;
  const hasFailed = chains?.state === 'failed' || contracts?.state === 'failed';
  if (hasChains || hasContracts || hasFailed) return null;
  const kind = kindOfWords(words);
  return (
    <div class="notice" role="status">
      <p>
        <strong>
          No results for “<SafeText text={words} />
          ”.
        </strong>
      </p>
      {kind === 'address' ? (
        <p>
          Not verified here yet. That doesn't mean it's unsafe.{' '}
          <a href={`${base}verify?${new URLSearchParams({ address: words }).toString()}`}>
            Verify it
          </a>
        </p>
      ) : kind === 'malformed' ? (
        <p>An address has 40 hexadecimal digits after 0x; the first 8 are enough.</p>
      ) : (
        <p>
          Search contracts by address (the first 4 digits are enough), name, code hash or creation
          transaction, and chains by name or id.
        </p>
      )}
    </div>
  );
}
