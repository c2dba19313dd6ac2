import { type VNode } from 'preact';
import { type ChainMonitor } from '../answers.ts';
import { type Loaded } from '../api.ts';
import { formatAgo, formatCount, formatTime } from '../format.ts';
import { Fact } from '../parts/fact.tsx';
import { Failure } from '../parts/notices.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { RecordTable } from '../parts/record-table.tsx';

const STATUS_TEXTS: Readonly<Record<ChainMonitor['status'], string>> = {
  starting: 'Starting: no block has been read yet.',
  current: 'Up to date: new contracts are found as they are created.',
  behind: 'Catching up: newer blocks have not been read yet.',
  failing: 'Failing; retrying automatically.',
  stalled: 'No progress: new contracts are not found.',
  not_configured: 'No monitor is configured.',
};

const STATE_TEXTS: Readonly<Record<ChainMonitor['creations'][number]['state'], string>> = {
  waiting: 'waiting',
  verifying: 'verifying',
  verified: 'verified',
  given_up: 'given up',
  gone: 'gone',
};

const REASON_TEXTS: Readonly<Record<string, string>> = {
  known_code: 'its bytecode was known',
  sources: 'its sources were found',
  already_verified: 'it was verified on request',
  metadata_unavailable: 'no gateway has its metadata at the moment',
  metadata_invalid: 'its metadata hash points to something that is not metadata',
  no_metadata_hash: 'its bytecode has no metadata hash',
  source_unavailable: 'a source is not available at the moment',
  sources_too_large: 'its sources are too large',
  same_code_in_queue: 'the same code is being verified',
  queue_full: 'the verification queue is full',
  contract_not_deployed: 'there is no code at its address',
};

/** Monitor of the chain; renders nothing if it has none. */
export function MonitorSection({
  monitor,
  now,
}: {
  readonly monitor: Loaded<ChainMonitor>;
  readonly now: string;
}): VNode | null {
  if (monitor.state === 'ready' && monitor.value.status === 'not_configured') return null;
  return (
    <section aria-labelledby="monitor">
      <h2 id="monitor">Monitor</h2>
      {monitor.state === 'ready' ? (
        <Report report={monitor.value} now={now} />
      ) : (
        <Failure what="The monitor’s status" loaded={monitor} />
      )}
    </section>
  );
}

function Report({ report, now }: { readonly report: ChainMonitor; readonly now: string }): VNode {
  const { status, cursor, fault, found, creations, gaps, notes, reorganisations } = report;
  const isTroubled = status === 'failing' || status === 'stalled';
  const sum = (...states: readonly string[]): number =>
    creations
      .filter(({ state }) => states.includes(state))
      .reduce((total, { count }) => total + count, 0);
  return (
    <>
      <div class={isTroubled ? 'notice caution' : undefined}>
        <p>
          {STATUS_TEXTS[status]}
          {fault !== undefined && (
            <>
              {' '}
              <SafeText text={fault.message} /> <code>{fault.code}</code>{' '}
              <span class="quiet">Since {formatTime(fault.since)}.</span>
            </>
          )}
        </p>
      </div>
      <dl class="figures">
        <Figure name="Found" value={found} meaning="New contracts seen" />
        <Figure name="Verified" value={sum('verified')} meaning="Matched and stored" />
        <Figure
          name="Waiting"
          value={sum('waiting', 'verifying')}
          meaning="Retried for two months"
        />
      </dl>
      <dl class="facts">
        {cursor !== undefined && (
          <>
            <Fact name="Read up to block">
              {formatCount(Math.max(0, cursor.block))}
              {cursor.head !== undefined && (
                <span class="quiet">
                  {' '}
                  of {formatCount(cursor.head)},{' '}
                  {cursor.lagBlocks === 0 ? 'none' : formatCount(cursor.lagBlocks)} behind
                </span>
              )}
            </Fact>
            <Fact name="From block">{formatCount(cursor.startBlock)}</Fact>
            <Fact name="Last active">
              <time dateTime={cursor.currentAt} title={formatTime(cursor.currentAt)}>
                {formatAgo(cursor.currentAt, now)}
              </time>
            </Fact>
          </>
        )}
        {gaps !== undefined && <Fact name="Gaps">{describeGaps(gaps)}</Fact>}
        {reorganisations !== undefined && reorganisations.count > 0 && (
          <Fact name="Blocks replaced by the chain">
            {formatCount(reorganisations.count)} {reorganisations.count === 1 ? 'time' : 'times'}
          </Fact>
        )}
      </dl>
      {notes.map(({ code, detail }) => (
        <p class="notice caution" key={code}>
          {detail} <code>{code}</code>
        </p>
      ))}
      {creations.length > 0 && <Creations creations={creations} />}
    </>
  );
}

function Figure({
  name,
  value,
  meaning,
}: {
  readonly name: string;
  readonly value: number;
  readonly meaning: string;
}): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{formatCount(value)}</dd>
      <dd class="meaning">{meaning}</dd>
    </div>
  );
}

function describeGaps(gaps: NonNullable<ChainMonitor['gaps']>): string {
  const parts = [
    [gaps.backfillBlocks, 'requested again'],
    [gaps.untracedBlocks, 'without traces'],
  ] as const;
  const shown = parts.filter(([count]) => count > 0);
  if (shown.length === 0) return 'none';
  return shown
    .map(([count, what]) => `${formatCount(count)} ${count === 1 ? 'block' : 'blocks'} ${what}`)
    .join(', ');
}

function Creations({ creations }: Pick<ChainMonitor, 'creations'>): VNode {
  return (
    <RecordTable
      label="Results for the contracts found, with reasons"
      rows={creations}
      columns={[
        { title: 'State', show: ({ state }) => STATE_TEXTS[state] },
        { title: 'Contracts', className: 'figure', show: ({ count }) => formatCount(count) },
        { title: 'Why', show: (creation) => <Reason {...creation} /> },
      ]}
    />
  );
}

function Reason({ state, reason }: { readonly state: string; readonly reason: string }): VNode {
  if (reason === '') {
    return <span class="quiet">{state === 'waiting' ? 'not tried yet' : '–'}</span>;
  }
  const text = Object.hasOwn(REASON_TEXTS, reason) ? REASON_TEXTS[reason] : undefined;
  return (
    <>
      {text !== undefined && <>{text} </>}
      <code class="quiet">
        <SafeText text={reason} />
      </code>
    </>
  );
}
