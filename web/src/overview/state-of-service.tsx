import { type VNode } from 'preact';
import { formatChains, formatCount, formatSpan, formatTime } from '../format.ts';
import { type Health } from '../answers.ts';
import { Fact } from '../parts/fact.tsx';

/** Problems of the service, and the state of registry, queue and compilers. */
export function StateOfService({
  health,
  base,
}: {
  readonly health: Health;
  readonly base: string;
}): VNode {
  const { registry, queue, compilers, probedChains, monitor, reasons } = health;
  return (
    <>
      {reasons.length > 0 && (
        <div class="notice">
          <p>
            <strong>Needs attention</strong>
          </p>
          <ul>
            {reasons.map(({ code, detail, since }) => (
              <li key={code}>
                {detail}
                {since !== undefined && <span class="quiet"> Since {formatTime(since)}.</span>}
              </li>
            ))}
          </ul>
        </div>
      )}
      <dl class="facts">
        {registry !== undefined && (
          <>
            <Fact name="Chains">
              <a href={`${base}registry`}>{formatCount(registry.chains)}</a>
              {registry.chains > 0 && (
                <>
                  , <a href={`${base}registry?supported=yes`}>{formatCount(registry.supported)}</a>{' '}
                  supported,{' '}
                  <a href={`${base}registry?monitored=yes`}>{formatCount(registry.monitored)}</a>{' '}
                  monitored
                </>
              )}
            </Fact>
            <Fact name="Public list">
              {registry.source}, <code>{registry.sha256.slice(0, 12)}</code>, {listAge(registry)}
            </Fact>
          </>
        )}
        {queue !== undefined && (
          <Fact name="Verification queue">
            {formatCount(queue.queued)} waiting, {formatCount(queue.running)} running
            {queue.oldestQueuedSeconds !== undefined &&
              `; the oldest has waited for ${formatSpan(queue.oldestQueuedSeconds)}`}
          </Fact>
        )}
        {compilers !== undefined && (
          <Fact name="Compilers">
            {formatCount(compilers.running)} running, {formatCount(compilers.warm)} loaded and idle
          </Fact>
        )}
        {monitor !== undefined && (
          <Fact name="Monitor">
            watches{' '}
            {monitor.stopped.length === 0 ? (
              <a href={`${base}registry?monitored=yes`}>{formatChains(monitor.chains)}</a>
            ) : (
              formatChains(monitor.chains)
            )}{' '}
            for new contracts
            {monitor.stopped.map(({ chainId, status }) => (
              <span key={chainId}>
                ; {status === 'stalled' ? 'not progressing' : 'failing'} at{' '}
                <a href={`${base}registry/${chainId}#monitor`}>{chainId}</a>
              </span>
            ))}
          </Fact>
        )}
        {probedChains !== undefined && sumOf(probedChains) > 0 && (
          <Fact name="Endpoints of configured chains">
            {formatCount(probedChains.up)} up, {formatCount(probedChains.degraded)} degraded,{' '}
            {formatCount(probedChains.down)} down, {formatCount(probedChains.unknown)} not known yet
          </Fact>
        )}
      </dl>
    </>
  );
}

const sumOf = (counts: NonNullable<Health['probedChains']>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

function listAge({
  stale,
  listDate,
  ageSeconds,
  confirmedSecondsAgo,
}: NonNullable<Health['registry']>): string {
  if (stale) return `stale: read ${formatSpan(ageSeconds)} ago, no newer one could be fetched`;
  if (listDate !== undefined) return `published on ${listDate.slice(0, 10)}`;
  if (confirmedSecondsAgo === undefined) return `read ${formatSpan(ageSeconds)} ago`;
  return `confirmed ${formatSpan(confirmedSecondsAgo)} ago`;
}
