import { type Api, type Loaded } from '../api.ts';
import { type ContractPage } from '../answers.ts';
import { type FoundSignature, loadSignatures } from './load-signatures.ts';
import { type FoundJob, loadJob, NO_JOB } from './search-all.ts';
import { type Group, orderGroups } from './search-groups.ts';
import {
  chainsPath,
  type FoundChain,
  type FoundChains,
  isExactChain,
  isJobId,
  matchesName,
  mayNameChain,
  mayNameContract,
} from './search-words.ts';

/** A suggestion: its link and its texts. */
interface Suggestion {
  readonly group: Group;
  /** Relative to the root of the API host. */
  readonly path: string;
  readonly name: string;
  readonly about: string;
}

/** Suggestions in the order of their groups, and the message if there are none. */
export interface Suggestions {
  readonly list: readonly Suggestion[];
  readonly note: string;
}

/** More than {@link CHAINS}, because some results match elsewhere than in their names. */
const CHAINS_READ = 12;
const CHAINS = 4;
const CONTRACTS = 5;
const SIGNATURES = 4;

/** Suggests results for a text. A failed read suggests nothing: the search page reports the error. */
export async function suggest(api: Api, words: string): Promise<Suggestions> {
  const [chains, contracts, job, signatures] = await Promise.all([
    readChains(api, words),
    readContracts(api, words),
    isJobId(words) ? loadJob(api, words) : null,
    loadSignatures(api, words),
  ]);
  const known = valueOf(signatures) ?? [];
  const of: Readonly<Record<Group, readonly Suggestion[]>> = {
    contracts: contracts.map(suggestContract),
    chains: chains.map(suggestChain),
    jobs: job?.state === 'ready' ? [suggestJob(job.value)] : [],
    signatures: distinct(known).slice(0, SIGNATURES).map(suggestSignature),
  };
  const order = orderGroups(words, { chains, contracts, signatures: known });
  const isUnknownJob = job?.state === 'failed' && job.status === 404;
  return { list: order.flatMap((group) => of[group]), note: isUnknownJob ? NO_JOB : '' };
}

/** Removes duplicates: a function and an event with the same signature lead to the same results. */
const distinct = (found: readonly FoundSignature[]): readonly FoundSignature[] => [
  ...new Map(found.map((each) => [each.signature, each])).values(),
];

const valueOf = <Value>(loaded: Loaded<Value> | null): Value | undefined =>
  loaded?.state === 'ready' ? loaded.value : undefined;

async function readChains(api: Api, words: string): Promise<readonly FoundChain[]> {
  if (!mayNameChain(words)) return [];
  const found = valueOf(await api.get<FoundChains>(chainsPath(words, CHAINS_READ)));
  return (found?.results ?? [])
    .filter((chain) => isExactChain(chain, words) || matchesName(chain, words))
    .slice(0, CHAINS);
}

async function readContracts(api: Api, words: string): Promise<ContractPage['results']> {
  if (!mayNameContract(words)) return [];
  const query = new URLSearchParams({ q: words, limit: String(CONTRACTS) });
  const found = await api.get<ContractPage>(`v1/contracts/search?${query.toString()}`);
  return valueOf(found)?.results ?? [];
}

const shorten = (address: string): string => `${address.slice(0, 8)}…${address.slice(-4)}`;

const suggestChain = ({ chainId, name }: FoundChain): Suggestion => ({
  ...{ group: 'chains', path: `registry/${chainId}`, name, about: `chain ${chainId}` },
});

const suggestContract = ({
  chainId,
  address,
  name,
}: ContractPage['results'][number]): Suggestion => ({
  group: 'contracts',
  path: `contract/${chainId}/${address}`,
  name: name ?? 'no name',
  about: `${shorten(address)} on chain ${chainId}`,
});

const suggestJob = ({ id, state, chainId, address }: FoundJob): Suggestion => ({
  group: 'jobs',
  path: `job/${id}`,
  name: `Verification ${state}`,
  about: `${shorten(address)} on chain ${chainId}`,
});

const suggestSignature = ({ signature, kind, hashes }: FoundSignature): Suggestion => ({
  group: 'signatures',
  path: `search?${new URLSearchParams({ q: signature }).toString()}`,
  name: signature,
  // A topic is too long for a line of suggestions.
  about: kind === 'event' ? 'event' : (hashes[0] ?? ''),
});
