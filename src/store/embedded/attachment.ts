import { stat } from 'node:fs/promises';
import { type Client } from 'pg';
import { FullmatchError } from '../../errors.ts';
import { type Logger } from '../../log.ts';
import { ADVISORY_LOCKS } from '../advisory-locks.ts';
import { connectClient, type ConnectionTarget, targetOfSocket } from '../connection-target.ts';
import {
  checkMajorVersion,
  type DataDirectory,
  locateDataDirectory,
  readMajorVersion,
  recordLocation,
} from './data-directory.ts';
import { EMBEDDED_USER, initialiseData } from './initialise-data.ts';
import { findRunningServer, type LockFile } from './lock-file.ts';
import { findBinaries } from './postgres-binaries.ts';
import { type ServerSize, startServer, type StartOutcome, stopServer } from './server-process.ts';
import { mapDatabaseError, SQLSTATE, sqlstateOf } from '../sqlstate.ts';
import { folderFailure } from './store-failure.ts';
import { isRoot, SYSTEM_FOLDER } from './system-user.ts';
import { wait } from '../wait.ts';

/** Data and programs of the embedded server. */
export interface EmbeddedServerOptions extends ServerSize {
  /** The service's data directory, absolute. */
  readonly dataDir: string;
  /** A folder with PostgreSQL programs (15 or later) to use instead of the package's. */
  readonly binaries?: string;
  readonly applicationName: string;
  /** Called each time when nothing is left to do but to wait for the server. */
  readonly onWaiting?: () => void;
}

/**
 * This process's attachment to the running server of a data directory. `presence` is a connection that shares
 * the presence lock with the other processes; it breaks when the server ends.
 */
export interface Attachment {
  readonly presence: Client;
  readonly data: DataDirectory;
  readonly lock: LockFile;
  readonly version: string;
  /** Whether this process started the server. */
  readonly started: boolean;
}

/** Name of the service's database on the embedded server. */
export const EMBEDDED_DATABASE = 'fullmatch';
// Advisory locks are scoped to a database, so all presence locks are taken in this one, which every cluster
// has.
const PRESENCE_DATABASE = 'postgres';
const FIRST_DELAY_MS = 10;
const LONGEST_DELAY_MS = 500;
/** Longer than a crash recovery plus a slow shutdown by another process. */
const ATTACH_TIMEOUT_MS = 300_000;
/** A server that reports ready but refuses connections for this long has lost its socket. */
const READY_TIMEOUT_MS = 10_000;

/**
 * Attaches to the server that runs on the data directory, whichever process started it, or starts one.
 * @throws FullmatchError `data_directory_unusable`, `data_directory_full`, `data_directory_too_new`,
 * `data_directory_too_old`, `embedded_server_unavailable`, `database_error`
 */
export async function attach(
  options: EmbeddedServerOptions,
  log: Logger,
  signal: AbortSignal,
): Promise<Attachment> {
  let started = false;
  let readySince: number | undefined;
  const giveUpAt = Date.now() + ATTACH_TIMEOUT_MS;
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(2 * delay, LONGEST_DELAY_MS)) {
    const data = await locateDataDirectory(options.dataDir, log);
    const lock = await findServer(data);
    let failure: unknown;
    if (lock === undefined) {
      readySince = undefined;
      started = (await start(data, options, log)) === 'started';
      if (started) continue;
    } else {
      options.onWaiting?.();
      try {
        return { ...(await join(lock, data, options)), data, lock, started };
      } catch (error) {
        // Unreachable: the server is about to accept connections, or to end because of another process or a
        // crash.
        if (!isUnreachable(error)) {
          // The server is not needed after all. A process that uses it meanwhile starts it again.
          if (started) await stopServer(data, lock.pid, lock.socketFolder);
          throw error;
        }
        failure = error;
        readySince = lock.status === 'ready' ? (readySince ?? Date.now()) : undefined;
      }
    }
    const stuck = readySince !== undefined && Date.now() - readySince > READY_TIMEOUT_MS;
    if (stuck || Date.now() > giveUpAt || signal.aborted) throw notReached(lock, data, failure);
    await wait(delay, signal);
  }
}

/** Detaches from the server, and stops it if no other process is attached. */
export async function detach({ presence, data, lock }: Attachment, log: Logger): Promise<void> {
  const last = await isLast(presence);
  if (last && !(await stopServer(data, lock.pid, lock.socketFolder)))
    log.warn({ process_id: lock.pid }, 'PostgreSQL is still shutting down');
  await presence.end().catch(() => undefined);
}

/** A database of the server that wrote the lock file. */
export function socketTarget(
  lock: LockFile,
  database: string,
  applicationName: string,
): ConnectionTarget {
  const socket = { folder: lock.socketFolder, port: lock.port };
  return targetOfSocket(socket, EMBEDDED_USER, database, applicationName);
}

async function findServer(data: DataDirectory): Promise<LockFile | undefined> {
  if (data.major === undefined) return undefined;
  try {
    return await findRunningServer(data.path);
  } catch (error) {
    throw folderFailure(error, data.path);
  }
}

async function start(
  data: DataDirectory,
  options: EmbeddedServerOptions,
  log: Logger,
): Promise<StartOutcome> {
  const binaries = await findBinaries(
    {
      copyFolder: isRoot() ? SYSTEM_FOLDER : options.dataDir,
      ...(options.binaries === undefined ? {} : { folder: options.binaries }),
      ...(data.account === undefined ? {} : { account: data.account }),
    },
    log,
  );
  try {
    if (data.major === undefined) {
      log.info({ path: data.path }, 'making the database');
      options.onWaiting?.();
      await initialiseData(data, binaries);
      await recordLocation(options.dataDir, data.path);
    }
    const made = data.major ?? (await readMajorVersion(data.path));
    if (made !== undefined) checkMajorVersion(data.path, made, binaries);
    return await startServer(data, binaries, options, options.onWaiting);
  } catch (error) {
    throw folderFailure(error, data.path);
  }
}

/** Connects, checks that it is the right server, and takes the presence lock shared. */
async function join(
  lock: LockFile,
  data: DataDirectory,
  options: EmbeddedServerOptions,
): Promise<{ presence: Client; version: string }> {
  // While the previous last process stops the server, wait for the lock until the shutdown breaks the
  // connection.
  const presence = await connectClient(
    socketTarget(lock, PRESENCE_DATABASE, options.applicationName),
    {
      statement_timeout: 0,
    },
  );
  try {
    const version = await checkIdentity(presence, data);
    await presence.query('SELECT pg_advisory_lock_shared($1, $2)', [...ADVISORY_LOCKS.presence]);
    await ensureDatabase(presence);
    return { presence, version };
  } catch (error) {
    await presence.end().catch(() => undefined);
    throw mapDatabaseError(error, { statement: 'join the embedded server', server: data.path });
  }
}

async function checkIdentity(presence: Client, data: DataDirectory): Promise<string> {
  const result = await presence.query<{ folder: string; version: string }>(
    `SELECT current_setting('data_directory') AS folder, current_setting('server_version') AS version`,
  );
  const { folder, version } = result.rows[0] ?? { folder: '', version: '' };
  const [theirs, ours] = await Promise.all([stat(folder), stat(data.path)]);
  if (theirs.dev !== ours.dev || theirs.ino !== ours.ino) {
    throw new FullmatchError(
      'embedded_server_unavailable',
      `The PostgreSQL that answers for ${data.path} runs on ${folder}; stop it and start again.`,
      { details: { path: data.path } },
    );
  }
  return version;
}

async function ensureDatabase(presence: Client): Promise<void> {
  const found = await presence.query('SELECT 1 FROM pg_database WHERE datname = $1', [
    EMBEDDED_DATABASE,
  ]);
  if (found.rowCount !== 0) return;
  try {
    await presence.query(`CREATE DATABASE ${EMBEDDED_DATABASE} TEMPLATE template0`);
  } catch (error) {
    // Another process that attached at the same time created it.
    const state = sqlstateOf(error);
    if (state !== SQLSTATE.duplicateDatabase && state !== SQLSTATE.uniqueViolation) throw error;
  }
}

/** Releases the shared presence lock and tries to take it exclusively. Processes that attach meanwhile wait for it. */
async function isLast(presence: Client): Promise<boolean> {
  try {
    const keys = [...ADVISORY_LOCKS.presence];
    await presence.query('SELECT pg_advisory_unlock_shared($1, $2)', keys);
    const result = await presence.query<{ alone: boolean }>(
      'SELECT pg_try_advisory_lock($1, $2) AS alone',
      keys,
    );
    return result.rows[0]?.alone === true;
  } catch {
    // The connection broke: the server is gone, or is being restarted by another process that uses it.
    return false;
  }
}

/** Whether an error means that the server cannot be reached. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof FullmatchError && error.code === 'database_unreachable';
}

function notReached(
  lock: LockFile | undefined,
  data: DataDirectory,
  cause: unknown,
): FullmatchError {
  const message =
    lock === undefined
      ? `PostgreSQL could not be started on ${data.path}: an earlier one still uses it. Its log is server.log there.`
      : `PostgreSQL (process ${lock.pid}) runs on ${data.path} but does not respond at its socket in ${lock.socketFolder}. ` +
        `Stop it with "kill -INT ${lock.pid}" and start again.`;
  return new FullmatchError('embedded_server_unavailable', message, {
    cause,
    details: { path: data.path },
  });
}
