import { sql, type Database, type Queryable } from '../../store/database.ts';
import { CURRENT_SNAPSHOT } from './snapshots.ts';

/** Alarm of the sync: no source provided an acceptable list. */
export interface SyncFailure {
  readonly since: Date;
  /** Consecutive failed attempts. */
  readonly count: number;
  readonly code: string;
  /** Error of the last attempt; safe to publish. */
  readonly message: string;
}

/** State of the sync, shared by all processes of a database. */
export interface SyncState {
  /** Id of the snapshot to serve; absent before the first. */
  readonly snapshotId?: number;
  /** When a source last provided or confirmed the current list. */
  readonly confirmedAt?: Date;
  readonly failure?: SyncFailure;
  /** Chains whose changes in that snapshot are held back; absent if there are none. */
  readonly heldBack?: { readonly chainIds: readonly number[]; readonly sha256: string };
  /** Whether an attempt is due. */
  readonly due: boolean;
}

/** Intervals between attempts, in milliseconds. */
export interface SyncTimes {
  readonly everyMs: number;
  /** After the first failure; the delay doubles with each further one, up to `everyMs`. */
  readonly retryMs: number;
}

/** HTTP validators of a source's accepted list. */
export interface SourceState {
  readonly sha256: string;
  readonly etag?: string;
  readonly lastModified?: string;
}

/** Channel that notifies every process of a changed state. */
export const CHAIN_LIST_CHANNEL = 'fullmatch_chain_list';

// $2 and $3 are everyMs and retryMs.
const DUE = `(lease_until IS NULL OR lease_until < now()) AND (attempted_at IS NULL OR attempted_at
  + make_interval(secs => least($2::float8, CASE failures WHEN 0 THEN $2 ELSE $3::float8 * 2 ^ least(failures - 1, 30) END) / 1000)
  <= now())`;

const READ = sql(
  'read sync of chain list',
  `WITH current AS (${CURRENT_SNAPSHOT})
   SELECT current.id AS snapshot_id, current.sha256, current.held_back, confirmed_at, failing_since, failures, failure_code,
     failure_message, ${DUE} AS due
   FROM chain_list_sync LEFT JOIN current ON true`,
);
const CLAIM = sql(
  'claim sync of chain list',
  `WITH current AS (${CURRENT_SNAPSHOT})
   UPDATE chain_list_sync SET lease_until = now() + make_interval(secs => $4::float8 / 1000), attempted_at = now()
   WHERE (${DUE}) OR ((lease_until IS NULL OR lease_until < now()) AND $5 AND NOT EXISTS (SELECT FROM current))
   RETURNING single`,
);
const RELEASE = sql(
  'release sync of chain list',
  'UPDATE chain_list_sync SET lease_until = NULL, attempted_at = NULL',
);
const SUCCEED = sql(
  'record sync of chain list',
  `UPDATE chain_list_sync SET lease_until = NULL, attempted_at = now(), confirmed_at = now(), failing_since = NULL,
     failures = 0, failure_code = NULL, failure_message = NULL`,
);
// An open circuit is not news: the failures before it are.
const FAIL = sql(
  'record failed sync of chain list',
  `UPDATE chain_list_sync SET lease_until = NULL, attempted_at = now(),
     failing_since = coalesce(failing_since, now()), failures = failures + 1,
     failure_code = CASE WHEN $1 IN ('circuit_open', 'throttled') THEN coalesce(failure_code, $1) ELSE $1 END,
     failure_message = CASE WHEN $1 IN ('circuit_open', 'throttled') THEN coalesce(failure_message, $2) ELSE $2 END`,
);
const NOTIFY = sql('notify of chain list', `SELECT pg_notify($1, '')`);
const READ_SOURCE = sql(
  'read source of chain list',
  `SELECT encode(sha256, 'hex') AS sha256, etag, last_modified FROM chain_list_sources WHERE source = $1`,
);
const STORE_SOURCE = sql(
  'store source of chain list',
  `INSERT INTO chain_list_sources (source, sha256, etag, last_modified) VALUES ($1, $2, $3, $4)
   ON CONFLICT (source) DO UPDATE
   SET sha256 = excluded.sha256, etag = excluded.etag, last_modified = excluded.last_modified`,
);

/** State of the sync of these sources. */
export async function readSyncState(
  database: Queryable,
  sources: readonly string[],
  { everyMs, retryMs }: SyncTimes,
): Promise<SyncState> {
  const [row] = await database.query<{
    snapshot_id: string | null;
    sha256: string | null;
    held_back: readonly string[] | null;
    confirmed_at: Date | null;
    failing_since: Date | null;
    failures: number;
    failure_code: string | null;
    failure_message: string | null;
    due: boolean;
  }>(READ, [sources, everyMs, retryMs]);
  if (row === undefined) return { due: false };
  const { snapshot_id, confirmed_at, failing_since, failure_code, failure_message } = row;
  return {
    ...(snapshot_id !== null && { snapshotId: Number(snapshot_id) }),
    ...(confirmed_at !== null && { confirmedAt: confirmed_at }),
    ...(failing_since !== null && {
      failure: {
        since: failing_since,
        count: row.failures,
        code: failure_code ?? '',
        message: failure_message ?? '',
      },
    }),
    ...(row.sha256 !== null &&
      row.held_back?.length && {
        heldBack: { chainIds: row.held_back.map(Number), sha256: row.sha256 },
      }),
    due: row.due,
  };
}

/**
 * Claims the next attempt for this process; returns false if it is not due or another process has it. With
 * `first` it is due while the sources have no snapshot yet, regardless of earlier attempts.
 */
export async function claimAttempt(
  database: Queryable,
  sources: readonly string[],
  { everyMs, retryMs }: SyncTimes,
  { leaseMs, first }: { readonly leaseMs: number; readonly first: boolean },
): Promise<boolean> {
  const claimed = await database.query(CLAIM, [sources, everyMs, retryMs, leaseMs, first]);
  return claimed.length > 0;
}

/** Releases an attempt that was not made. */
export async function releaseAttempt(database: Queryable): Promise<void> {
  await database.query(RELEASE);
}

/** Ends an attempt, without a failure if a source provided or confirmed a list. Notifies all processes. */
export async function recordAttempt(
  database: Database,
  failure?: { readonly code: string; readonly message: string },
): Promise<void> {
  if (failure === undefined) await database.query(SUCCEED);
  else await database.query(FAIL, [failure.code, failure.message]);
  // They also poll, so a lost notification only delays.
  await database.query(NOTIFY, [CHAIN_LIST_CHANNEL]).catch(() => undefined);
}

/** Validators of a source's last accepted list. */
export async function readSourceState(
  database: Queryable,
  source: string,
): Promise<SourceState | undefined> {
  const [row] = await database.query<{
    sha256: string;
    etag: string | null;
    last_modified: string | null;
  }>(READ_SOURCE, [source]);
  if (row === undefined) return undefined;
  return {
    sha256: row.sha256,
    ...(row.etag !== null && { etag: row.etag }),
    ...(row.last_modified !== null && { lastModified: row.last_modified }),
  };
}

/** Stores the validators of a source's accepted list. */
export async function storeSourceState(
  database: Queryable,
  source: string,
  { sha256, etag, lastModified }: SourceState,
): Promise<void> {
  await database.query(STORE_SOURCE, [
    source,
    Buffer.from(sha256, 'hex'),
    etag ?? null,
    lastModified ?? null,
  ]);
}
