import { isStale } from '../rpc/deployed-code.ts';
import { type Head, maxHeadAgeSeconds, type Pace } from './block-pace.ts';

/** Tolerated clock difference; a block from further in the future says nothing about its age. */
const FUTURE_S = 900;

/** A head, and when it was read: milliseconds since the epoch. */
export interface TimedHead extends Head {
  readonly seenAt: number;
}

/** Assessment of an endpoint's head. */
export interface HeadAssessment {
  readonly verdict: 'good' | 'lagging' | 'stalled';
  /** Blocks that a peer already had when this endpoint did not: a lower bound of its lag. */
  readonly lagBlocks: number;
  /** Age of the head when it was read, in seconds; absent if it is in the future. */
  readonly ageSeconds?: number;
  readonly inFuture: boolean;
}

/** Whether a head is further in the future than clocks differ. */
function isInFuture({ timestamp, seenAt }: TimedHead): boolean {
  return timestamp * 1000 > seenAt + FUTURE_S * 1000;
}

/**
 * Assesses a head by the heads that peers had before it was read, and by the chain's own pace. Peers read
 * later may have a block that did not exist at the time, so they are not compared; nor are heads of the
 * future, which are false. On a `local` chain blocks are mined on demand.
 */
export function assessHead(
  head: TimedHead,
  peers: readonly TimedHead[],
  { pace, local }: { readonly pace: Pace; readonly local: boolean },
): HeadAssessment {
  const earlier = peers.filter((peer) => peer.seenAt <= head.seenAt && !isInFuture(peer));
  const lagBlocks = Math.max(0, ...earlier.map(({ number }) => number - head.number));
  const inFuture = !local && isInFuture(head);
  const ageSeconds = Math.max(0, Math.round(head.seenAt / 1000 - head.timestamp));
  const oldest = local || inFuture ? undefined : maxHeadAgeSeconds(pace);
  const lagging = earlier.some((peer) => isStale(head, peer));
  const stalled = oldest !== undefined && ageSeconds > oldest;
  return {
    verdict: lagging ? 'lagging' : stalled ? 'stalled' : 'good',
    lagBlocks,
    ...(inFuture ? {} : { ageSeconds }),
    inFuture,
  };
}
