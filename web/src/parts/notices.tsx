import { type ComponentChildren, type VNode } from 'preact';
import { type Loaded } from '../api.ts';
import { formatAgo, formatTime } from '../format.ts';
import { type Health } from '../answers.ts';

/** Reports that a part of a page could not be read, since when and why, with a way to retry. */
export function Failure({
  what,
  loaded: { since, failedAt, message, code },
  children,
}: {
  /** Subject of "cannot be read": `The counts`. */
  readonly what: string;
  readonly loaded: Extract<Loaded<unknown>, { state: 'failed' }>;
  /** What can be done meanwhile. */
  readonly children?: ComponentChildren;
}): VNode {
  return (
    <div class="notice failure" role="alert">
      <p>
        <strong>{what} could not be read</strong> since{' '}
        <time dateTime={since}>{formatTime(since)}</time>
        {formatTime(failedAt) !== formatTime(since) && (
          <>, last tried {formatTime(failedAt)}</>
        )}: {message} <code>{code}</code>
      </p>
      {children !== undefined && <p>{children}</p>}
      <p>
        <a
          class="button"
          href=""
          onClick={(event) => {
            // A reload keeps the scroll position, which a link does not.
            event.preventDefault();
            location.reload();
          }}
        >
          Try again
        </a>
      </p>
    </div>
  );
}

/** Counts are compared with the database every half second; older ones are reported, as in the health report. */
const FRESH_SECONDS = 15;

/** Shows the age of the service's counts if they are older than usual. */
export function StaleCounts({
  health,
  now,
}: {
  readonly health: Loaded<Health>;
  readonly now: string;
}): VNode | null {
  const { statistics, database } = health.state === 'ready' ? health.value : {};
  if (health.state === 'failed' || statistics === undefined) return null;
  const isFresh = statistics.confirmedSecondsAgo <= FRESH_SECONDS;
  if (isFresh && database?.reachable !== false) return null;
  const confirmedAt = Date.parse(health.readAt) - statistics.confirmedSecondsAgo * 1000;
  const time = new Date(confirmedAt).toISOString();
  return (
    <p class="notice stale">
      The counts were last compared with the database <strong>{formatAgo(time, now)}</strong>, at{' '}
      {formatTime(time)}. They may be outdated.
    </p>
  );
}
