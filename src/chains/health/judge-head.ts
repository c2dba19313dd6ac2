import { isStale } from '../rpc/deployed-code.ts';
import { type Head, oldestHeadSeconds, type Pace } from './block-pace.ts';

/** A clock may be wrong by this; a block from further ahead says nothing about its age. */
const FUTURE_S = 900;

/** A head, and when it was read: milliseconds since the epoch. */
export interface SeenHead extends Head {
  readonly seenAt: number;
}

/** What an endpoint's head says about it. */
export interface HeadJudgement {
  readonly verdict: 'good' | 'lagging' | 'stalled';
  /** Blocks that a peer already had when this endpoint did not: a lower bound of its lag. */
  readonly lagBlocks: number;
  /** The age of the head when it was read, in seconds; absent when it lies in the future. */
  readonly ageSeconds?: number;
  readonly inFuture: boolean;
}

/** Whether a head is of a time to come, by more than clocks differ. */
function isInFuture({ timestamp, seenAt }: SeenHead): boolean {
  return timestamp * 1000 > seenAt + FUTURE_S * 1000;
}

/**
 * Judges a head by the heads that peers had before it was read, and by the chain's own pace. Peers that were read later
 * may have a block that nobody had at the time, so they are not compared; nor are heads of the future, which a liar
 * makes up. On a chain of the operator's own machine (`local`) blocks come when he makes them.
 */
export function judgeHead(
  head: SeenHead,
  peers: readonly SeenHead[],
  { pace, local }: { readonly pace: Pace; readonly local: boolean },
): HeadJudgement {
  const earlier = peers.filter((peer) => peer.seenAt <= head.seenAt && !isInFuture(peer));
  const lagBlocks = Math.max(0, ...earlier.map(({ number }) => number - head.number));
  const inFuture = !local && isInFuture(head);
  const ageSeconds = Math.max(0, Math.round(head.seenAt / 1000 - head.timestamp));
  const oldest = local || inFuture ? undefined : oldestHeadSeconds(pace);
  const lagging = earlier.some((peer) => isStale(head, peer));
  const stalled = oldest !== undefined && ageSeconds > oldest;
  return {
    verdict: lagging ? 'lagging' : stalled ? 'stalled' : 'good',
    lagBlocks,
    ...(inFuture ? {} : { ageSeconds }),
    inFuture,
  };
}
