import { type Api, type Loaded } from '../api.ts';
import { nameWithdrawals } from '../charts/join-withdrawals.ts';
import { listContract } from '../listed-contract.ts';
import {
  type ContractPage,
  type Health,
  type History,
  type RegistryOverview,
  type StatisticsHistory,
  type StatisticsOverview,
} from '../answers.ts';
import { compareCounts, type CountsApart, takeApart, takeHistoryApart } from '../counts-apart.ts';
import { type ListedContract } from '../listed-contract.ts';

/** Statistics that the figures need: the complete list of chains is left out of the page. */
export interface Totals extends Pick<StatisticsOverview, 'asOf'> {
  readonly totals: CountsApart & Pick<StatisticsOverview['totals'], 'chains' | 'uniqueCodes'>;
  readonly changes: { readonly day: CountsApart; readonly week: CountsApart };
  /** The claims by the match that they report. */
  readonly claims: StatisticsOverview['totals']['claimed'];
  /** Most contracts first. */
  readonly chains: readonly TopChain[];
}

/** A chain with its counts. */
export interface TopChain extends CountsApart {
  readonly chainId: number;
  readonly name: string;
}

const CHAINS_SHOWN = 8;

/** The counts, now and over time. */
export interface OverviewCounts {
  readonly totals: Loaded<Totals>;
  readonly history: Loaded<History>;
}

/** Data of the overview. */
export interface OverviewData extends OverviewCounts {
  readonly latest: Loaded<readonly ListedContract[]>;
  readonly health: Loaded<Health>;
  /** Ids of chains with contracts that have an icon. */
  readonly withIcon: readonly number[];
}

/** Reads the data of the overview, each part independently. */
export async function loadOverview(api: Api): Promise<OverviewData> {
  const [{ names, ...counts }, contracts, health, registry] = await Promise.all([
    readCounts(api),
    api.get<ContractPage>('v1/contracts?limit=10'),
    api.get<Health>('health'),
    api.get<RegistryOverview>('v1/registry'),
  ]);
  const latest: OverviewData['latest'] =
    contracts.state === 'failed'
      ? contracts
      : {
          ...contracts,
          value: contracts.value.results.map((item) => listContract(item, names.get(item.chainId))),
        };
  const shown = registry.state === 'ready' ? registry.value.chains : [];
  // The page carries these ids, and names only chains with contracts.
  const withIcon = shown
    .filter(({ chainId, hasIcon }) => hasIcon === true && names.has(chainId))
    .map(({ chainId }) => chainId);
  return { ...counts, latest, health, withIcon };
}

/** Reads the counts, and the names of the chains that have some. */
export async function readCounts(
  api: Api,
): Promise<OverviewCounts & { readonly names: ReadonlyMap<number, string> }> {
  const [statistics, history] = await Promise.all([
    api.get<StatisticsOverview>('v1/statistics'),
    api.get<StatisticsHistory>('v1/statistics/history'),
  ]);
  const apart =
    history.state === 'ready' ? { ...history, value: takeHistoryApart(history.value) } : history;
  if (statistics.state === 'failed') {
    return { totals: statistics, history: apart, names: new Map() };
  }
  const { asOf, totals, changes, chains } = statistics.value;
  const largest = chains
    .map(takeApart)
    .sort(compareCounts)
    .slice(0, CHAINS_SHOWN)
    .map(({ chainId, name, full, partial, claimed }) => ({
      ...{ chainId, name, full, partial, claimed },
    }));
  const names = new Map(chains.map(({ chainId, name }) => [chainId, name]));
  return {
    totals: {
      ...statistics,
      value: {
        asOf,
        totals: takeApart(totals),
        changes: { day: takeApart(changes.day), week: takeApart(changes.week) },
        claims: totals.claimed,
        chains: largest,
      },
    },
    history:
      apart.state === 'ready' ? { ...apart, value: nameWithdrawals(apart.value, names) } : apart,
    names,
  };
}
