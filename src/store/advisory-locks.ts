import { sql, type Queryable } from './database.ts';

/**
 * The keys of our session and transaction advisory locks: a first number of our own, so that they do not
 * meet those of other programs in the same database, and a second one for the purpose.
 */
export const ADVISORY_LOCKS = {
  /** Held shared by every process that uses the embedded server: who gets it exclusively is the last. */
  presence: [1_179_992_141, 1],
  /** Held by the process that applies a migration. */
  migration: [1_179_992_141, 2],
  /** Held by the transaction that accepts a chain list. */
  chainList: [1_179_992_141, 3],
  /** Held by the transaction that claims a verification job. */
  jobClaims: [1_179_992_141, 4],
  /** Held by the transaction that puts a verification job into the queue. */
  jobPlaces: [1_179_992_141, 5],
  /** Held by the transaction that gives events their positions. */
  feed: [1_179_992_141, 6],
  /** Held by the transaction that takes events of the feed into tables. */
  followers: [1_179_992_141, 7],
  /** Held by the transaction that changes signatures: so writers never wait for each other's rows in a circle. */
  signatures: [1_179_992_141, 8],
  /** Held by the transaction that corrects counts or matches. */
  repairs: [1_179_992_141, 9],
  /** The first number is one of its own, and the second is drawn: held to see that two addresses lead to one database. */
  identity: [1_179_992_142, 0],
} as const satisfies Record<string, readonly [number, number]>;

/**
 * How long the holder of a lock may rest between two statements, in milliseconds: one that was stopped, or whose machine
 * is gone, loses it.
 */
const REST_MS = 2_000;
/** How long the lock is waited for: longer than for a holder that rests, shorter than a client waits for its answer. */
const WAIT_MS = 3_500;

const LOCK = sql(
  'take advisory lock',
  `SELECT set_config('lock_timeout', '${WAIT_MS}', true),
     set_config('idle_in_transaction_session_timeout', '${REST_MS}', true), pg_advisory_xact_lock($1, $2)`,
);

/**
 * Waits for one of {@link ADVISORY_LOCKS} and holds it until the transaction ends. A lock that is not had in time, and a
 * transaction that rests for too long, are errors as those of a database that cannot be reached.
 */
export async function lockUntilCommit(
  transaction: Queryable,
  lock: keyof typeof ADVISORY_LOCKS,
): Promise<void> {
  await transaction.query(LOCK, [...ADVISORY_LOCKS[lock]]);
}
