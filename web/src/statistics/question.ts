import { type ChartScale } from '../charts/axes.ts';

/** What is drawn over time: full and partial of all chains together, each chain, or what came in each interval. */
export const SHOWN = { matches: 'full and partial', chains: 'chains apart', growth: 'growth' };
/** How it is drawn. */
export const SCALES: Readonly<Record<ChartScale, string>> = {
  linear: 'counts',
  log: 'counts, logarithmic',
  share: 'share of full matches',
};
/** How far apart the points are. */
export const INTERVALS = { day: 'day', week: 'week', month: 'month' };
/** How many of the largest have a line of their own. */
export const TOPS = { '5': '5', '10': '10', '25': '25', '50': '50', '100': '100' };

/** More chains are not looked up for one page. */
export const CHAINS_MAX = 50;

/** What the address of the statistics page asks for. */
export interface Question {
  /** Ids, short names or names of the chosen chains; none: all chains. */
  readonly chains: readonly string[];
  /** As they were given; empty where they were not. */
  readonly from: string;
  readonly to: string;
  readonly interval: keyof typeof INTERVALS;
  readonly shown: keyof typeof SHOWN;
  readonly scale: ChartScale;
  readonly top: keyof typeof TOPS;
}

/** Reads a query; what it does not say, or says in unknown words, is as without it. */
export function readQuestion(query: string): Question {
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

/** The query of a question, short: what is as without it is left out. */
export function writeQuestion({ chains, shown, ...rest }: Question): string {
  const usual = new Map<string, unknown>(Object.entries(readQuestion('')));
  const query = new URLSearchParams(chains.map((ref): [string, string] => ['chain', ref]));
  if (shown !== usual.get('shown')) query.set('show', shown);
  for (const [name, value] of Object.entries(rest)) {
    if (value !== usual.get(name)) query.set(name, value);
  }
  return query.toString();
}

/** A span of time that is often wanted, as a question of its own. */
export interface Preset {
  readonly name: string;
  readonly question: Question;
}

const DAY_MS = 86_400_000;
const DAYS_USUAL = 90;
const SPANS = [
  ['30 days', 30, 'day'],
  ['90 days', DAYS_USUAL, 'day'],
  ['1 year', 365, 'week'],
] as const;

/** The spans up to now, and the whole time since the first contract where it is known. */
export function listPresets(question: Question, now: string, first: string | undefined): Preset[] {
  const presets = SPANS.map(([name, days, interval]): Preset => {
    const begin = new Date(Date.parse(now) - (days - 1) * DAY_MS).toISOString().slice(0, 10);
    // The API gives as many days by itself.
    const from = days === DAYS_USUAL ? '' : begin;
    return { name, question: { ...question, from, to: '', interval } };
  });
  if (first === undefined) return presets;
  const all: Question = { ...question, from: first.slice(0, 10), to: '', interval: 'month' };
  return [...presets, { name: 'all', question: all }];
}
