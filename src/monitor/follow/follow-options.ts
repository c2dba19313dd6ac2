import { type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { type Quorum } from '../../chains/rpc/endpoint-order.ts';
import { type RpcClient } from '../../chains/rpc/rpc-client.ts';
import { type Hex } from '../../lib/hex.ts';
import { type Database } from '../../store/database.ts';
import { type MonitoredChain } from '../seen-creation.ts';

/** What following needs of others. */
export interface FollowParts {
  readonly database: Database;
  readonly rpc: RpcClient;
  readonly findChain: (chainId: number) => RegisteredChain | undefined;
  /** The chains to follow, as they are now. */
  readonly monitored: () => ReadonlyMap<number, MonitoredChain>;
  /** How many operators have to agree, where the configuration says so. */
  readonly quorumOf: (chainId: number) => Quorum | undefined;
  /** Takes one request out of the daily budget of a host, or says that none is left. Without it there is no budget. */
  readonly takeRequest?: (host: string) => boolean;
  /** Told after creations of a chain were stored by this process. */
  readonly onCreations?: (chainId: number) => void;
  /** Told which addresses had creations in blocks that the chain replaced; their rows are gone. */
  readonly onRolledBack?: (chainId: number, addresses: readonly Hex[]) => void;
}

/** Times in milliseconds, and sizes; each has a default. */
export interface FollowOptions {
  /** Between two looks at the newest block; by default half of the chain's usual block time, from 250 to 15,000. */
  readonly pollMs?: number;
  /** Blocks that are stored by one transaction (32). */
  readonly batchBlocks?: number;
  /** Blocks that are read at once from one endpoint (8). */
  readonly blocksAtOnce?: number;
  /** How long a chain stays a process's own after its last sign of life (15,000). */
  readonly leaseMs?: number;
  /** How often a standing cursor is written down as current (5,000). */
  readonly heartbeatMs?: number;
  /** How often the final block is asked for (15,000). */
  readonly finalizedMs?: number;
  /** How often the process that follows a chain looks for blocks to be read once more (1,000). */
  readonly backfillPollMs?: number;
  /** How long the newest block may stay the same before another endpoint is asked for its own (10,000). */
  readonly stalledMs?: number;
  /** How long an endpoint may be behind the cursor before that is a fault (5,000): nodes behind one URL differ. */
  readonly behindMs?: number;
  /** The first and the longest pause after a fault (500 and 15,000). */
  readonly faultMs?: number;
  readonly longestFaultMs?: number;
  /** The longest rest of an endpoint that failed (60,000). */
  readonly longestRestMs?: number;
  /** The time that one endpoint has for one question (15,000). */
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
