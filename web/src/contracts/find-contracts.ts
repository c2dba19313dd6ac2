import { type Api, type Loaded } from '../api.ts';
import { type ContractItem, type ContractPage, type StatisticsOverview } from '../shapes.ts';
import { type ContractQuery, kindOfWords, parseContractQuery } from './contract-query.ts';

/** A verified contract with the name of its chain, where that is known. */
export interface FoundContract extends ContractItem {
  readonly chainName?: string;
}

/** A page of the list. */
export interface FoundContracts {
  readonly contracts: readonly FoundContract[];
  /** How many a search found on this page before the filters took some away. */
  readonly found: number;
  /** The `after` of the next page. */
  readonly next: string | null;
}

/** The chain that the list is narrowed to. */
interface ChosenChain {
  readonly chainId: number;
  readonly name?: string;
}

/** What the view of contracts shows. */
export interface ContractsData {
  /** Null where none is chosen. */
  readonly chain: Loaded<ChosenChain> | null;
  /** Null where nothing could be asked: the words are malformed, or the chain is not known. */
  readonly list: Loaded<FoundContracts> | null;
}

const PAGE = 50;
/** Filters take contracts out of what a search finds, so it looks at more at a time. */
const SEARCHED = 200;

/** Reads what the query of a URL asks for. */
export async function loadContracts(
  api: Api,
  { query }: { readonly query: string },
): Promise<ContractsData> {
  const asked = parseContractQuery(query);
  const [chain, statistics] = await Promise.all([
    findChain(api, asked.chain),
    api.get<StatisticsOverview>('v1/statistics'),
  ]);
  if (chain?.state === 'failed' || kindOfWords(asked.words) === 'malformed') {
    return { chain, list: null };
  }
  const list = await readPage(api, asked, chain?.value.chainId);
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

/** A number is a chain id, also of a chain that the registry does not have. */
async function findChain(api: Api, reference: string): Promise<Loaded<ChosenChain> | null> {
  if (reference === '') return null;
  const found = await api.get<ChosenChain>(`chains/${encodeURIComponent(reference)}`);
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
  { words, match, origin, after }: ContractQuery,
  chainId: number | undefined,
): Promise<Loaded<FoundContracts>> {
  const isSearch = words !== '';
  const filters = { chain: String(chainId ?? ''), match, origin };
  const isNarrowed = Object.values(filters).some((value) => value !== '');
  const parameters = isSearch
    ? { q: words, after, limit: String(isNarrowed ? SEARCHED : PAGE) }
    : { ...filters, after, limit: String(PAGE) };
  const set = Object.entries(parameters).filter(([, value]) => value !== '');
  const path = `v1/contracts${isSearch ? '/search' : ''}?${new URLSearchParams(set).toString()}`;
  const page = await api.get<ContractPage>(path);
  if (page.state === 'failed') return page;
  const { results, next } = page.value;
  const contracts = results.filter(
    (item) =>
      (chainId === undefined || item.chainId === chainId) &&
      (match === '' || item.match === match) &&
      (origin === '' || item.origin === origin),
  );
  return { ...page, value: { contracts, found: results.length, next } };
}

/** The one contract that a whole address names; undefined where there are several, or more may come. */
export function soleContract(
  { words, after }: ContractQuery,
  { list }: ContractsData,
): FoundContract | undefined {
  if (kindOfWords(words) !== 'address' || after !== '' || list?.state !== 'ready') return undefined;
  const { contracts, next } = list.value;
  return contracts.length === 1 && next === null ? contracts[0] : undefined;
}
