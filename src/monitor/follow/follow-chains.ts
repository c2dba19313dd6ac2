// Follows the monitored chains and finds each creation exactly once, across process crashes and reorgs.
import { messageOf } from '../../errors.ts';
import { repeatUntilClosed } from '../../lib/repeat.ts';
import { type Logger } from '../../log.ts';
import { ChainReader } from './chain-reader.ts';
import { ChainFollower } from './follow-chain.ts';
import { FOLLOW_DEFAULTS, type FollowOptions, type FollowDependencies } from './follow-options.ts';

/** Handle of the chain followers of this process. */
export interface ChainFollowers {
  /** Checks immediately for new blocks and newly monitored chains. */
  wake(): void;
  /** Stops all work and releases it to other processes. */
  close(): Promise<void>;
}

interface FollowedChain {
  readonly ending: AbortController;
  readonly wake: () => void;
  readonly ended: Promise<void>;
}

/** How often changes of the monitored chains are checked. */
const POLL_EVERY_MS = 1_000;

/**
 * Starts following the monitored chains, sharing them with other processes on the same database. Only one
 * process follows a chain at a time.
 */
export function startChainFollowers(
  parts: FollowDependencies,
  options: FollowOptions,
  log: Logger,
): ChainFollowers {
  const settings = { ...FOLLOW_DEFAULTS, ...options };
  const chains = new Map<number, FollowedChain>();
  const follow = (chainId: number): FollowedChain => {
    const ending = new AbortController();
    const { signal } = ending;
    const reader = new ChainReader(chainId, parts, settings, signal);
    const follower = new ChainFollower(chainId, parts, settings, reader, log, signal);
    return { ending, wake: () => follower.wake(), ended: follower.run() };
  };
  const end = async (chainId: number, chain: FollowedChain): Promise<void> => {
    chain.ending.abort(new Error('The chain is no longer followed.'));
    await chain.ended;
    if (chains.get(chainId) === chain) chains.delete(chainId);
  };
  const startAndStop = async (): Promise<number> => {
    const wanted = parts.monitored();
    const gone = [...chains].filter(([chainId]) => !wanted.has(chainId));
    await Promise.all(gone.map(([chainId, chain]) => end(chainId, chain)));
    for (const chainId of wanted.keys()) {
      if (!chains.has(chainId)) chains.set(chainId, follow(chainId));
    }
    return POLL_EVERY_MS;
  };
  const following = repeatUntilClosed(startAndStop, {
    retryMs: POLL_EVERY_MS,
    onFailure: (error) =>
      log.error({ event: 'monitor_failed', error: messageOf(error) }, 'chains are not followed'),
  });
  return {
    wake() {
      following.wake();
      for (const chain of chains.values()) chain.wake();
    },
    async close() {
      await following.close();
      await Promise.all([...chains].map(([chainId, chain]) => end(chainId, chain)));
    },
  };
}
