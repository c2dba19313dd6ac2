/** Counts of contracts by their best match. */
export interface MatchCounts {
  readonly full: number;
  readonly partial: number;
}

/**
 * Counts as people see them: full and partial matches that were verified here, and apart from them the
 * claims, which other services report and which are no part of a verified total.
 */
export interface CountsApart extends MatchCounts {
  readonly claimed: number;
}

/** Counts of the API: all contracts, and how many of these are claims. */
export interface WireCounts extends MatchCounts {
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
