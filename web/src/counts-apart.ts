import {
  type CountsApart,
  type MatchCounts,
  takeApart,
  type WireCounts,
} from '../../src/lib/counts-apart.ts';

export { type CountsApart, type MatchCounts, takeApart };

/** Contracts verified here. */
export const verifiedOf = ({ full, partial }: MatchCounts): number => full + partial;

/** Contracts verified here plus claims, for elements that show both, such as the length of a bar. */
export const allOf = ({ claimed, ...counts }: CountsApart): number => verifiedOf(counts) + claimed;

/** Whether these counts include claims: without any, nothing about claims is shown. */
export const hasClaims = (rows: readonly CountsApart[]): boolean =>
  rows.some(({ claimed }) => claimed !== 0);

/** Sorts by verified contracts, and by claims where these are equal; the most first. */
export const compareCounts = (left: CountsApart, right: CountsApart): number =>
  verifiedOf(right) - verifiedOf(left) || right.claimed - left.claimed;

/** Separates the claims in a history. */
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
