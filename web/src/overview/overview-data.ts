import { type Api, type Loaded } from '../api.ts';
import { nameWithdrawals } from '../charts/join-withdrawals.ts';
import { listContract } from '../listed-contract.ts';
import {
  type ContractPage,
  type Health,
  type StatisticsHistory,
  type StatisticsOverview,
} from '../answers.ts';
import { type ListedContract } from '../listed-contract.ts';

/** Statistics that the figures need: the complete list of chains is left out of the page. */
export interface Totals extends Pick<StatisticsOverview, 'asOf' | 'totals' | 'changes'> {
  /** Part of the totals that other services claim, and that was not checked here. */
  readonly claimed: StatisticsOverview['origins']['imported'];
  /** Most contracts first. */
  readonly chains: readonly TopChain[];
}

/** A chain with its counts. */
export type TopChain = Pick<
  StatisticsOverview['chains'][number],
  'chainId' | 'name' | 'full' | 'partial'
>;

const CHAINS_SHOWN = 8;

/** The counts, now and over time. */
export interface OverviewCounts {
  readonly totals: Loaded<Totals>;
  readonly history: Loaded<StatisticsHistory>;
}

/** Data of the overview. */
export interface OverviewData extends OverviewCounts {
  readonly latest: Loaded<readonly ListedContract[]>;
  readonly health: Loaded<Health>;
}

/** Reads the data of the overview, each part independently. */
export async function loadOverview(api: Api): Promise<OverviewData> {
  const [{ names, ...counts }, contracts, health] = await Promise.all([
    readCounts(api),
    api.get<ContractPage>('v1/contracts?limit=10'),
    api.get<Health>('health'),
  ]);
  const latest: OverviewData['latest'] =
    contracts.state === 'failed'
      ? contracts
      : {
          ...contracts,
          value: contracts.value.results.map((item) => listContract(item, names.get(item.chainId))),
        };
  return { ...counts, latest, health };
}

/** Reads the counts, and the names of the chains that have some. */
export async function readCounts(
  api: Api,
): Promise<OverviewCounts & { readonly names: ReadonlyMap<number, string> }> {
  const [statistics, history] = await Promise.all([
    api.get<StatisticsOverview>('v1/statistics'),
    api.get<StatisticsHistory>('v1/statistics/history'),
  ]);
  if (statistics.state === 'failed') return { totals: statistics, history, names: new Map() };
  const { asOf, totals, changes, chains, origins } = statistics.value;
  const sizeOf = ({ full, partial }: TopChain): number => full + partial;
  const largest = [...chains]
    .sort((left, right) => sizeOf(right) - sizeOf(left))
    .slice(0, CHAINS_SHOWN)
    .map(({ chainId, name, full, partial }) => ({ chainId, name, full, partial }));
  const names = new Map(chains.map(({ chainId, name }) => [chainId, name]));
  return {
    totals: {
      ...statistics,
      value: { asOf, totals, changes, claimed: origins.imported, chains: largest },
    },
    history:
      history.state === 'ready'
        ? { ...history, value: nameWithdrawals(history.value, names) }
        : history,
    names,
  };
}
