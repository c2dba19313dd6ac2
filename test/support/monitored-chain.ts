import { type RegisteredChain } from '../../src/chains/registry/registered-chain.ts';
import { type Quorum } from '../../src/chains/rpc/endpoint-order.ts';
import { createRpcClient } from '../../src/chains/rpc/rpc-client.ts';
import { createGuardedFetch } from '../../src/lib/guarded-fetch.ts';
import { type Hex } from '../../src/lib/hex.ts';
import { type Logger, silentLogger } from '../../src/log.ts';
import {
  type ChainFollowers,
  startChainFollowers,
} from '../../src/monitor/follow/follow-chains.ts';
import { type FollowOptions } from '../../src/monitor/follow/follow-options.ts';
import { type MonitoredChain } from '../../src/monitor/found-creation.ts';
import { sql, type Database } from '../../src/store/database.ts';
import { showCreation } from './monitored-contracts.ts';
import { sampleEndpoint } from './rpc-server.ts';

/** Options for following a chain in a test. */
export interface FollowedSetup {
  readonly chainId: number;
  /** In order of preference. */
  readonly urls: readonly string[];
  readonly config?: Partial<MonitoredChain>;
  readonly options?: FollowOptions;
  readonly quorum?: Quorum;
  readonly takeRequest?: (host: string) => boolean;
  /** Whether the chain is operated by ourselves. */
  readonly local?: boolean;
  readonly log?: Logger;
}

/** A chain followed by this process. */
export interface FollowedChain extends ChainFollowers {
  /** Addresses of reverted creations. */
  readonly rolledBack: Hex[];
  /** Number of notifications about creations. */
  readonly told: () => number;
  /** May be replaced while it runs. */
  config: MonitoredChain;
}

/** Intervals for tests: frequent polls and short pauses. */
const QUICK: FollowOptions = {
  pollMs: 40,
  backfillPollMs: 50,
  faultMs: 50,
  longestFaultMs: 300,
  longestRestMs: 300,
  behindMs: 300,
  stalledMs: 300,
  leaseMs: 2_000,
  heartbeatMs: 200,
  finalizedMs: 200,
  askMs: 2_000,
};

/** The chain's registry entry. */
function monitoredChain(chainId: number, urls: readonly string[], local = true): RegisteredChain {
  const endpoints = urls.map((url, index) => sampleEndpoint(url, `node-${index + 1}`));
  // The follower reads nothing else of the record.
  return { record: { chainId }, endpoints, local, origins: {}, testnet: false } as never;
}

/** Follows a test's chain. */
export function followChain(database: Database, setup: FollowedSetup): FollowedChain {
  const { chainId, urls } = setup;
  const guarded = createGuardedFetch({
    allowPrivate: urls.map((url) => new URL(url).host),
    maxBytes: 8_000_000,
    // Ends a hanging test; on a busy machine, traces of a block take seconds.
    deadlineMs: 60_000,
    maxRedirects: 0,
    userAgent: 'fullmatch-test',
    resolve: async () => ['127.0.0.1'],
  });
  const rpc = createRpcClient({ fetch: guarded, attempts: 2, backoffMs: 20, maxWaitMs: 100 });
  const chain = monitoredChain(chainId, urls, setup.local);
  const rolledBack: Hex[] = [];
  let told = 0;
  const state: { config: MonitoredChain } = {
    config: {
      from: 0,
      confirmations: 0,
      traces: true,
      gateways: [],
      ...setup.config,
    },
  };
  const following = startChainFollowers(
    {
      database,
      rpc,
      findChain: (id) => (id === chainId ? chain : undefined),
      monitored: () => new Map([[chainId, state.config]]),
      quorumOf: () => setup.quorum,
      ...(setup.takeRequest && { takeRequest: setup.takeRequest }),
      onCreations: () => (told += 1),
      onRolledBack: (_, addresses) => rolledBack.push(...addresses),
    },
    { ...QUICK, ...setup.options },
    setup.log ?? silentLogger,
  );
  return Object.assign(state, {
    rolledBack,
    told: () => told,
    wake: () => following.wake(),
    async close() {
      await following.close();
      await guarded.close();
    },
  });
}

const STORED = sql(
  'test stored creations',
  'SELECT block_number, address FROM seen_creations WHERE chain_id = $1',
);

/** The stored creations as `block address`, each row once. */
export async function readStored(database: Database, chainId: number): Promise<readonly string[]> {
  const rows = await database.query<{ block_number: string; address: Buffer }>(STORED, [chainId]);
  return rows.map(showCreation);
}

const CURSOR = sql('test cursor', 'SELECT number FROM monitor_cursors WHERE chain_id = $1');

/** The cursor's block number; -1 without a cursor. */
export async function readCursor(database: Database, chainId: number): Promise<number> {
  const [row] = await database.query<{ number: string }>(CURSOR, [chainId]);
  return Number(row?.number ?? -1);
}
