import { type StatisticsHistory } from '../answers.ts';

/** Withdrawals of a day on a chain for one reason, with the name of the chain where it is known. */
export type Fall = StatisticsHistory['falls'][number] & { readonly chainName?: string | undefined };

/** A numbered place of a chart at which counts fell. */
export interface FallMark {
  /** From 1 on, as the list below the chart has it. */
  readonly number: number;
  /** The point of the chart. */
  readonly index: number;
  /** In the order of their days. */
  readonly falls: readonly [Fall, ...Fall[]];
}

/** Marks are at least this part of the width apart, so that they can be told from each other on a phone too. */
const APART = 1 / 9;

/**
 * The marks of the falls on a chart. Falls that lie near each other share one.
 * @param dates The last days of the intervals, ascending; a fall belongs to the interval that it is in.
 */
export function joinFalls(falls: readonly Fall[], dates: readonly string[]): FallMark[] {
  const [first = 0, last = 0] = [dates[0], dates.at(-1)].map((date) => Date.parse(date ?? ''));
  const groups: { at: number; index: number; falls: [Fall, ...Fall[]] }[] = [];
  for (const fall of [...falls].sort((left, right) => (left.date < right.date ? -1 : 1))) {
    const found = dates.findIndex((date) => date >= fall.date);
    const index = found === -1 ? dates.length - 1 : found;
    const at = Date.parse(dates[index] ?? '');
    const group = groups.at(-1);
    if (group !== undefined && at - group.at <= APART * (last - first)) group.falls.push(fall);
    else groups.push({ at, index, falls: [fall] });
  }
  return groups.map(({ index, falls: joined }, place) => ({
    number: place + 1,
    index,
    falls: joined,
  }));
}

/** The fall of a mark by which the most matches went. */
export function largestFall({ falls }: FallMark): Fall {
  return falls.reduce((largest, fall) =>
    fall.full + fall.partial < largest.full + largest.partial ? fall : largest,
  );
}

/** A history whose falls have the names of their chains. */
export function nameFalls<History extends Pick<StatisticsHistory, 'falls'>>(
  history: History,
  names: ReadonlyMap<number, string>,
): History {
  const falls = history.falls.map((fall): Fall => ({
    ...fall,
    chainName: names.get(fall.chainId),
  }));
  return { ...history, falls };
}
