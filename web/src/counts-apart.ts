import {
  type CountsApart,
  type MatchCounts,
  takeApart,
  type WireCounts,
} from '../../src/lib/counts-apart.ts';

export { type CountsApart, type MatchCounts, takeApart };

/** Contracts verified here. */
export const verifiedOf = ({ full, partial }: MatchCounts): number => full + partial;

/** Contracts verified here and claims, for what shows both, such as the length of a bar. */
export const allOf = ({ claimed, ...counts }: CountsApart): number => verifiedOf(counts) + claimed;

/** Whether there is a claim among these counts: without one nothing about claims is shown. */
export const hasClaims = (rows: readonly CountsApart[]): boolean =>
  rows.some(({ claimed }) => claimed !== 0);

/** Sorts by verified contracts, and by claims where these are equal; the most first. */
export const compareCounts = (left: CountsApart, right: CountsApart): number =>
  verifiedOf(right) - verifiedOf(left) || right.claimed - left.claimed;

/** Takes the claims of a history apart. */
export function takeHistoryApart<
  History extends {
    readonly points: readonly WireCounts[];
    readonly withdrawals: readonly WireCounts[];
  },
>(history: History) {
  return {
    ...history,
    points: history.points.map((point: History['points'][number]) => takeApart(point)),
    withdrawals: history.withdrawals.map((fall: History['withdrawals'][number]) => takeApart(fall)),
  };
}
