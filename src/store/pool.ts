import { Client, Pool, type PoolClient } from 'pg';
import { FullmatchError, messageOf } from '../errors.ts';
import { type Logger } from '../log.ts';
import { type ConnectionTarget } from './connection-target.ts';
import { type Database, type Queryable, type Statement } from './database.ts';
import { listenOn } from './listener.ts';
import { Circuit } from './circuit.ts';
import { breaksConnection, isPassing, isRetryable, mapDatabaseError } from './sqlstate.ts';
import { StoreCondition } from './store-condition.ts';
import { TimeLimit } from './time-limit.ts';
import { wait } from './wait.ts';

/** A database behind a pool of connections, and the end of it. */
export interface DatabasePool {
  readonly database: Database;
  /** What its statements show of the database. */
  readonly condition: StoreCondition;
  /** Since when the database does not answer. */
  readonly hungSince: () => Date | undefined;
  /** Ends the listeners, waits for the statements under way, and ends all connections. */
  close(): Promise<void>;
}

/** How long a statement waits for a free connection before it fails as `database_unreachable`. */
const ACQUIRE_TIMEOUT_MS = 15_000;
/** How long a statement waits for a server that just now went away: a restart takes less. */
const RESTART_TIMEOUT_MS = 3_000;
const FIRST_DELAY_MS = 25;
const LONGEST_DELAY_MS = 250;
const MOST_RERUNS = 5;
const RERUN_DELAY_MS = 8;
/** PostgreSQL cuts longer names of prepared statements (NAMEDATALEN - 1), so that two could become one. */
const LONGEST_NAME_BYTES = 63;

/** Opens a pool of at most `size` connections. Connects when the first statement runs, so it never fails itself. */
export function createDatabasePool(
  target: ConnectionTarget,
  size: number,
  log: Logger,
): DatabasePool {
  const pool = openPool(target, size, log);
  const listeners = new Set<() => Promise<void>>();
  const closing = new AbortController();

  const acquire = async (): Promise<PoolClient> => {
    const giveUpAt = Date.now() + RESTART_TIMEOUT_MS;
    for (let delay = FIRST_DELAY_MS; ; delay = Math.min(2 * delay, LONGEST_DELAY_MS)) {
      try {
        return await pool.connect();
      } catch (error) {
        const goOn = isPassing(error) && !closing.signal.aborted && Date.now() + delay < giveUpAt;
        if (!goOn) throw mapDatabaseError(error, { server: target.describe() });
        await wait(delay, closing.signal);
      }
    }
  };

  const condition = new StoreCondition();
  const circuit = new Circuit(target, log, closing.signal);

  /** Runs work on a connection: all of it, with the wait for the connection, within the limit where there is one. */
  const onConnection = async <T>(
    limit: TimeLimit | undefined,
    work: (client: PoolClient) => Promise<T>,
  ): Promise<T> => {
    const acquired = acquire();
    if (limit === undefined) return useAndRelease(await acquired, work);
    const client = await limit.race(acquired).catch((error: unknown) => {
      // It may still come when nobody waits for it any more.
      void acquired.then((late) => late.release()).catch(() => undefined);
      throw error;
    });
    return useAndRelease(client, () => limit.race(work(client))).catch((error: unknown) => {
      if (limit.isOver) void circuit.cancelStatement(client);
      throw error;
    });
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
      query: <Row extends object>(statement: Statement, values: readonly unknown[] = []) =>
        withLimit((limit) =>
          onConnection(limit, (client) => runStatement<Row>(client, statement, values, condition)),
        ),
      transaction: <T>(work: (transaction: Queryable) => Promise<T>) =>
        withLimit(async (limit) => {
          for (let rerun = 1; ; rerun += 1) {
            try {
              return await onConnection(limit, (client) => runTransaction(client, work, condition));
            } catch (error) {
              if (!isRetryable(error) || rerun > MOST_RERUNS) throw error;
              log.debug({ rerun, error: messageOf(error) }, 'a transaction runs again');
              await wait(Math.random() * RERUN_DELAY_MS * 2 ** rerun);
            }
          }
        }),
      async listen(channel, onNotify) {
        const stop = await listenOn(target, channel, onNotify, log);
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

/** The driver's pool, whose broken connections are logged: an 'error' that nobody hears ends the process. */
function openPool(target: ConnectionTarget, size: number, log: Logger): Pool {
  const pool = new Pool({
    max: size,
    connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS,
    // Asks the target again for each connection, whatever the pool was made with.
    Client: class extends Client {
      constructor() {
        super(target.clientConfig());
      }
    },
  });
  pool.on('connect', (client) => {
    // While a client is checked out the pool does not listen, and an unheard 'error' ends the process.
    client.on('error', (error) =>
      log.debug({ error: messageOf(error) }, 'a database connection broke'),
    );
  });
  pool.on('error', (error) =>
    log.debug({ error: messageOf(error) }, 'an idle database connection broke'),
  );
  return pool;
}

async function useAndRelease<T>(
  client: PoolClient,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  let broken = false;
  try {
    return await work(client);
  } catch (error) {
    // What failed outside PostgreSQL, in the caller's work, leaves a connection that was rolled back and is sound.
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

async function runStatement<Row extends object>(
  client: PoolClient,
  statement: Statement,
  values: readonly unknown[],
  condition: StoreCondition,
): Promise<Row[]> {
  const { label, text } = statement;
  const name = Buffer.byteLength(label) <= LONGEST_NAME_BYTES ? { name: label } : {};
  try {
    const result = await client.query<Row>({ ...name, text, values: [...values] });
    condition.succeeded(statement);
    return result.rows;
  } catch (error) {
    const mapped = mapDatabaseError(error, { statement: label });
    condition.failed(statement, values, mapped);
    throw mapped;
  }
}

async function runTransaction<T>(
  client: PoolClient,
  work: (transaction: Queryable) => Promise<T>,
  condition: StoreCondition,
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
        return await runStatement<Row>(client, statement, values, condition);
      } catch (error) {
        if (error instanceof Error) failure = error;
        throw error;
      }
    },
  };
  await control(client, 'BEGIN');
  try {
    const result = await work(transaction);
    ended = true;
    const command = await control(client, 'COMMIT');
    // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK and no error.
    if (command !== 'COMMIT') throw failure ?? rolledBack();
    return result;
  } catch (error) {
    ended = true;
    // A failed ROLLBACK leaves the transaction open, which the release sees; the first error says why.
    if (client.getTransactionStatus() !== 'I')
      await control(client, 'ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function control(
  client: PoolClient,
  command: 'BEGIN' | 'COMMIT' | 'ROLLBACK',
): Promise<string> {
  try {
    const result = await client.query(command);
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
