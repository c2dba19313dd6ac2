import { pathPart } from '../../../client/src/path-part.ts';
import { type Api, type Loaded } from '../api.ts';
import { type JobState, type RegistryLine, type RegistryOverview } from '../answers.ts';
import { nearestChains } from '../chains/nearest-chains.ts';
import { kindOfWords } from '../contracts/contract-query.ts';
import { type ContractsData, loadContracts } from '../contracts/find-contracts.ts';
import { type FoundSignature, loadSignatures } from './load-signatures.ts';
import {
  chainsPath,
  type FoundChains,
  isJobId,
  mayNameChain,
  mayNameContract,
  wordsOf,
} from './search-words.ts';

/** The job with the id that was searched. */
export type FoundJob = Pick<JobState, 'id' | 'state' | 'chainId' | 'address'>;

/** Search results of each kind; null if the text cannot refer to that kind. */
export interface SearchData {
  readonly chains: Loaded<FoundChains> | null;
  readonly contracts: ContractsData['list'];
  readonly job: Loaded<FoundJob> | null;
  readonly signatures: Loaded<readonly FoundSignature[]> | null;
  /** Chains with similar names, if nothing was found. */
  readonly near: readonly RegistryLine[];
}

const CHAINS_SHOWN = 8;
const NOTHING: SearchData = {
  chains: null,
  contracts: null,
  job: null,
  signatures: null,
  near: [],
};

/** Message for an unknown job id. */
export const NO_JOB =
  'There is no verification job with this id; jobs are deleted after 30 days, verified contracts are kept.';

/** Searches chains, contracts, jobs and signatures concurrently. */
export async function searchAll(
  api: Api,
  { query }: { readonly query: string },
): Promise<SearchData> {
  const words = wordsOf(query);
  if (words === '') return NOTHING;
  const [chains, contracts, job, signatures] = await Promise.all([
    mayNameChain(words) ? api.get<FoundChains>(chainsPath(words, CHAINS_SHOWN)) : null,
    mayNameContract(words)
      ? loadContracts(api, { query: new URLSearchParams({ q: words }).toString() })
      : null,
    isJobId(words) ? loadJob(api, words) : null,
    loadSignatures(api, words),
  ]);
  const found = { chains, contracts: contracts?.list ?? null, job, signatures, near: [] };
  if (!mayNameChain(words) || !isEmpty(found)) return found;
  const registry = await api.get<RegistryOverview>('v1/registry');
  if (registry.state === 'failed') return found;
  return { ...found, near: nearestChains(registry.value.chains, words) };
}

/** Whether nothing was found: a part that could not be read may have results. */
export function isEmpty({ chains, contracts, job, signatures }: SearchData): boolean {
  return (
    (chains?.state !== 'ready' || chains.value.matching === 0) &&
    (contracts?.state !== 'ready' || contracts.value.contracts.length === 0) &&
    job?.state !== 'ready' &&
    (signatures?.state !== 'ready' || signatures.value.length === 0)
  );
}

/** Reads the job with an id, without its outcome, which may be large. */
export async function loadJob(api: Api, words: string): Promise<Loaded<FoundJob>> {
  const job = await api.get<JobState>(`v1/jobs/${pathPart(words.toLowerCase())}`);
  if (job.state === 'failed') return job;
  const { id, state, chainId, address } = job.value;
  return { ...job, value: { id, state, chainId, address } };
}

/** Target of a search text that identifies a single thing: a job, a chain by its id, a contract by its address. */
export function soleResult(
  words: string,
  { chains, contracts, job }: SearchData,
): string | undefined {
  if (job?.state === 'ready') return `job/${job.value.id}`;
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
