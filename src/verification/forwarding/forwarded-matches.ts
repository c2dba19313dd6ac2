import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { type ExplorerLinks, type ExplorerName } from '../../chains/explorer/explorer-verifier.ts';
import { sql, type Database } from '../../store/database.ts';

/** An explorer's progress with a forwarded match. */
export interface ExternalVerification {
  readonly state: 'waiting' | 'submitted' | 'verified' | 'failed';
  /** The explorer's own id. */
  readonly externalId?: string | null;
  /** Why it has not verified the match, or not yet. */
  readonly error?: string | null;
  readonly links: Partial<ExplorerLinks>;
}

/** A match that is due to be sent to an explorer, or polled. */
export interface DueForwarding {
  readonly jobId: string;
  readonly explorer: ExplorerName;
  readonly state: 'waiting' | 'submitted';
  readonly externalId?: string;
  readonly attempts: number;
  readonly chainId: number;
  readonly address: Hex;
}

// One statement takes a due row and sets its next time, so that no two processes contact the same explorer.
// If the process dies, others take the row after that time.
const TAKE = sql(
  'take due external verification',
  `UPDATE external_verifications AS taken
     SET attempts = taken.attempts + 1, next_at = now() + $1 * interval '1 millisecond'
   FROM verification_jobs AS job
   WHERE (taken.job_id, taken.explorer) = (
       SELECT job_id, explorer FROM external_verifications
       WHERE state IN ('waiting', 'submitted') AND next_at <= now()
       ORDER BY next_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     AND job.id = taken.job_id
   RETURNING taken.job_id, taken.explorer, taken.state, taken.external_id, taken.attempts, job.chain_id, job.address`,
);

const NOTE = sql(
  'note external verification',
  `UPDATE external_verifications SET state = $3, external_id = coalesce($4, external_id), error = $5, links = $6,
     next_at = now() + $7 * interval '1 millisecond'
   WHERE job_id = $1 AND explorer = $2 AND state IN ('waiting', 'submitted')`,
);

const HAND_BACK = sql(
  'hand external verification back',
  `UPDATE external_verifications SET attempts = attempts - 1, next_at = now()
   WHERE job_id = $1 AND explorer = $2 AND attempts = $3 AND state IN ('waiting', 'submitted')`,
);

/** Releases a row to other processes, as if it had not been taken. */
export async function releaseForwarding(
  database: Database,
  { jobId, explorer, attempts }: Pick<DueForwarding, 'jobId' | 'explorer' | 'attempts'>,
): Promise<void> {
  await database.query(HAND_BACK, [jobId, explorer, attempts]);
}

/** Leases the next row that is due; returns undefined if there is none. */
export async function leaseDueForwarding(
  database: Database,
  leaseMs: number,
): Promise<DueForwarding | undefined> {
  const [row] = await database.query<{
    job_id: string;
    explorer: ExplorerName;
    state: DueForwarding['state'];
    external_id: string | null;
    attempts: number;
    chain_id: string;
    address: Buffer;
  }>(TAKE, [leaseMs]);
  if (row === undefined) return undefined;
  return {
    ...{ jobId: row.job_id, explorer: row.explorer, state: row.state, attempts: row.attempts },
    ...(row.external_id !== null && { externalId: row.external_id }),
    ...{ chainId: Number(row.chain_id), address: bytesToHex(row.address) },
  };
}

/** Records an explorer's progress and the time of the next poll. */
export async function recordForwarding(
  database: Database,
  { jobId, explorer }: Pick<DueForwarding, 'jobId' | 'explorer'>,
  { state, externalId, error, links }: ExternalVerification,
  pauseMs: number,
): Promise<void> {
  await database.query(NOTE, [
    ...[jobId, explorer, state, externalId ?? null, error ?? null],
    ...[JSON.stringify(links), pauseMs],
  ]);
}
