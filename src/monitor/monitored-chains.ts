import { type ServiceChain } from '../chains/registry/service-chain.ts';
import { messageOf } from '../errors.ts';
import { repeatUntilClosed } from '../lib/repeat.ts';
import { type Logger } from '../log.ts';
import { sql, type Queryable } from '../store/database.ts';

const POLL_MS = 1000;

// A cursor at its target is touched regularly, so its age shows whether a process keeps up.
const READ_WATCHED = sql(
  'read watched chains',
  `SELECT chain_id FROM monitor_cursors
   WHERE chain_id = ANY ($1::bigint[]) AND current_at >= now() - $2 * interval '1 second'`,
);

/** Returns the configured chains that have a monitor. */
export function findMonitored(
  configured: ReadonlyMap<number, Pick<ServiceChain, 'monitor'>>,
): readonly number[] {
  return [...configured].flatMap(([chainId, { monitor }]) => (monitor ? [chainId] : []));
}

/** Returns the monitored chains whose cursor is no older than the limit. */
export async function readMonitoredChains(
  database: Queryable,
  configured: ReadonlyMap<number, Pick<ServiceChain, 'monitor'>>,
  stallSeconds: number,
): Promise<ReadonlySet<number>> {
  const chainIds = findMonitored(configured);
  if (chainIds.length === 0) return new Set();
  const rows = await database.query<{ chain_id: string }>(READ_WATCHED, [chainIds, stallSeconds]);
  return new Set(rows.map(({ chain_id }) => Number(chain_id)));
}

/** Published state, and how to publish a change. */
interface WatchedParts {
  readonly database: Queryable;
  readonly inputs: () => {
    readonly configured: ReadonlyMap<number, Pick<ServiceChain, 'monitor'>>;
    readonly watched?: ReadonlySet<number>;
  };
  readonly publish: (watched: ReadonlySet<number>) => Promise<void>;
}

/**
 * Keeps `monitored` in /chains up to date: checks every second which chains are monitored by any process of
 * the database, and publishes only changes. While the database does not respond, keeps the last known state.
 */
export function followMonitoredChains(
  { database, inputs, publish }: WatchedParts,
  { stallSeconds, pollMs = POLL_MS }: { readonly stallSeconds: number; readonly pollMs?: number },
  log: Logger,
): { close(): Promise<void> } {
  const publishChange = async (signal: AbortSignal): Promise<number> => {
    const { configured, watched: before = new Set() } = inputs();
    const watched = await readMonitoredChains(database, configured, stallSeconds);
    const isSame = watched.size === before.size && [...watched].every((id) => before.has(id));
    if (!isSame && !signal.aborted) await publish(watched);
    return pollMs;
  };
  const onFailure = (error: unknown): void => {
    const facts = { event: 'watched_chains_unread', error: messageOf(error) };
    log.warn(facts, 'it is not known which chains are watched');
  };
  return repeatUntilClosed(publishChange, { retryMs: pollMs, onFailure });
}
