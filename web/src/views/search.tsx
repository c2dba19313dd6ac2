import { type ComponentChildren, Fragment, type VNode } from 'preact';
import { type Loaded } from '../api.ts';
import { ChainLink } from '../chains/chain-link.tsx';
import { DidYouMean } from '../chains/did-you-mean.tsx';
import { type ContractsData } from '../contracts/find-contracts.ts';
import { kindOfWords } from '../contracts/contract-query.ts';
import { formatCount } from '../format.ts';
import { listContract } from '../listed-contract.ts';
import { definePage, onlyInTheService, type PageContext, type ViewProps } from '../page.ts';
import { ContractList } from '../parts/contract-list.tsx';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { type FoundSignature } from '../search/load-signatures.ts';
import { isEmpty, NO_JOB, searchAll, type SearchData, soleResult } from '../search/search-all.ts';
import { type Group, GROUP_NAMES, orderGroups } from '../search/search-groups.ts';
import { type FoundChains, isSelector, wordsOf } from '../search/search-words.ts';
import '../search/search.css';

/** All search results: contracts, chains, signatures, and the job with this id. */
export const page = definePage<SearchData>({
  isShared: true,
  section: 'search',
  title: ({ request }) => {
    const words = wordsOf(request.query);
    return `${words === '' ? '' : `${words} · `}Search`;
  },
  load: import.meta.env.SSR ? searchAll : onlyInTheService,
  redirect: ({ data, request }) => soleResult(wordsOf(request.query), data),
  status: ({ chains, contracts, job, signatures }) =>
    [chains, contracts, job, signatures].some(
      (part) => part?.state === 'failed' && part.status >= 500,
    )
      ? 503
      : 200,
  View: SearchView,
});

function SearchView({ data, request, context }: ViewProps<SearchData>): VNode {
  const words = wordsOf(request.query);
  const { chains, contracts, job, signatures, near } = data;
  const groups: Readonly<Record<Group, ComponentChildren>> = {
    contracts: contracts && <Contracts {...{ words, contracts, context }} />,
    chains: chains && <Chains {...{ words, chains, context }} />,
    jobs: job?.state === 'failed' && <NoJob job={job} />,
    signatures: signatures && <Signatures signatures={signatures} />,
  };
  const order = orderGroups(words, {
    chains: chains?.state === 'ready' ? chains.value.results : [],
    contracts: contracts?.state === 'ready' ? contracts.value.contracts : [],
    signatures: signatures?.state === 'ready' ? signatures.value : [],
  });
  return (
    <>
      <h1>Search</h1>
      <p class="lead">
        {words === '' ? (
          'Type an address, contract name, chain, transaction, code hash, job id, selector or signature above.'
        ) : (
          <>
            Results for{' '}
            <span class="search-words">
              “<SafeText text={words} />”
            </span>
          </>
        )}
      </p>
      {order.map((group) => (
        <Fragment key={group}>{groups[group]}</Fragment>
      ))}
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
      <h2 id="chains-found">{GROUP_NAMES.chains}</h2>
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
      <h2 id="contracts-found">{GROUP_NAMES.contracts}</h2>
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

function Signatures({
  signatures,
}: {
  readonly signatures: NonNullable<SearchData['signatures']>;
}): VNode | null {
  if (signatures.state === 'failed') return <Failure what="The signatures" loaded={signatures} />;
  if (signatures.value.length === 0) return null;
  return (
    <section aria-labelledby="signatures-found">
      <h2 id="signatures-found">{GROUP_NAMES.signatures}</h2>
      <ul class="found signatures">
        {signatures.value.map((found) => (
          <SignatureLine key={`${found.kind} ${found.signature}`} found={found} />
        ))}
      </ul>
    </section>
  );
}

function SignatureLine({
  found: { signature, kind, hashes, isVerified },
}: {
  readonly found: FoundSignature;
}): VNode {
  return (
    <li>
      <code>
        <SafeText text={signature} />
      </code>
      {hashes.map((hash) => (
        <span key={hash} class="quiet">
          {hash.length === 10 ? 'selector' : 'event topic'} <code>{hash}</code>
        </span>
      ))}
      {isVerified ? (
        <span class="tag">in verified contracts</span>
      ) : (
        <span class="quiet">
          {kind === 'any' ? 'No verified contract here declares it.' : 'not in verified contracts'}
        </span>
      )}
    </li>
  );
}

/** A job id that no job has, or whose job could not be read. */
function NoJob({
  job,
}: {
  readonly job: Extract<NonNullable<SearchData['job']>, { state: 'failed' }>;
}): VNode {
  if (job.status !== 404) return <Failure what="The job" loaded={job} />;
  return (
    <p class="notice" role="status">
      {NO_JOB}
    </p>
  );
}

/** Reports that nothing was found, and what to do. */
function Nothing({
  words,
  data,
  base,
}: {
  readonly words: string;
  readonly data: SearchData;
  readonly base: string;
}): VNode | null {
  const { chains, contracts, job, signatures } = data;
  const hasFailed = [chains, contracts, job, signatures].some((part) => part?.state === 'failed');
  if (hasFailed || !isEmpty(data)) return null;
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
        <p>An address has 40 hexadecimal digits after 0x; the first 4 are enough.</p>
      ) : (
        <p>
          {isSelector(words) && 'No signature with this selector is known here. '}
          Search contracts by address (the first 4 digits are enough), name, code hash or creation
          transaction, chains by name or id, and functions by selector or signature.
        </p>
      )}
    </div>
  );
}
