import { type Api, type Loaded } from '../api.ts';
import { nearestChains } from '../chains/nearest-chains.ts';
import { listContract } from '../listed-contract.ts';
import {
  type ChainCounts,
  type ContractPage,
  type Health,
  type ListedContract,
  type RegistryLine,
  type RegistryOverview,
  type StatisticsHistory,
  type StatisticsOverview,
} from '../shapes.ts';

/** What the page needs of a chain record; it shows every field of it, known or not. */
export interface ChainRecord {
  readonly name: string;
  readonly chainId: number;
  readonly shortName?: string;
  readonly nativeCurrency?: {
    readonly name: string;
    readonly symbol: string;
    readonly decimals: number;
  };
  readonly network?: string;
  readonly status?: string;
  readonly infoURL?: string;
  readonly explorers?: readonly { readonly name: string; readonly url: string }[];
  readonly rpc: readonly string[];
  readonly redFlags?: readonly string[];
  readonly supported: boolean;
  readonly monitored: boolean;
}

/** GET /v1/chains/{ref}. */
export interface ChainDetails {
  readonly record: ChainRecord;
  readonly testnet: boolean;
  readonly local: boolean;
  readonly origins: Readonly<Record<string, string>>;
  readonly findings: readonly {
    readonly level: 'error' | 'warning' | 'info';
    readonly code: string;
    readonly message: string;
  }[];
}

/** GET /v1/chains/{ref}/health. */
export interface ChainHealth {
  readonly state: string;
  readonly since?: string;
  readonly reasons: readonly { readonly code: string; readonly detail: string }[];
  readonly endpoints: readonly EndpointHealth[];
}

/** An endpoint of {@link ChainHealth}. */
export interface EndpointHealth {
  readonly label: string;
  readonly public: boolean;
  readonly state: string;
  readonly since?: string;
  readonly reasons: readonly { readonly code: string; readonly detail: string }[];
  readonly checkedAt?: string;
  readonly head?: { readonly number: number; readonly ageSeconds?: number };
  readonly lagBlocks?: number;
  readonly latency?: { readonly p50Ms: number; readonly p95Ms: number };
  readonly archive: string;
  readonly trace: string;
}

/** All that the page of a chain shows. */
export interface ChainData {
  readonly details: Loaded<ChainDetails>;
  /** Where there is no such chain, or there are several: those that may be meant. */
  readonly nearest: readonly RegistryLine[];
  /** Absent where there is no such chain. */
  readonly rest?: {
    readonly health: Loaded<ChainHealth>;
    /** `null` where the chain has no contracts. */
    readonly counts: Loaded<ChainCounts | null>;
    readonly history: Loaded<StatisticsHistory>;
    readonly latest: Loaded<readonly ListedContract[]>;
    readonly service: Loaded<Health>;
  };
}

/** Reads a chain by its reference, and the rest by its id. */
export async function loadChain(api: Api, ref: string): Promise<ChainData> {
  const details = await api.get<ChainDetails>(`v1/chains/${encodeURIComponent(ref)}`);
  if (details.state === 'failed') {
    const isAnswer = details.status === 404 || details.status === 409;
    return { details, nearest: isAnswer ? await readNearest(api, ref) : [] };
  }
  const { chainId } = details.value.record;
  const [health, statistics, history, contracts, service] = await Promise.all([
    api.get<ChainHealth>(`v1/chains/${chainId}/health`),
    api.get<StatisticsOverview>('v1/statistics'),
    api.get<StatisticsHistory>(`v1/statistics/history?chain=${chainId}`),
    api.get<ContractPage>(`v1/contracts?chain=${chainId}&limit=10`),
    api.get<Health>('health'),
  ]);
  const find = ({ chains }: StatisticsOverview): ChainCounts | null =>
    chains.find((each) => each.chainId === chainId) ?? null;
  return {
    details,
    nearest: [],
    rest: {
      health,
      service,
      counts:
        statistics.state === 'ready'
          ? { ...statistics, value: find(statistics.value) }
          : statistics,
      history,
      latest:
        contracts.state === 'failed'
          ? contracts
          : { ...contracts, value: contracts.value.results.map((item) => listContract(item)) },
    },
  };
}

async function readNearest(api: Api, ref: string): Promise<readonly RegistryLine[]> {
  const registry = await api.get<RegistryOverview>('v1/registry');
  return registry.state === 'failed' ? [] : nearestChains(registry.value.chains, ref);
}

/** What the public list's red flags say; a list may hold any text for a flag. */
const RED_FLAGS: ReadonlyMap<string, string> = new Map([
  [
    'reusedChainId',
    'Another chain uses this id too: a contract that is verified here may be another one there.',
  ],
]);

/** What a reader should beware of, gravest first. */
export function findWarnings(
  { record, findings }: ChainDetails,
  health: ChainHealth | undefined,
): readonly { readonly code: string; readonly text: string }[] {
  const foreign = health?.endpoints.filter(({ state }) => state === 'wrong_chain') ?? [];
  return [
    ...(record.redFlags ?? []).map((code) => ({
      code,
      text: RED_FLAGS.get(code) ?? `The public list marks this chain: ${code}.`,
    })),
    ...(record.status === 'deprecated'
      ? [{ code: 'deprecated', text: 'By its record this chain is out of use.' }]
      : []),
    ...foreign.map(({ label, reasons }) => ({
      code: 'wrong_chain',
      text: `The endpoint ${label} answers for another chain. ${reasons.map(({ detail }) => detail).join(' ')}`,
    })),
    ...findings
      .filter(({ level }) => level !== 'info')
      .map(({ code, message }) => ({ code, text: message })),
  ];
}

/**
 * The URLs of endpoints where they may be told: public endpoints stand in the order of `rpc`. Where the two lists do not
 * fit each other, as when one is of another moment, the label has to do.
 */
export function pairUrls(
  endpoints: readonly EndpointHealth[],
  rpc: readonly string[],
): ReadonlyMap<EndpointHealth, string> {
  const open = endpoints.filter((endpoint) => endpoint.public);
  const pairs = new Map<EndpointHealth, string>();
  if (open.length !== rpc.length) return pairs;
  for (const [index, endpoint] of open.entries()) {
    const url = rpc[index] ?? '';
    if (!URL.canParse(url)) continue;
    // A label counts the endpoints of a host where it has several.
    if (endpoint.label.startsWith(new URL(url).hostname)) pairs.set(endpoint, url);
  }
  return pairs;
}
