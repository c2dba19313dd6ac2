import { type History } from '../answers.ts';
import { allOf } from '../counts-apart.ts';

/** Withdrawals of one day on a chain for one reason, with the name of the chain if known. */
export type Withdrawal = History['withdrawals'][number] & {
  readonly chainName?: string | undefined;
};

/** A numbered mark of a chart at which counts fell. */
export interface WithdrawalMark {
  /** From 1, as in the list below the chart. */
  readonly number: number;
  /** Index of the chart's point. */
  readonly index: number;
  /** By day. */
  readonly withdrawals: readonly [Withdrawal, ...Withdrawal[]];
}

/** Minimum distance of marks as a part of the width, so that they can be distinguished on a phone. */
const APART = 1 / 9;

/**
 * Returns the marks of the withdrawals on a chart. Adjacent withdrawals share one.
 * @param dates last days of the intervals, ascending; a withdrawal belongs to the interval that contains it
 */
export function joinWithdrawals(
  withdrawals: readonly Withdrawal[],
  dates: readonly string[],
): WithdrawalMark[] {
  const [first = 0, last = 0] = [dates[0], dates.at(-1)].map((date) => Date.parse(date ?? ''));
  const groups: { at: number; index: number; withdrawals: [Withdrawal, ...Withdrawal[]] }[] = [];
  for (const withdrawal of [...withdrawals].sort((left, right) =>
    left.date < right.date ? -1 : 1,
  )) {
    const found = dates.findIndex((date) => date >= withdrawal.date);
    const index = found === -1 ? dates.length - 1 : found;
    const at = Date.parse(dates[index] ?? '');
    const group = groups.at(-1);
    if (group !== undefined && at - group.at <= APART * (last - first))
      group.withdrawals.push(withdrawal);
    else groups.push({ at, index, withdrawals: [withdrawal] });
  }
  return groups.map(({ index, withdrawals: joined }, place) => ({
    number: place + 1,
    index,
    withdrawals: joined,
  }));
}

/** The withdrawal of a mark that removed the most matches. */
export function largestWithdrawal({ withdrawals }: WithdrawalMark): Withdrawal {
  return withdrawals.reduce((largest, withdrawal) =>
    allOf(withdrawal) < allOf(largest) ? withdrawal : largest,
  );
}

/** The series that a withdrawal is marked on: the one that fell the most. */
export function fallenSeries({
  full,
  partial,
  claimed,
}: Withdrawal): 'full' | 'partial' | 'claimed' {
  if (claimed < Math.min(full, partial)) return 'claimed';
  return full <= partial ? 'full' : 'partial';
}

/** Adds chain names to the withdrawals of a history. */
export function nameWithdrawals<Named extends Pick<History, 'withdrawals'>>(
  history: Named,
  names: ReadonlyMap<number, string>,
): Named {
  const withdrawals = history.withdrawals.map((withdrawal): Withdrawal => ({
    ...withdrawal,
    chainName: names.get(withdrawal.chainId),
  }));
  return { ...history, withdrawals };
}
