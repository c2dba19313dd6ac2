import { pathPart } from '../../../client/src/path-part.ts';
import { type Api, type Loaded } from '../api.ts';
import { type RegistryLine, type RegistryOverview } from '../answers.ts';
import { nearestChains } from '../chains/nearest-chains.ts';
import { kindOfWords } from '../contracts/contract-query.ts';
import { type ContractsData, loadContracts } from '../contracts/find-contracts.ts';
import { chainsPath, type FoundChains, mayNameChain, wordsOf } from './search-words.ts';

/** Search results in everything that the service knows. */
export interface SearchData {
  /** Null if the text cannot refer to a chain. */
  readonly chains: Loaded<FoundChains> | null;
  /** Null if nothing was searched. */
  readonly contracts: ContractsData['list'];
  /** Whether the text is the id of a verification job. */
  readonly isJob: boolean;
  /** Chains with similar names, if nothing was found. */
  readonly near: readonly RegistryLine[];
}

const CHAINS_SHOWN = 8;
const JOB_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NOTHING: SearchData = { chains: null, contracts: null, isJob: false, near: [] };

/** Searches chains, contracts and jobs concurrently. */
export async function searchAll(
  api: Api,
  { query }: { readonly query: string },
): Promise<SearchData> {
  const words = wordsOf(query);
  if (words === '') return NOTHING;
  if (JOB_ID.test(words)) {
    const job = await api.get(`v1/jobs/${pathPart(words.toLowerCase())}`);
    if (job.state === 'ready') return { ...NOTHING, isJob: true };
  }
  const [chains, { list: contracts }] = await Promise.all([
    mayNameChain(words) ? api.get<FoundChains>(chainsPath(words, CHAINS_SHOWN)) : null,
    loadContracts(api, { query: new URLSearchParams({ q: words }).toString() }),
  ]);
  const found = { chains, contracts, isJob: false, near: [] };
  const isNothing =
    (chains?.state !== 'ready' || chains.value.matching === 0) &&
    (contracts?.state !== 'ready' || contracts.value.contracts.length === 0);
  if (!isNothing || !mayNameChain(words)) return found;
  const registry = await api.get<RegistryOverview>('v1/registry');
  if (registry.state === 'failed') return found;
  return { ...found, near: nearestChains(registry.value.chains, words) };
}

/** Target of a search text that identifies a single thing: a job, a chain by its id, a contract by its address. */
export function soleResult(
  words: string,
  { chains, contracts, isJob }: SearchData,
): string | undefined {
  if (isJob) return `job/${words.toLowerCase()}`;
  const listed = contracts?.state === 'ready' ? contracts.value : undefined;
  const [contract] = listed?.contracts ?? [];
  const isSole = listed?.contracts.length === 1 && listed.next === null;
  if (kindOfWords(words) === 'address' && isSole) {
    return `contract/${contract?.chainId ?? ''}/${contract?.address ?? ''}`;
  }
  const id = /^(?:eip155:)?([1-9][0-9]*)$/.exec(words)?.[1];
  const [chain] = chains?.state === 'ready' ? chains.value.results : [];
  const isChain = id !== undefined && String(chain?.chainId) === id;
  return isChain && contract === undefined ? `registry/${id}` : undefined;
}
