import { type ServiceChain } from '../chains/registry/service-chain.ts';
import { messageOf } from '../errors.ts';
import { repeatUntilClosed } from '../lib/repeat.ts';
import { type Logger } from '../log.ts';
import { type Queryable } from '../store/database.ts';
import { type MonitorState, readMonitorStates } from './follow/monitor-state.ts';
import { type CreationCount, readCreationCounts } from './inbox/creation-counts.ts';
import { findMonitored } from './monitored-chains.ts';

/**
 * Status of a chain's monitor. `starting`: no block was read yet; `current`: at its target; `behind`:
 * catching up; `failing`: stopped by the reported fault; `stalled`: no progress for longer than the limit.
 */
export const MONITOR_STATUSES = ['starting', 'current', 'behind', 'failing', 'stalled'] as const;

/** Report on the monitor of one chain. */
export interface MonitorReport {
  readonly chainId: number;
  readonly status: (typeof MONITOR_STATUSES)[number];
  /** Absent until the first block was read. */
  readonly cursor?: MonitorState;
  /** Outcomes of the found contracts. */
  readonly counts: readonly CreationCount[];
}

/** Reports on the configured monitors, whichever process runs them. */
export interface MonitorReports {
  /** Returns undefined for a chain without a monitor. */
  report(chainId: number): MonitorReport | undefined;
  /** Sorted by chain id. */
  reports(): readonly MonitorReport[];
  close(): Promise<void>;
}

const POLL_MS = 2000;
/**
 * Counting millions of creations takes a second; the pause before the next read is at least this many times
 * as long.
 */
const REST = 20;
/** Larger than the temporary lag on a chain whose blocks come in bursts. */
const BEHIND_BLOCKS = 64;

/** Derives the status of a chain's monitor from its cursor. */
function statusOf(
  cursor: MonitorState | undefined,
  { now, since, stallSeconds }: { now: number; since: number; stallSeconds: number },
): MonitorReport['status'] {
  const movedAt = cursor?.currentAt.getTime() ?? since;
  if (now - movedAt > stallSeconds * 1000) return 'stalled';
  if (cursor?.fault !== undefined) return 'failing';
  if (cursor?.head === undefined) return 'starting';
  return cursor.lag > BEHIND_BLOCKS ? 'behind' : 'current';
}

/** Reads the current reports of chains. */
export async function readMonitorReports(
  database: Queryable,
  chainIds: readonly number[],
  bound: { readonly since: number; readonly stallSeconds: number },
): Promise<readonly MonitorReport[]> {
  if (chainIds.length === 0) return [];
  const states = await readMonitorStates(database, chainIds);
  const counts = await readCreationCounts(database, chainIds);
  const cursors = new Map(states.map((state) => [state.chainId, state]));
  return [...chainIds]
    .sort((left, right) => left - right)
    .map((chainId) => {
      const cursor = cursors.get(chainId);
      return {
        chainId,
        status: statusOf(cursor, { now: Date.now(), ...bound }),
        ...(cursor && { cursor }),
        counts: counts.get(chainId) ?? [],
      };
    });
}

/**
 * Keeps reports in memory, so that requests for them do not wait for the database. Does not query anything if
 * no chain has a monitor.
 */
export function trackMonitorReports(
  database: Queryable,
  configured: () => ReadonlyMap<number, Pick<ServiceChain, 'monitor'>>,
  { stallSeconds, pollMs = POLL_MS }: { readonly stallSeconds: number; readonly pollMs?: number },
  log: Logger,
): MonitorReports {
  const since = Date.now();
  let current: readonly MonitorReport[] = [];
  const refresh = async (): Promise<number> => {
    const begun = performance.now();
    const chainIds = findMonitored(configured());
    current = await readMonitorReports(database, chainIds, { since, stallSeconds });
    return Math.max(pollMs, REST * (performance.now() - begun));
  };
  const refreshing = repeatUntilClosed(refresh, {
    retryMs: pollMs,
    onFailure: (error) =>
      log.debug({ event: 'monitors_unread', error: messageOf(error) }, 'monitors were not read'),
  });
  return {
    report: (chainId) => current.find((report) => report.chainId === chainId),
    reports: () => current,
    close: () => refreshing.close(),
  };
}
