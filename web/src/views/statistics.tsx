import { type VNode } from 'preact';
import { type Loaded } from '../api.ts';
import { formatCount, formatTime } from '../format.ts';
import { definePage, type ViewProps } from '../page.ts';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { type MatchCounts, type StatisticsHistory, type StatisticsOverview } from '../shapes.ts';
import { OverTime } from '../statistics/over-time.tsx';
import { Ranking } from '../statistics/ranking.tsx';
import { type Scale, SCALES } from '../statistics/series.ts';
import './statistics.css';

interface CompilerCounts extends MatchCounts {
  readonly language: string;
  readonly version: string;
}

interface Statistics extends StatisticsOverview {
  readonly origins: Readonly<Record<string, MatchCounts>>;
  readonly compilers: readonly CompilerCounts[];
}

interface StatisticsData {
  readonly statistics: Loaded<Statistics>;
  readonly history: Loaded<StatisticsHistory>;
}

const INTERVALS = ['day', 'week', 'month'] as const;
const TOPS = ['10', '25', '50', '100'];
const SCALE_NAMES: Readonly<Record<Scale, string>> = {
  linear: 'counts',
  log: 'counts, logarithmic',
  share: 'share of full matches',
};

/** The counts over time and by what they are of. */
export const page = definePage<StatisticsData>({
  section: 'statistics',
  title: () => 'Statistics – Fullmatch',
  load: async (api, { query }) => {
    const [statistics, history] = await Promise.all([
      api.get<Statistics>('v1/statistics'),
      api.get<StatisticsHistory>(`v1/statistics/history?${historyQuery(query)}`),
    ]);
    return { statistics, history };
  },
  View: StatisticsView,
});

/** What the form chose; fields that were left empty choose nothing. */
function historyQuery(query: string): string {
  const given = new URLSearchParams(query);
  const wanted = new URLSearchParams();
  for (const name of ['from', 'to', 'interval']) {
    const value = given.get(name);
    if (value !== null && value !== '') wanted.set(name, value);
  }
  for (const id of (given.get('chains') ?? '').split(/[\s,]+/)) {
    if (id !== '') wanted.append('chain', id);
  }
  return wanted.toString();
}

function StatisticsView({
  data: { statistics, history },
  request: { query },
  context: { base },
}: ViewProps<StatisticsData>): VNode {
  const given = new URLSearchParams(query);
  const scale = SCALES.find((each) => each === given.get('scale')) ?? 'linear';
  const top = TOPS.find((each) => each === given.get('top')) ?? '10';
  return (
    <>
      <h1>Statistics</h1>
      {statistics.state === 'ready' && (
        <p class="lead">
          {formatCount(statistics.value.totals.full)} full and{' '}
          {formatCount(statistics.value.totals.partial)} partial matches on{' '}
          {formatCount(statistics.value.totals.chains)} chains, true for{' '}
          {formatTime(statistics.value.asOf)}. <a href={`${base}counts`}>How counts are made</a>
        </p>
      )}
      <Choices given={given} scale={scale} top={top} />
      <section aria-labelledby="over-time">
        <h2 id="over-time">Over time</h2>
        {history.state === 'failed' ? (
          <Failure what="The history" loaded={history} />
        ) : (
          <OverTime history={history.value} scale={scale} />
        )}
      </section>
      {statistics.state === 'failed' ? (
        <Failure what="The counts by chain, compiler and origin" loaded={statistics} />
      ) : (
        <Rankings statistics={statistics.value} top={Number(top)} base={base} />
      )}
    </>
  );
}

function Choices({
  given,
  scale,
  top,
}: {
  readonly given: URLSearchParams;
  readonly scale: Scale;
  readonly top: string;
}): VNode {
  const interval = INTERVALS.find((each) => each === given.get('interval')) ?? 'day';
  return (
    <form class="choices" method="get" aria-label="What is shown">
      <label>
        Chains (ids; all without)
        <input name="chains" value={given.get('chains') ?? ''} inputMode="numeric" />
      </label>
      <label>
        From
        <input type="date" name="from" value={given.get('from') ?? ''} />
      </label>
      <label>
        To
        <input type="date" name="to" value={given.get('to') ?? ''} />
      </label>
      <label>
        By
        <select name="interval">
          {INTERVALS.map((each) => (
            <option key={each} selected={each === interval}>
              {each}
            </option>
          ))}
        </select>
      </label>
      <label>
        Drawn as
        <select name="scale">
          {SCALES.map((each) => (
            <option key={each} value={each} selected={each === scale}>
              {SCALE_NAMES[each]}
            </option>
          ))}
        </select>
      </label>
      <label>
        Largest
        <select name="top">
          {TOPS.map((each) => (
            <option key={each} selected={each === top}>
              {each}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Show</button>
    </form>
  );
}

function Rankings({
  statistics: { chains, compilers, origins },
  top,
  base,
}: {
  readonly statistics: Statistics;
  readonly top: number;
  readonly base: string;
}): VNode {
  const byOrigin = Object.entries(origins).map(([origin, counts]) => ({ origin, ...counts }));
  return (
    <>
      <h2>By chain</h2>
      <Ranking
        title="Matches by chain"
        what="Chain"
        entries={chains}
        top={top}
        fileName="matches-by-chain"
        nameOf={({ name, chainId }) => `${name} (${chainId})`}
        show={({ name, chainId }) => (
          <a href={`${base}registry/${chainId}`}>
            <SafeText text={name} />
          </a>
        )}
      />
      <h2>By compiler</h2>
      <Ranking
        title="Matches by compiler"
        what="Compiler"
        entries={compilers}
        top={top}
        fileName="matches-by-compiler"
        nameOf={({ language, version }) => `${language} ${version}`}
        show={({ language, version }) => <SafeText text={`${language} ${version}`} />}
      />
      <h2>By origin</h2>
      <Ranking
        title="Matches by who judged them"
        what="Origin"
        entries={byOrigin}
        top={top}
        fileName="matches-by-origin"
        nameOf={({ origin }) => origin}
        show={({ origin }) => origin}
      />
    </>
  );
}
