/** Counts of contracts by their best match. */
export interface MatchCounts {
  readonly full: number;
  readonly partial: number;
}

/**
 * Counts as the pages show them: full and partial matches that were verified here, and apart from them the
 * claims, which other services report and which are no part of a verified total.
 */
export interface CountsApart extends MatchCounts {
  readonly claimed: number;
}

/** Counts of the API: all contracts, and how many of these are claims. */
interface WireCounts extends MatchCounts {
  readonly claimed: MatchCounts;
}

/** Takes the claims out of the counts of the API, in a row that has some. */
export function takeApart<Row extends WireCounts>({
  full,
  partial,
  claimed,
  ...rest
}: Row): Omit<Row, keyof WireCounts> & CountsApart {
  return {
    ...rest,
    full: full - claimed.full,
    partial: partial - claimed.partial,
    claimed: claimed.full + claimed.partial,
  };
}

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
