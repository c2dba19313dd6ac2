import { sql, type Queryable } from './database.ts';

/**
 * Keys of session and transaction advisory locks: the first number is Fullmatch's own, so that they do not
 * collide with other programs in the same database; the second is the purpose.
 */
export const ADVISORY_LOCKS = {
  /**
   * Held shared by every process that uses the embedded server; a process that obtains it exclusively is the
   * last one.
   */
  presence: [1_179_992_141, 1],
  /** Held by the process that applies a migration. */
  migration: [1_179_992_141, 2],
  /** Held by the transaction that accepts a chain list. */
  chainList: [1_179_992_141, 3],
  /** Held by the transaction that claims a verification job. */
  jobClaims: [1_179_992_141, 4],
  /** Held by the transaction that enqueues a verification job. */
  jobPlaces: [1_179_992_141, 5],
  /** Held by the transaction that assigns feed positions to events. */
  feed: [1_179_992_141, 6],
  /** Held by the transaction that applies feed events to tables. */
  followers: [1_179_992_141, 7],
  /** Held by the transaction that changes signatures, so that writers never deadlock on each other's rows. */
  signatures: [1_179_992_141, 8],
  /** Held by the transaction that corrects counts or matches. */
  repairs: [1_179_992_141, 9],
  /** Held by the session of the import that uses the staging schema. */
  staging: [1_179_992_141, 10],
  /** Has its own first number and a random second one: held to check that two addresses lead to the same database. */
  identity: [1_179_992_142, 0],
} as const satisfies Record<string, readonly [number, number]>;

/**
 * How long a lock holder may be idle between two statements, in milliseconds. A holder that was stopped, or
 * whose machine is gone, loses the lock.
 */
const REST_MS = 2_000;
/** Timeout for the lock: longer than an idle holder keeps it, shorter than a client waits for a response. */
const WAIT_MS = 3_500;

const LOCK = sql(
  'take advisory lock',
  `SELECT set_config('lock_timeout', '${WAIT_MS}', true),
     set_config('idle_in_transaction_session_timeout', '${REST_MS}', true), pg_advisory_xact_lock($1, $2)`,
);

/**
 * Acquires one of {@link ADVISORY_LOCKS} until the transaction ends. If the lock is not acquired in time, or
 * the transaction is idle for too long, the error is that of an unreachable database.
 */
export async function lockUntilCommit(
  transaction: Queryable,
  lock: keyof typeof ADVISORY_LOCKS,
): Promise<void> {
  await transaction.query(LOCK, [...ADVISORY_LOCKS[lock]]);
}
