import { type VNode } from 'preact';
import { allOf } from '../counts-apart.ts';
import { formatChains, formatCount, formatTime } from '../format.ts';
import { definePage, onlyInTheService, type ViewProps } from '../page.ts';
import { Failure, StaleCounts } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { Choices } from '../statistics/choices.tsx';
import { type Counts, loadStatistics, type StatisticsData } from '../statistics/load.ts';
import { OverTime } from '../statistics/over-time.tsx';
import { listPresets, parseStatisticsQuery } from '../statistics/statistics-query.ts';
import { Ranking } from '../statistics/ranking.tsx';
import './statistics.css';

/** Counts over time, by chain, by compiler and by origin. */
export const page = definePage<StatisticsData>({
  isShared: true,
  section: 'statistics',
  title: () => 'Statistics',
  load: import.meta.env.SSR
    ? (api, { query }) => loadStatistics(api, parseStatisticsQuery(query))
    : onlyInTheService,
  // An invalid query is the client's fault; failed reads are shown on a page with status 200.
  status: ({ history }) =>
    history.state === 'failed' && history.status >= 400 && history.status < 500
      ? history.status
      : 200,
  View: StatisticsView,
});

function StatisticsView({
  data,
  request: { query },
  context: { base, now },
}: ViewProps<StatisticsData>): VNode {
  const { statistics, health, chosen, unknown, history } = data;
  const question = parseStatisticsQuery(query);
  const counted = statistics.state === 'ready' ? statistics.value.chains : [];
  const [first] = counted.flatMap(({ firstVerifiedAt }) => firstVerifiedAt ?? []).sort();
  const hasNone = statistics.state === 'ready' && allOf(statistics.value.totals) === 0;
  return (
    <>
      <h1>Statistics</h1>
      {statistics.state === 'ready' && (
        <p class="lead">
          {describeTotals(statistics.value)}. Updated {formatTime(statistics.value.asOf)}.{' '}
          <a href={`${base}counts`}>Methodology</a>
        </p>
      )}
      <StaleCounts health={health} now={now} />
      {hasNone && (
        <p class="notice">
          Nothing is verified here {first === undefined ? 'yet' : 'any more'}.{' '}
          <a href={`${base}verify`}>Verify a contract</a>
        </p>
      )}
      <Choices
        question={question}
        chosen={chosen}
        unknown={unknown}
        fault={unknown.length > 0 && history.state === 'failed' ? history.message : undefined}
        presets={listPresets(question, now, first)}
        base={base}
      />
      {!(hasNone && first === undefined) && (
        <section aria-labelledby="over-time">
          <h2 id="over-time">Over time</h2>
          <OverTime data={data} question={question} base={base} />
        </section>
      )}
      {statistics.state === 'failed' && (
        <Failure what="The counts by chain, compiler and origin" loaded={statistics} />
      )}
      {statistics.state === 'ready' && !hasNone && (
        <Rankings statistics={statistics.value} top={Number(question.top)} base={base} />
      )}
    </>
  );
}

function describeTotals({ totals: { full, partial, claimed, chains } }: Counts): string {
  const verified = `${formatCount(full)} full and ${formatCount(partial)} partial matches`;
  const place = `on ${formatChains(chains)}`;
  if (claimed === 0) return `${verified} ${place}`;
  return `${verified} verified here, and ${formatCount(claimed)} claims of other services, ${place}`;
}

function Rankings({
  statistics: { chains, compilers, origins },
  top,
  base,
}: {
  readonly statistics: Counts;
  readonly top: number;
  readonly base: string;
}): VNode {
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
        title="Matches by origin"
        what="Origin"
        entries={origins}
        top={top}
        fileName="matches-by-origin"
        nameOf={({ origin }) => origin}
        show={({ origin }) => origin}
      />
    </>
  );
}
