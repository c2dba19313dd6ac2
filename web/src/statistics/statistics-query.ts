import { type ChartScale } from '../charts/axes.ts';

/** Series over time: full and partial of all chains together, each chain, or additions in each interval. */
export const SHOWN = { matches: 'full and partial', chains: 'chains apart', growth: 'growth' };
/** Chart type. */
export const SCALES: Readonly<Record<ChartScale, string>> = {
  linear: 'counts',
  log: 'counts, logarithmic',
  share: 'share of full matches',
};
/** Interval between points. */
export const INTERVALS = { day: 'day', week: 'week', month: 'month' };
/** Number of the largest chains with a line of their own. */
export const TOPS = { '5': '5', '10': '10', '25': '25', '50': '50', '100': '100' };

/** Maximum chains that are looked up for one page. */
export const CHAINS_MAX = 50;

/** The query of the statistics page's URL. */
export interface StatisticsQuery {
  /** Ids, short names or names of the selected chains; none means all chains. */
  readonly chains: readonly string[];
  /** As given; empty if not. */
  readonly from: string;
  readonly to: string;
  readonly interval: keyof typeof INTERVALS;
  readonly shown: keyof typeof SHOWN;
  readonly scale: ChartScale;
  readonly top: keyof typeof TOPS;
}

/** Parses a query; missing and invalid values become defaults. */
export function parseStatisticsQuery(query: string): StatisticsQuery {
  const given = new URLSearchParams(query);
  const typed = given.getAll('chains').flatMap((text) => text.split(','));
  const chains = [...given.getAll('chain'), ...typed].map((ref) => ref.trim());
  return {
    chains: [...new Set(chains)].filter((ref) => ref !== ''),
    from: given.get('from') ?? '',
    to: given.get('to') ?? '',
    interval: oneOf(INTERVALS, given.get('interval'), 'day'),
    shown: oneOf(SHOWN, given.get('show'), 'matches'),
    scale: oneOf(SCALES, given.get('scale'), 'linear'),
    top: oneOf(TOPS, given.get('top'), '10'),
  };
}

function oneOf<Name extends string>(
  names: Readonly<Record<Name, string>>,
  given: string | null,
  usual: Name,
): Name {
  return given !== null && Object.hasOwn(names, given) ? (given as Name) : usual;
}

/** The shortest query string: defaults are omitted. */
export function formatStatisticsQuery({ chains, shown, ...rest }: StatisticsQuery): string {
  const usual = new Map<string, unknown>(Object.entries(parseStatisticsQuery('')));
  const query = new URLSearchParams(chains.map((ref): [string, string] => ['chain', ref]));
  if (shown !== usual.get('shown')) query.set('show', shown);
  for (const [name, value] of Object.entries(rest)) {
    if (value !== usual.get(name)) query.set(name, value);
  }
  return query.toString();
}

/** A preset time range, as a complete query. */
export interface Preset {
  readonly name: string;
  readonly question: StatisticsQuery;
}

const DAY_MS = 86_400_000;
const DAYS_USUAL = 90;
const SPANS = [
  ['30 days', 30, 'day'],
  ['90 days', DAYS_USUAL, 'day'],
  ['1 year', 365, 'week'],
] as const;

/** Presets up to now, and the whole time since the first contract if known. */
export function listPresets(
  question: StatisticsQuery,
  now: string,
  first: string | undefined,
): Preset[] {
  const presets = SPANS.map(([name, days, interval]): Preset => {
    const begin = new Date(Date.parse(now) - (days - 1) * DAY_MS).toISOString().slice(0, 10);
    // The API's default number of days.
    const from = days === DAYS_USUAL ? '' : begin;
    return { name, question: { ...question, from, to: '', interval } };
  });
  if (first === undefined) return presets;
  const all: StatisticsQuery = { ...question, from: first.slice(0, 10), to: '', interval: 'month' };
  return [...presets, { name: 'all', question: all }];
}
