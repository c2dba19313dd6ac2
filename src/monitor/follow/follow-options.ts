import { type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { type Quorum } from '../../chains/rpc/endpoint-order.ts';
import { type RpcClient } from '../../chains/rpc/rpc-client.ts';
import { type Hex } from '../../lib/hex.ts';
import { type Database } from '../../store/database.ts';
import { type MonitoredChain } from '../found-creation.ts';

/** Dependencies of the chain followers. */
export interface FollowDependencies {
  readonly database: Database;
  readonly rpc: RpcClient;
  readonly findChain: (chainId: number) => RegisteredChain | undefined;
  /** The chains to follow at present. */
  readonly monitored: () => ReadonlyMap<number, MonitoredChain>;
  /** Number of operators that must agree, if configured. */
  readonly quorumOf: (chainId: number) => Quorum | undefined;
  /** Takes one request from the host's daily budget; returns false if it is used up. Absent means no budget. */
  readonly takeRequest?: (host: string) => boolean;
  /** Called after this process stored creations of a chain. */
  readonly onCreations?: (chainId: number) => void;
  /** Called with the addresses of creations in replaced blocks; their rows are already deleted. */
  readonly onRolledBack?: (chainId: number, addresses: readonly Hex[]) => void;
}

/** Intervals in milliseconds, and sizes; each has a default. */
export interface FollowOptions {
  /** Poll interval of the newest block; by default half of the chain's usual block time, from 250 to 15,000. */
  readonly pollMs?: number;
  /** Blocks stored per transaction (32). */
  readonly batchBlocks?: number;
  /** Blocks read concurrently from one endpoint (8). */
  readonly blocksAtOnce?: number;
  /** Lifetime of a chain's lease after its last renewal (15,000). */
  readonly leaseMs?: number;
  /** How often a cursor without progress is recorded as current (5,000). */
  readonly heartbeatMs?: number;
  /** How often the final block is refreshed (15,000). */
  readonly finalizedMs?: number;
  /** How often the process that follows a chain checks for backfills (1,000). */
  readonly backfillPollMs?: number;
  /** How long the newest block may stay the same before another endpoint is checked (10,000). */
  readonly stalledMs?: number;
  /** How long an endpoint may be behind the cursor before that is a fault (5,000): nodes behind one URL differ. */
  readonly behindMs?: number;
  /** First and longest pause after a fault (500 and 15,000). */
  readonly faultMs?: number;
  readonly longestFaultMs?: number;
  /** Longest rest of a failed endpoint (60,000). */
  readonly longestRestMs?: number;
  /** Timeout of one request to one endpoint (15,000). */
  readonly askMs?: number;
}

export type FollowSettings = Required<Omit<FollowOptions, 'pollMs'>> &
  Pick<FollowOptions, 'pollMs'>;

export const FOLLOW_DEFAULTS: FollowSettings = {
  batchBlocks: 32,
  blocksAtOnce: 8,
  leaseMs: 15_000,
  heartbeatMs: 5_000,
  finalizedMs: 15_000,
  backfillPollMs: 1_000,
  stalledMs: 10_000,
  behindMs: 5_000,
  faultMs: 500,
  longestFaultMs: 15_000,
  longestRestMs: 60_000,
  askMs: 15_000,
};
