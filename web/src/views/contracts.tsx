import { type VNode } from 'preact';
import { type Loaded } from '../api.ts';
import { ContractFilters } from '../contracts/contract-filters.tsx';
import {
  type ContractQuery,
  formatContractPath,
  kindOfWords,
  parseContractQuery,
} from '../contracts/contract-query.ts';
import {
  type ContractsData,
  type FoundContracts,
  loadContracts,
  soleContract,
} from '../contracts/find-contracts.ts';
import { NothingFound } from '../contracts/nothing-found.tsx';
import { saveAsCsv, saveAsJson } from '../contracts/save-contracts.ts';
import { formatCount } from '../format.ts';
import { listContract } from '../listed-contract.ts';
import { definePage, onlyInTheService, type PageContext, type ViewProps } from '../page.ts';
import { ContractList } from '../parts/contract-list.tsx';
import { Downloads } from '../parts/downloads.tsx';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import './chains.css';
import './contracts.css';

/** Verified contracts: the newest first, or search results. */
export const page = definePage<ContractsData>({
  isShared: true,
  section: 'contracts',
  title: ({ request }) => {
    const { words } = parseContractQuery(request.query);
    return `${words === '' ? '' : `${words} · `}Contracts`;
  },
  load: import.meta.env.SSR ? loadContracts : onlyInTheService,
  redirect: ({ data, request }) => {
    const sole = soleContract(parseContractQuery(request.query), data);
    return sole && `contract/${sole.chainId}/${sole.address}`;
  },
  status: ({ chain, list }) => {
    const failed = [chain, list].find((part) => part?.state === 'failed');
    if (failed === undefined) return 200;
    return isFault(failed) ? failed.status : 503;
  },
  View: ContractsView,
});

type Failed = Extract<Loaded<unknown>, { state: 'failed' }>;

/** Whether the query is invalid, so that repeating it changes nothing. */
function isFault({ status }: Failed): boolean {
  return status >= 400 && status < 500;
}

function ContractsView({ data, request, context }: ViewProps<ContractsData>): VNode {
  const query = parseContractQuery(request.query);
  const { chain, list } = data;
  return (
    <>
      <h1>Contracts</h1>
      <p class="lead">
        Contracts verified here or imported
        {chain?.state === 'ready' && <OnChain {...chain.value} />}, newest first.
      </p>
      <ContractFilters
        query={query}
        base={context.base}
        isMalformed={kindOfWords(query.words) === 'malformed'}
      />
      {chain?.state === 'failed' && (
        <NotRead what="The chain" loaded={chain}>
          <a
            class="button"
            href={`${context.base}registry?${new URLSearchParams({ q: query.chain }).toString()}`}
          >
            Search the chains for it
          </a>
        </NotRead>
      )}
      {list?.state === 'failed' && (
        <NotRead what="The contracts" loaded={list}>
          <a class="button" href={`${context.base}${formatContractPath({ ...query, after: '' })}`}>
            Start over
          </a>
        </NotRead>
      )}
      {list?.state === 'ready' && (
        <List
          {...list.value}
          query={query}
          chainId={chain?.state === 'ready' ? chain.value.chainId : undefined}
          context={context}
        />
      )}
    </>
  );
}

function OnChain({ chainId, name }: { readonly chainId: number; readonly name?: string }): VNode {
  return <> on {name === undefined ? `chain ${chainId}` : <SafeText text={name} />}</>;
}

/** Reports a failed read, with a corrected query or a way to retry. */
function NotRead({
  what,
  loaded,
  children,
}: {
  readonly what: string;
  readonly loaded: Failed;
  readonly children: VNode;
}): VNode {
  if (!isFault(loaded)) return <Failure what={what} loaded={loaded} />;
  return (
    <div class="notice" role="alert">
      <p>
        <SafeText text={loaded.message} /> <code>{loaded.code}</code>
      </p>
      <p>{children}</p>
    </div>
  );
}

function List({
  contracts,
  isRuledOut,
  next,
  query,
  chainId,
  context,
}: FoundContracts & {
  readonly query: ContractQuery;
  readonly chainId: number | undefined;
  readonly context: PageContext;
}): VNode {
  const summary = describe(contracts.length, next, query);
  const isOtherPage = query.after !== '';
  const linkTo = (after: string): string =>
    `${context.base}${formatContractPath({ ...query, after })}`;
  return (
    <>
      <div class="result-line">
        <p role="status">{summary}</p>
        {contracts.length > 0 && (
          <Downloads
            name="contracts"
            makeCsv={() => saveAsCsv(contracts)}
            makeJson={() => saveAsJson(contracts)}
          />
        )}
      </div>
      {contracts.length === 0 ? (
        <NothingFound
          query={query}
          next={next}
          isRuledOut={isRuledOut}
          chainId={chainId}
          base={context.base}
        />
      ) : (
        <ContractList
          contracts={contracts.map((each) => ({ ...each, ...listContract(each, each.chainName) }))}
          caption={summary}
          context={context}
          withChain
          withOrigin
        />
      )}
      {(isOtherPage || next !== null) && (
        <nav class="pager" aria-label="Pages of the list">
          {isOtherPage && <a href={linkTo('')}>{query.words === '' ? 'Newest' : 'First page'}</a>}
          {next !== null && (
            <a href={linkTo(next)} rel="next">
              {query.words === '' ? 'Older' : 'More'}
            </a>
          )}
        </nav>
      )}
    </>
  );
}

/** Describes the list in a sentence. */
function describe(shown: number, next: string | null, { words }: ContractQuery): string {
  if (shown === 0) return next === null ? 'No contract was found' : 'No matches so far';
  const contracts = shown === 1 ? 'contract' : 'contracts';
  const count = formatCount(shown);
  return words === ''
    ? `Showing ${count} ${contracts}, newest first`
    : `Showing ${count} matching ${contracts}`;
}
