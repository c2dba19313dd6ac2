import { Client, Pool, type PoolClient } from 'pg';
import { FullmatchError, messageOf } from '../errors.ts';
import { type Logger } from '../log.ts';
import { type ConnectionTarget } from './connection-target.ts';
import { type Database, type Queryable, type Statement } from './database.ts';
import { listenOn } from './listener.ts';
import { breaksConnection, isPassing, isRetryable, mapDatabaseError } from './sqlstate.ts';
import { wait } from './wait.ts';

/** A database behind a pool of connections, and the end of it. */
export interface DatabasePool {
  readonly database: Database;
  /** Ends the listeners, waits for the statements under way, and ends all connections. */
  close(): Promise<void>;
}

/** How long a statement waits for a free connection before it fails as `database_unreachable`. */
const ACQUIRE_TIMEOUT_MS = 15_000;
/** How long a statement waits for a server that just now went away: a restart takes less. */
const RESTART_PATIENCE_MS = 3_000;
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
  const pool = new Pool({
    max: size,
    connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS,
    // Asks the target anew for each connection, whatever the pool was made with.
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

  const listeners = new Set<() => Promise<void>>();
  const closing = new AbortController();

  const acquire = async (): Promise<PoolClient> => {
    const giveUpAt = Date.now() + RESTART_PATIENCE_MS;
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

  const database: Database = {
    async query<Row extends object>(statement: Statement, values: readonly unknown[] = []) {
      const client = await acquire();
      return useAndRelease(client, () => runStatement<Row>(client, statement, values));
    },
    async transaction<T>(work: (transaction: Queryable) => Promise<T>) {
      for (let rerun = 1; ; rerun += 1) {
        const client = await acquire();
        try {
          return await useAndRelease(client, () => runTransaction(client, work));
        } catch (error) {
          if (!isRetryable(error) || rerun > MOST_RERUNS) throw error;
          log.debug({ rerun, error: messageOf(error) }, 'a transaction runs again');
          await wait(Math.random() * RERUN_DELAY_MS * 2 ** rerun);
        }
      }
    },
    async listen(channel, onNotify) {
      const stop = await listenOn(target, channel, onNotify, log);
      listeners.add(stop);
      return async () => {
        listeners.delete(stop);
        await stop();
      };
    },
  };
  const close = async (): Promise<void> => {
    closing.abort();
    await Promise.all([...listeners].map((stop) => stop()));
    await pool.end();
  };
  return { database, close };
}

async function useAndRelease<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
  let broken = false;
  try {
    return await work();
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
  { label, text }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const name = Buffer.byteLength(label) <= LONGEST_NAME_BYTES ? { name: label } : {};
  try {
    const result = await client.query<Row>({ ...name, text, values: [...values] });
    return result.rows;
  } catch (error) {
    throw mapDatabaseError(error, { statement: label });
  }
}

async function runTransaction<T>(
  client: PoolClient,
  work: (transaction: Queryable) => Promise<T>,
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
        return await runStatement<Row>(client, statement, values);
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
