import { pathPart } from '../../../client/src/path-part.ts';
import { type Api, type Loaded } from '../api.ts';
import { nameWithdrawals } from '../charts/join-withdrawals.ts';
import {
  type ChainCounts,
  type Health,
  type History,
  type HistoryPoint,
  type StatisticsHistory,
  type StatisticsOverview,
} from '../answers.ts';
import { type CountsApart, takeApart, takeHistoryApart } from '../counts-apart.ts';
import { CHAINS_MAX, type StatisticsQuery } from './statistics-query.ts';
import { type ChainHistory, rank } from './series.ts';

/** A chain selected for the chart. */
export interface SelectedChain {
  readonly chainId: number;
  readonly name: string;
}

/** All counts, with claims apart. */
export interface Counts extends Pick<StatisticsOverview, 'asOf'> {
  readonly totals: CountsApart & Pick<StatisticsOverview['totals'], 'chains'>;
  readonly chains: readonly ChainCounts[];
  readonly compilers: readonly (CountsApart &
    Pick<StatisticsOverview['compilers'][number], 'language' | 'version'>)[];
  readonly origins: readonly (CountsApart & { readonly origin: string })[];
}

/** Data of the statistics page. */
export interface StatisticsData {
  readonly statistics: Loaded<Counts>;
  readonly health: Loaded<Health>;
  readonly chosen: readonly SelectedChain[];
  /** References without a chain, or that were not looked up. */
  readonly unknown: readonly string[];
  /** History of the selected chains together, or of all chains. */
  readonly history: Loaded<History>;
  /** History of each of the largest chains, and the rest; if requested. */
  readonly apart?: Loaded<readonly ChainHistory[]>;
}

type Failed = Extract<Loaded<never>, { state: 'failed' }>;

/** More lines cannot be distinguished. */
const LINES_MAX = 8;

/** Reads the data for a query. */
export async function loadStatistics(api: Api, question: StatisticsQuery): Promise<StatisticsData> {
  const isTooMuch = question.chains.length > CHAINS_MAX;
  const refs = isTooMuch ? [] : question.chains;
  const [overview, health, ...found] = await Promise.all([
    api.get<StatisticsOverview>('v1/statistics'),
    api.get<Health>('health'),
    ...refs.map((ref) => api.get<SelectedChain>(`chains/${pathPart(ref)}`)),
  ]);
  const statistics =
    overview.state === 'ready' ? { ...overview, value: takeCountsApart(overview.value) } : overview;
  if (isTooMuch) {
    const history = refuse(question.chains.length);
    return { statistics, health, chosen: [], unknown: question.chains, history };
  }
  const chosen = new Map<number, SelectedChain>();
  const unknown: string[] = [];
  let failure: Failed | undefined;
  for (const [index, chain] of found.entries()) {
    if (chain.state === 'ready') {
      const { chainId, name } = chain.value;
      chosen.set(chainId, { chainId, name });
    } else {
      unknown.push(question.chains[index] ?? '');
      failure ??= chain;
    }
  }
  const data = { statistics, health, chosen: [...chosen.values()], unknown };
  if (failure !== undefined) return { ...data, history: failure };
  const ids = [...chosen.keys()];
  const history = await readHistory(api, question, ids);
  if (history.state === 'failed') return { ...data, history };
  const counted = statistics.state === 'ready' ? statistics.value.chains : [];
  const names = new Map([...counted, ...data.chosen].map(({ chainId, name }) => [chainId, name]));
  const named = { ...data, history: { ...history, value: nameWithdrawals(history.value, names) } };
  if (question.shown !== 'chains') return named;
  if (statistics.state === 'failed') return { ...named, apart: statistics };
  const candidates =
    ids.length === 0 ? counted : data.chosen.map((chain) => countsOf(chain, counted));
  return { ...named, apart: await loadApart(api, question, candidates, history) };
}

function refuse(chains: number): Failed {
  const now = new Date().toISOString();
  return {
    state: 'failed',
    status: 400,
    code: 'invalid_parameter',
    message: `At most ${CHAINS_MAX} chains are shown at once, and these are ${chains}.`,
    failedAt: now,
    since: now,
  };
}

function takeCountsApart({ asOf, totals, chains, compilers, origins }: StatisticsOverview): Counts {
  return {
    asOf,
    totals: takeApart(totals),
    chains: chains.map(takeApart),
    compilers: compilers.map(takeApart),
    origins: Object.entries(origins).map(([origin, counts]) => {
      const claimed = origin === 'imported' ? counts : { full: 0, partial: 0 };
      return { origin, ...takeApart({ ...counts, claimed }) };
    }),
  };
}

async function readHistory(
  api: Api,
  question: StatisticsQuery,
  chainIds: readonly number[],
): Promise<Loaded<History>> {
  const read = await api.get<StatisticsHistory>(historyPath(question, chainIds));
  return read.state === 'ready' ? { ...read, value: takeHistoryApart(read.value) } : read;
}

function countsOf(
  chain: SelectedChain,
  counted: readonly ChainCounts[],
): SelectedChain & CountsApart {
  const {
    full = 0,
    partial = 0,
    claimed = 0,
  } = counted.find(({ chainId }) => chainId === chain.chainId) ?? {};
  return { ...chain, full, partial, claimed };
}

async function loadApart(
  api: Api,
  question: StatisticsQuery,
  candidates: readonly (SelectedChain & CountsApart)[],
  together: Extract<Loaded<History>, { state: 'ready' }>,
): Promise<Loaded<readonly ChainHistory[]>> {
  const { top, rest } = rank(candidates, Math.min(LINES_MAX, Number(question.top)));
  const histories: ChainHistory[] = [];
  const answers = await Promise.all(
    top.map(({ chainId }) => readHistory(api, question, [chainId])),
  );
  for (const [index, { chainId, name }] of top.entries()) {
    const answer = answers[index];
    if (answer?.state === 'failed') return answer;
    histories.push({ chainId, name, points: answer?.value.points ?? [] });
  }
  if (rest.count > 0) {
    const name = `the rest (${rest.count})`;
    histories.push({ name, points: subtractAll(together.value.points, histories) });
  }
  return { ...together, value: histories };
}

/** The total minus the chains. They were read in sequence, so later additions are excluded. */
function subtractAll(
  all: readonly HistoryPoint[],
  histories: readonly ChainHistory[],
): HistoryPoint[] {
  return all.map(({ date, ...counts }, index) => {
    const left = (kind: keyof CountsApart): number =>
      Math.max(
        0,
        histories.reduce((rest, { points }) => rest - (points[index]?.[kind] ?? 0), counts[kind]),
      );
    return { date, full: left('full'), partial: left('partial'), claimed: left('claimed') };
  });
}

function historyPath({ from, to, interval }: StatisticsQuery, chainIds: readonly number[]): string {
  const query = new URLSearchParams({ interval });
  if (from !== '') query.set('from', from);
  if (to !== '') query.set('to', to);
  for (const id of chainIds) query.append('chain', String(id));
  return `v1/statistics/history?${query.toString()}`;
}
