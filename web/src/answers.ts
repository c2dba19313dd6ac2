import {
  type ContractEvents,
  type ContractSummary,
  type RegistryOverview,
  type StatisticsHistory,
  type StatisticsOverview,
  type V2Contract,
} from '../../client/src/schemas.ts';
import { type CountsApart, type MatchCounts } from './counts-apart.ts';

// Response types of the API, derived from the types generated from openapi.json.
export {
  type ChainDetails,
  type ChainFolder,
  type ChainHealth,
  type ChainMonitor,
  type ChainRecord,
  type ContractEvents,
  type ContractFolder,
  type ContractPage,
  type ContractSummary,
  type Evidence,
  type Health,
  type JobState,
  type MatchFolder,
  type OperatorState,
  type RegistryOverview,
  type RootFolder,
  type SourcePage,
  type StatisticsHistory,
  type StatisticsOverview,
  type Version,
  type WithdrawnMatch,
} from '../../client/src/schemas.ts';

export { type MatchCounts } from './counts-apart.ts';

/** Counts with claims apart: see {@link CountsApart}. */
type Apart<Counts extends MatchCounts> = Omit<Counts, keyof CountsApart> & CountsApart;

/** The counts of one chain, and the time of its last verification. */
export type ChainCounts = Apart<StatisticsOverview['chains'][number]>;

/** Counts at the end of a day, or of a longer interval that ends with it. */
export type HistoryPoint = Apart<StatisticsHistory['points'][number]>;

/** Counts over time, and why they fell. */
export interface History extends Omit<StatisticsHistory, 'points' | 'withdrawals'> {
  readonly points: readonly HistoryPoint[];
  readonly withdrawals: readonly Apart<StatisticsHistory['withdrawals'][number]>[];
}

/** The few fields of a chain that lists and pickers show. */
export type RegistryLine = RegistryOverview['chains'][number];

/** One event of a contract's match. */
export type ContractEvent = ContractEvents['results'][number];

/** A contract with the fields `compilation`, `deployment` and `abi`, if selected. */
export type SelectedContract = Omit<V2Contract, 'compilation' | 'deployment'> & {
  readonly compilation: Required<NonNullable<V2Contract['compilation']>> | null;
  readonly deployment: Deployment;
};

/** Creation of a contract; unknown values are null. */
export type Deployment = Required<Omit<WireDeployment, 'unprovenValues'>> &
  Pick<WireDeployment, 'unprovenValues'>;

type WireDeployment = NonNullable<V2Contract['deployment']>;

/** An entry of a contract list, or a contract with the same bytecode elsewhere. */
export type ContractItem = Pick<
  ContractSummary,
  'chainId' | 'address' | 'match' | 'name' | 'origin' | 'verifiedAt'
> &
  Partial<Pick<ContractSummary, 'language' | 'compilerVersion' | 'trust'>>;
