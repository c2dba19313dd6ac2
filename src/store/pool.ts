import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Client, type ClientBase, type PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { FullmatchError, messageOf } from '../errors.ts';
import { createTurns } from '../lib/in-turn.ts';
import { type Logger } from '../log.ts';
import { AcknowledgedEvents } from './acknowledged-events.ts';
import {
  BEGIN_POOLED,
  connectClient,
  type ConnectionTarget,
  STATEMENT_TIMEOUT_MS,
} from './connection-target.ts';
import { type Database, type Queryable, type Session, type Statement } from './database.ts';
import { listenOrPoll } from './listener.ts';
import { Circuit } from './circuit.ts';
import { acquireFrom, openDriverPool } from './driver-pool.ts';
import { needsSession } from './session-target.ts';
import { breaksConnection, isRetryable, mapDatabaseError } from './sqlstate.ts';
import { StoreCondition } from './store-condition.ts';
import { TimeLimit } from './time-limit.ts';
import { wait } from './wait.ts';

/** A database behind a connection pool, and how to close it. */
export interface DatabasePool {
  readonly database: Database;
  /** Condition of the database, as its statements show it. */
  readonly condition: StoreCondition;
  /** Time since which the database has not responded. */
  readonly hungSince: () => Date | undefined;
  /** Stops the listeners, waits for running statements, and closes all connections. */
  close(): Promise<void>;
}

const NO_TIME_LIMITS = { statement_timeout: 0, idle_in_transaction_session_timeout: 0 };
/** The setting ends with the transaction. */
const BEGIN_PLANNED_ONCE = 'BEGIN READ ONLY; SET LOCAL plan_cache_mode = force_generic_plan';
const MAX_RERUNS = 5;
const RERUN_DELAY_MS = 8;
/** PostgreSQL truncates longer names of prepared statements (NAMEDATALEN - 1), so that two could collide. */
const LONGEST_NAME_BYTES = 63;

/**
 * Opens a pool of at most `size` connections. It connects with the first statement, so opening never fails.
 * @param sessions target for listeners that need a session; without it they poll behind a pooler
 */
export function createDatabasePool(
  target: ConnectionTarget,
  size: number,
  log: Logger,
  sessions?: ConnectionTarget,
): DatabasePool {
  const turned = new WeakSet<object>();
  const suspect = (): void => void circuit.suspect();
  const pool = openDriverPool(target, size, turned, suspect);
  const listeners = new Set<() => Promise<void>>();
  const closing = new AbortController();
  // Each statement that waits for the server listens for the abort.
  setMaxListeners(0, closing.signal);

  const condition = new StoreCondition();
  const acknowledged = new AcknowledgedEvents();
  const run: Run = { condition, target };
  const circuit = new Circuit(target, log, closing.signal);
  const acquire = (): Promise<PoolClient> =>
    acquireFrom(pool, { target, turned, closing, onAway: suspect });

  /** Runs work on a connection; the limit, if any, includes the wait for the connection. */
  const onConnection = async <T>(
    limit: TimeLimit | undefined,
    work: (client: PoolClient) => Promise<T>,
  ): Promise<T> => {
    const acquired = acquire();
    if (limit === undefined) return useAndRelease(await acquired, work);
    const client = await limit.race(acquired).catch((error: unknown) => {
      // The connection may still arrive after the caller stopped waiting.
      void acquired.then((late) => late.release()).catch(() => undefined);
      throw error;
    });
    return useAndRelease(client, () =>
      limit.race(work(client)).catch(async (error: unknown) => {
        const cancelled = limit.isOver ? circuit.cancelStatement(client) : undefined;
        // A pooler forgets a client that disconnected, and could no longer cancel its statement.
        if (target.isPooled === true) await cancelled;
        throw error;
      }),
    );
  };

  const createDatabase = (timeLimitMs?: number): Database => {
    const withLimit = async <T>(work: (limit?: TimeLimit) => Promise<T>): Promise<T> => {
      if (timeLimitMs === undefined) return work();
      const limit = new TimeLimit(timeLimitMs, target, circuit);
      try {
        return await work(limit);
      } finally {
        limit.end();
      }
    };
    return {
      acknowledged,
      query: <Row extends object>(statement: Statement, values: readonly unknown[] = []) =>
        withLimit((limit) =>
          onConnection(limit, (client) => runAlone<Row>(client, statement, values, run)),
        ),
      transaction: <T>(work: (transaction: Queryable) => Promise<T>) =>
        withLimit((limit) =>
          runAgain(log, () => onConnection(limit, (client) => runTransaction(client, work, run))),
        ),
      session: async (work) => {
        const own = sessions ?? target;
        if (own.isPooled === true) throw needsSession(own);
        const client = await connectClient(own, NO_TIME_LIMITS);
        try {
          return await work({
            ...sessionOn(client, { condition, target: own }, log),
            acknowledged,
          });
        } finally {
          await client.end().catch(() => undefined);
        }
      },
      async listen(channel, onNotify) {
        const stop = await listenOrPoll(sessions ?? target, channel, onNotify, log);
        listeners.add(stop);
        return async () => {
          listeners.delete(stop);
          await stop();
        };
      },
      limited: (ms) => createDatabase(ms),
    };
  };
  const database = createDatabase();
  const close = async (): Promise<void> => {
    closing.abort();
    await Promise.all([...listeners].map((stop) => stop()));
    await pool.end();
  };
  return { database, condition, hungSince: () => circuit.openSince, close };
}

/** Repeats a transaction that PostgreSQL aborted in favour of another one. */
async function runAgain<T>(log: Logger, work: () => Promise<T>): Promise<T> {
  for (let rerun = 1; ; rerun += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || rerun > MAX_RERUNS) throw error;
      log.debug({ rerun, error: messageOf(error) }, 'a transaction runs again');
      await wait(Math.random() * RERUN_DELAY_MS * 2 ** rerun);
    }
  }
}

/** A connection as a {@link Session}: concurrent calls run in sequence. */
function sessionOn(client: Client, run: Run, log: Logger): Omit<Session, 'acknowledged'> {
  const inTurn = createTurns();
  return {
    query: <Row extends object>(statement: Statement, values: readonly unknown[] = []) =>
      inTurn(() => runStatement<Row>(client, statement, values, run)),
    transaction: (work) => inTurn(() => runAgain(log, () => runTransaction(client, work, run))),
    copyIn: ({ label, text }, parts) =>
      inTurn(async () => {
        try {
          await pipeline(Readable.from(parts, { objectMode: true }), client.query(copyFrom(text)));
        } catch (error) {
          throw mapDatabaseError(error, { statement: label });
        }
      }),
  };
}

async function useAndRelease<T>(
  client: PoolClient,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  let broken = false;
  try {
    return await work(client);
  } catch (error) {
    // An error outside PostgreSQL, in the caller's work, leaves a healthy connection that was rolled back.
    broken =
      client.getTransactionStatus() !== 'I' || (isFromStore(error) && breaksConnection(error));
    throw error;
  } finally {
    client.release(broken);
  }
}

function isFromStore(error: unknown): boolean {
  return (
    error instanceof FullmatchError &&
    (error.code === 'database_unreachable' || error.code === 'database_error')
  );
}

/** Context in which a pool's statements run. */
interface Run {
  readonly condition: StoreCondition;
  readonly target: ConnectionTarget;
  /** Whether the statement is its own transaction. */
  readonly isAlone?: true;
}

async function runStatement<Row extends object>(
  client: ClientBase,
  statement: Statement,
  values: readonly unknown[],
  { condition, target, isAlone }: Run,
): Promise<Row[]> {
  const { label, text } = statement;
  const isPooled = target.isPooled === true;
  // A pooler uses another server connection for the next transaction, which does not have our prepared
  // statements.
  const isNamed = !isPooled && Buffer.byteLength(label) <= LONGEST_NAME_BYTES;
  const how = {
    ...(isNamed && { name: label }),
    ...(isPooled && isAlone && { query_timeout: STATEMENT_TIMEOUT_MS }),
  };
  try {
    const result = await client.query<Row>({ ...how, text, values: [...values] });
    condition.succeeded(statement);
    return result.rows;
  } catch (error) {
    const mapped = mapDatabaseError(error, { statement: label });
    condition.failed(statement, values, mapped);
    throw mapped;
  }
}

/** Runs a statement that is its own transaction. */
function runAlone<Row extends object>(
  client: ClientBase,
  statement: Statement,
  values: readonly unknown[],
  run: Run,
): Promise<Row[]> {
  // Behind a pooler there are no prepared statements, hence no plans to keep.
  if (statement.planning !== 'once' || run.target.isPooled === true)
    return runStatement<Row>(client, statement, values, { ...run, isAlone: true });
  const work = (transaction: Queryable) => transaction.query<Row>(statement, values);
  return runTransaction(client, work, run, BEGIN_PLANNED_ONCE);
}

async function runTransaction<T>(
  client: ClientBase,
  work: (transaction: Queryable) => Promise<T>,
  run: Run,
  begin = run.target.isPooled === true ? BEGIN_POOLED : 'BEGIN',
): Promise<T> {
  let ended = false;
  let failure: Error | undefined;
  const transaction: Queryable = {
    async query<Row extends object>(statement: Statement, values: readonly unknown[] = []) {
      if (ended) {
        // The connection may already serve another caller.
        throw new FullmatchError(
          'internal_error',
          `The statement "${statement.label}" came after its transaction had ended; await it inside the transaction.`,
          { details: { statement: statement.label } },
        );
      }
      try {
        return await runStatement<Row>(client, statement, values, run);
      } catch (error) {
        if (error instanceof Error) failure = error;
        throw error;
      }
    },
  };
  await control(client, 'BEGIN', begin);
  try {
    const result = await work(transaction);
    ended = true;
    const command = await commit(client);
    // PostgreSQL responds to COMMIT of a failed transaction with ROLLBACK and no error.
    if (command !== 'COMMIT') throw failure ?? rolledBack();
    return result;
  } catch (error) {
    ended = true;
    // A failed ROLLBACK leaves the transaction open, which is detected at release; the first error is the
    // cause.
    if (client.getTransactionStatus() !== 'I')
      await control(client, 'ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/**
 * If PostgreSQL stops waiting for its synchronous standbys, for example after `statement_timeout`, it reports
 * only a warning: the commit would be lost in a failover, so it is not acknowledged.
 */
async function commit(client: ClientBase): Promise<string> {
  let isReplicated = true;
  const hear = ({ routine }: { readonly routine?: string | undefined }): void => {
    if (routine === 'SyncRepWaitForLSN') isReplicated = false;
  };
  client.on('notice', hear);
  try {
    const command = await control(client, 'COMMIT');
    if (isReplicated) return command;
  } finally {
    client.off('notice', hear);
  }
  throw new FullmatchError(
    'database_unavailable',
    'PostgreSQL gave up waiting for its synchronous standby: it is unknown whether the data survives a failover. Store it again.',
    { details: { statement: 'commit' } },
  );
}

async function control(
  client: ClientBase,
  command: 'BEGIN' | 'COMMIT' | 'ROLLBACK',
  text: string = command,
): Promise<string> {
  try {
    const result = await client.query(text);
    return result.command;
  } catch (error) {
    throw mapDatabaseError(error, { statement: command.toLowerCase() });
  }
}

function rolledBack(): FullmatchError {
  return new FullmatchError(
    'database_error',
    'PostgreSQL rolled a transaction back instead of committing it.',
    {
      details: { statement: 'commit' },
    },
  );
}
