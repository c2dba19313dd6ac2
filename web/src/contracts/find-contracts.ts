import { pathPart } from '../../../client/src/path-part.ts';
import { type Api, type Loaded } from '../api.ts';
import { type ContractItem, type ContractPage, type StatisticsOverview } from '../answers.ts';
import { type ContractQuery, kindOfWords, parseContractQuery } from './contract-query.ts';

/** A verified contract with the name of its chain, if known. */
export interface FoundContract extends ContractItem {
  readonly chainName?: string;
}

/** A page of the list. */
export interface FoundContracts {
  readonly contracts: readonly FoundContract[];
  /** Whether the filters exclude all search results. */
  readonly isRuledOut: boolean;
  /** The `after` of the next page. */
  readonly next: string | null;
}

/** The chain that the list is filtered by. */
interface ChosenChain {
  readonly chainId: number;
  readonly name?: string;
}

/** Data of the contracts view. */
export interface ContractsData {
  /** Null if none is selected. */
  readonly chain: Loaded<ChosenChain> | null;
  /** Null if there was nothing to query: the text is malformed, or the chain is unknown. */
  readonly list: Loaded<FoundContracts> | null;
}

const PAGE = 50;

/** Reads the contracts for the query of a URL. */
export async function loadContracts(
  api: Api,
  { query }: { readonly query: string },
): Promise<ContractsData> {
  const search = parseContractQuery(query);
  const [chain, statistics] = await Promise.all([
    findChain(api, search.chain),
    api.get<StatisticsOverview>('v1/statistics'),
  ]);
  if (chain?.state === 'failed' || kindOfWords(search.words) === 'malformed') {
    return { chain, list: null };
  }
  const list = await readPage(api, search, chain?.value.chainId);
  if (list.state === 'failed') return { chain, list };
  const names = new Map(
    statistics.state === 'ready'
      ? statistics.value.chains.map(({ chainId, name }) => [chainId, name])
      : [],
  );
  const contracts = list.value.contracts.map((item): FoundContract => {
    const chainName = names.get(item.chainId);
    return chainName === undefined ? item : { ...item, chainName };
  });
  return { chain, list: { ...list, value: { ...list.value, contracts } } };
}

/** A number is a chain id, also of a chain that is not in the registry. */
async function findChain(api: Api, reference: string): Promise<Loaded<ChosenChain> | null> {
  if (reference === '') return null;
  const found = await api.get<ChosenChain>(`chains/${pathPart(reference)}`);
  if (found.state === 'ready') {
    const { chainId, name } = found.value;
    return { ...found, value: name === undefined ? { chainId } : { chainId, name } };
  }
  const chainId = Number(reference);
  const isId = /^[1-9]\d*$/.test(reference) && Number.isSafeInteger(chainId);
  return isId ? { state: 'ready', value: { chainId }, readAt: found.failedAt } : found;
}

async function readPage(
  api: Api,
  { words, match, origin, trust, after }: ContractQuery,
  chainId: number | undefined,
): Promise<Loaded<FoundContracts>> {
  const ask = (parameters: Readonly<Record<string, string>>): Promise<Loaded<ContractPage>> => {
    const set = Object.entries({ q: words, ...parameters }).filter(([, value]) => value !== '');
    const path = `v1/contracts${words === '' ? '' : '/search'}`;
    return api.get(`${path}?${new URLSearchParams(set).toString()}`);
  };
  const filters = { chain: String(chainId ?? ''), match, origin, trust };
  const page = await ask({ ...filters, after, limit: String(PAGE) });
  if (page.state === 'failed') return page;
  const { results: contracts, next } = page.value;
  const isNarrowed = Object.values(filters).some((value) => value !== '');
  const isNothing = contracts.length === 0 && next === null && after === '';
  const isMaybeRuledOut = isNarrowed && isNothing;
  if (words === '' || !isMaybeRuledOut) {
    return { ...page, value: { contracts, next, isRuledOut: isMaybeRuledOut } };
  }
  const any = await ask({ limit: '1' });
  if (any.state === 'failed') return any;
  return { ...page, value: { contracts, next, isRuledOut: any.value.results.length > 0 } };
}

/** The single contract that a complete address refers to; undefined if there are several, or more may follow. */
export function soleContract(
  { words, after }: ContractQuery,
  { list }: ContractsData,
): FoundContract | undefined {
  if (kindOfWords(words) !== 'address' || after !== '' || list?.state !== 'ready') return undefined;
  const { contracts, next } = list.value;
  return contracts.length === 1 && next === null ? contracts[0] : undefined;
}
