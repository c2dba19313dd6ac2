import { pathPart } from '../../../client/src/path-part.ts';
import { type Api, type Loaded } from '../api.ts';
import { nearestChains } from '../chains/nearest-chains.ts';
import { listContract } from '../listed-contract.ts';
import {
  type ChainCounts,
  type ChainDetails,
  type ChainHealth,
  type ChainMonitor,
  type ContractPage,
  type Health,
  type History,
  type RegistryLine,
  type RegistryOverview,
  type StatisticsHistory,
  type StatisticsOverview,
} from '../answers.ts';
import { takeApart, takeHistoryApart } from '../counts-apart.ts';
import { type ListedContract } from '../listed-contract.ts';

/** State of one endpoint, from the health report of its chain. */
export type EndpointHealth = ChainHealth['endpoints'][number];

/** Data of a chain page. */
export interface ChainData {
  readonly details: Loaded<ChainDetails>;
  /** Suggestions if there is no such chain, or several. */
  readonly nearest: readonly RegistryLine[];
  /** Absent if there is no such chain. */
  readonly rest?: {
    readonly health: Loaded<ChainHealth>;
    readonly monitor: Loaded<ChainMonitor>;
    /** `null` if the chain has no contracts. */
    readonly counts: Loaded<ChainCounts | null>;
    readonly history: Loaded<History>;
    readonly latest: Loaded<readonly ListedContract[]>;
    readonly service: Loaded<Health>;
  };
}

/** Reads a chain by its reference, and the rest by its id. */
export async function loadChain(api: Api, ref: string): Promise<ChainData> {
  const details = await api.get<ChainDetails>(`v1/chains/${pathPart(ref)}`);
  if (details.state === 'failed') {
    const isAnswer = details.status === 404 || details.status === 409;
    return { details, nearest: isAnswer ? await readNearest(api, ref) : [] };
  }
  const { chainId } = details.value.record;
  const [health, monitor, statistics, history, contracts, service] = await Promise.all([
    api.get<ChainHealth>(`v1/chains/${chainId}/health`),
    api.get<ChainMonitor>(`v1/chains/${chainId}/monitor`),
    api.get<StatisticsOverview>('v1/statistics'),
    api.get<StatisticsHistory>(`v1/statistics/history?chain=${chainId}`),
    api.get<ContractPage>(`v1/contracts?chain=${chainId}&limit=10`),
    api.get<Health>('health'),
  ]);
  const find = ({ chains }: StatisticsOverview): ChainCounts | null => {
    const found = chains.find((each) => each.chainId === chainId);
    return found === undefined ? null : takeApart(found);
  };
  return {
    details,
    nearest: [],
    rest: {
      health,
      monitor,
      service,
      counts:
        statistics.state === 'ready'
          ? { ...statistics, value: find(statistics.value) }
          : statistics,
      history:
        history.state === 'ready'
          ? { ...history, value: takeHistoryApart(history.value) }
          : history,
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

/** Meaning of the public list's red flags; a list may contain any text as a flag. */
const RED_FLAGS: ReadonlyMap<string, string> = new Map([
  [
    'reusedChainId',
    'Another chain uses the same id: a contract verified here may be a different one there.',
  ],
]);

/** Warnings about the chain, most severe first. */
export function findWarnings(
  {
    record,
    findings,
  }: Pick<ChainDetails, 'record'> & {
    readonly findings: readonly ChainDetails['findings'][number][];
  },
  health: Pick<ChainHealth, 'endpoints'> | undefined,
): readonly { readonly code: string; readonly text: string }[] {
  const foreign = health?.endpoints.filter(({ state }) => state === 'wrong_chain') ?? [];
  return [
    ...(record.redFlags ?? []).map((code) => ({
      code,
      text: RED_FLAGS.get(code) ?? `The public list marks this chain: ${code}.`,
    })),
    ...(record.status === 'deprecated'
      ? [{ code: 'deprecated', text: 'The chain record says that this chain is no longer used.' }]
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
 * URLs of the published endpoints, which are listed in the order of `rpc`. If the two lists do not match, for
 * example because one is newer, the label is shown instead.
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
    // A label counts the endpoints of a host that has several.
    if (endpoint.label.startsWith(new URL(url).hostname)) pairs.set(endpoint, url);
  }
  return pairs;
}
