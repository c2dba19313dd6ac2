import { type AcknowledgedEvents } from './acknowledged-events.ts';

/** An SQL text and its label, which names it in logs, errors and metrics, and as a prepared statement. */
export interface Statement {
  readonly label: string;
  readonly text: string;
  /**
   * Whether to use one generic plan for all values. Otherwise PostgreSQL decides, and may plan the statement
   * at each call.
   */
  readonly planning?: 'once';
}

/**
 * Labels an SQL text. The label is unique in the program and describes the statement.
 * @param planning `once` for a statement that takes longer to plan than to run, and whose best plan is the
 * same for all values
 */
export function sql(label: string, text: string, planning?: 'once'): Statement {
  return { label, text, ...(planning !== undefined && { planning }) };
}

/** Runs statements: the database, or a transaction on it. */
export interface Queryable {
  /**
   * Runs one statement and returns its rows. `bigint` columns are returned as strings, `bytea` as Buffers.
   * @throws FullmatchError `database_unreachable`, `database_error` (with the SQLSTATE in `details.sqlstate`)
   */
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

/** A dedicated connection without timeouts; its temporary tables and settings end with it. */
export interface Session extends Queryable {
  /** Same as {@link Database.acknowledged}. */
  readonly acknowledged: AcknowledgedEvents;
  /** Same as {@link Database.transaction}. */
  transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>;
  /**
   * Streams data to a COPY … FROM STDIN statement.
   * @throws as {@link Queryable.query}
   */
  copyIn(statement: Statement, parts: Iterable<Uint8Array>): Promise<void>;
}

/**
 * Maximum time that a request waits for the database, in milliseconds: its client learns of trouble within
 * five seconds.
 */
export const SERVING_TIME_LIMIT_MS = 4_000;

/** The PostgreSQL database of the service: a connection pool. */
export interface Database extends Queryable {
  /** Events that this process has reported as stored. */
  readonly acknowledged: AcknowledgedEvents;
  /**
   * Runs `work` in a transaction, committed when it returns and rolled back when it throws. It runs again
   * after a deadlock or serialisation failure (SQLSTATE 40P01, 40001), so `work` must have no other effect.
   */
  transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>;
  /** Runs work on a dedicated connection, which is closed afterwards. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Calls `onNotify` with the payload of each notification on the channel, and without one after every
   * reconnection, since notifications may have been missed. Resolves when listening; the returned function
   * stops it.
   */
  listen(channel: string, onNotify: (payload?: string) => void): Promise<() => Promise<void>>;
  /**
   * The same database with a deadline: every statement and transaction, including the wait for a connection,
   * fails as `database_unreachable` after the time, and at once while the database is known to hang.
   */
  limited(timeLimitMs: number): Database;
}
