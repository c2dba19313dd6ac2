import { type AcknowledgedEvents } from './acknowledged-events.ts';

/** An SQL text with the label under which it appears in logs, errors and metrics, and as a prepared statement. */
export interface Statement {
  readonly label: string;
  readonly text: string;
  /** Whether one plan serves all values. Without it PostgreSQL decides, and may plan the statement at each call. */
  readonly planning?: 'once';
}

/**
 * Names an SQL text. The label is unique in the program and says what the statement does.
 * @param planning `once` for a statement that is planned longer than it runs, and whose best plan is the same for all values
 */
export function sql(label: string, text: string, planning?: 'once'): Statement {
  return { label, text, ...(planning !== undefined && { planning }) };
}

/** Something that runs statements: the database, or one transaction on it. */
export interface Queryable {
  /**
   * Runs one statement and returns its rows. `bigint` columns come as strings, `bytea` as Buffers.
   * @throws FullmatchError `database_unreachable`, `database_error` (with the SQLSTATE in `details.sqlstate`)
   */
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

/** One connection that nobody else uses, without limits of time: its temporary tables and settings end with it. */
export interface Session extends Queryable {
  /** As {@link Database.acknowledged}, of the same process. */
  readonly acknowledged: AcknowledgedEvents;
  /** As {@link Database.transaction}. */
  transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>;
  /** Writes what a statement COPY … FROM STDIN takes, part by part. @throws as {@link Queryable.query} */
  copyIn(statement: Statement, parts: Iterable<Uint8Array>): Promise<void>;
}

/** The longest that a request waits for the database, in milliseconds: its client hears of trouble within five seconds. */
export const SERVING_TIME_LIMIT_MS = 4_000;

/** The PostgreSQL database of the service: a pool of connections. */
export interface Database extends Queryable {
  /** What this process told others is stored here. */
  readonly acknowledged: AcknowledgedEvents;
  /**
   * Runs `work` in one transaction, committed when it returns and rolled back when it throws.
   * A deadlock or serialisation failure (SQLSTATE 40P01, 40001) runs it again, so `work` has no effect of its own.
   */
  transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>;
  /** Works on a connection of its own, which ends with the work. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /**
   * Calls `onNotify` after each notification on the channel with its payload, and once without one after every
   * reconnection, since notifications sent in between are lost. Resolves when listening; the result ends it.
   */
  listen(channel: string, onNotify: (payload?: string) => void): Promise<() => Promise<void>>;
  /**
   * The same database for those who cannot wait: every statement and transaction of it, with the wait for a connection,
   * fails as `database_unreachable` after the time, and at once while the database is known to hang.
   */
  limited(timeLimitMs: number): Database;
}
