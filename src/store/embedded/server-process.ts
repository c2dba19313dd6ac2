import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { FullmatchError } from '../../errors.ts';
import { type DataDirectory } from './data-directory.ts';
import { clearStaleLocks, readLockFile, isServerOn } from './lock-file.ts';
import { type PostgresBinaries } from './postgres-binaries.ts';
import { CHILD_ENVIRONMENT, spawnAs } from './run-command.ts';
import { prepareSocketFolder, removeSocketFolder, SOCKET_PORT } from './socket-folder.ts';
import { programFailure } from './store-failure.ts';
import { wait } from '../wait.ts';

/** PostgreSQL's log in its data directory; the previous one ends in `.1`. */
const LOG_FILE = 'server.log';
const LARGEST_LOG_BYTES = 8 * 1024 * 1024;
const LOG_TAIL_BYTES = 8 * 1024;
const POLL_MS = 10;
/** A server with much to recover after a crash takes minutes. */
const START_TIMEOUT_MS = 300_000;
/** Less than the service's own ten seconds; a server that takes longer to stop is no longer watched. */
const STOP_TIMEOUT_MS = 8_000;

/** Size of the server; a process that attaches to a running one uses it as it is. */
export interface ServerSize {
  /** Memory for pages of tables and indexes, shared by all its processes; 64 MiB by default. */
  readonly sharedBuffersBytes?: number;
  /** Maximum connections of all processes together; 100 by default. */
  readonly maxConnections?: number;
}

/** The server's settings. They are passed at each start, so a later Fullmatch's settings apply to older data. */
function settings(
  socketFolder: string,
  { sharedBuffersBytes = 64 * 2 ** 20, maxConnections = 100 }: ServerSize,
): Record<string, string> {
  return {
    listen_addresses: '',
    // The value is a list: quotes keep spaces and commas in a path.
    unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port: String(SOCKET_PORT),
    max_connections: String(maxConnections),
    shared_buffers: `${Math.ceil(sharedBuffersBytes / 1024)}kB`,
    fsync: 'on',
    // The default of 4 is meant for spinning disks: with it PostgreSQL scans whole tables to read one page of
    // rows.
    random_page_cost: '1.1',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    log_destination: 'stderr',
    logging_collector: 'off',
    cluster_name: 'fullmatch',
  };
}

/** Result of a start: this process's server is ready, or another one was first. */
export type StartOutcome = 'started' | 'outrun';

/**
 * Starts PostgreSQL on the data directory, detached from this process: it outlives it, and receives no
 * signals of its terminal. Resolves when it accepts connections, or when another server turns out to hold the
 * directory.
 * @throws FullmatchError `embedded_server_unavailable`, `data_directory_full`, `data_directory_unusable`
 */
export async function startServer(
  data: DataDirectory,
  binaries: PostgresBinaries,
  size: ServerSize,
  onWaiting?: () => void,
): Promise<StartOutcome> {
  const socketFolder = await prepareSocketFolder(data.path, data.account);
  await clearStaleLocks(data.path, socketFolder, SOCKET_PORT);
  const log = await openLog(data);
  try {
    const { size: logStart } = await log.stat();
    const child = spawnPostgres(data, binaries, settings(socketFolder, size), log);
    onWaiting?.();
    return await waitUntilReady(child, data, () => readLog(data, logStart));
  } finally {
    await log.close();
  }
}

/**
 * Stops the server with a fast shutdown: it keeps committed data and closes all connections. Returns false if
 * that takes longer than a service may take to end; the server then ends by itself.
 */
export async function stopServer(
  data: DataDirectory,
  pid: number,
  socketFolder: string,
): Promise<boolean> {
  if (!(await isServerOn(pid, data.path))) return true;
  process.kill(pid, 'SIGINT');
  const giveUpAt = Date.now() + STOP_TIMEOUT_MS;
  while (await isServerOn(pid, data.path)) {
    if (Date.now() > giveUpAt) return false;
    await wait(POLL_MS);
  }
  await removeSocketFolder(socketFolder, data.path);
  return true;
}

function spawnPostgres(
  data: DataDirectory,
  binaries: PostgresBinaries,
  given: Readonly<Record<string, string>>,
  log: FileHandle,
): ChildProcess {
  const parameters = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(binaries.postgres, ['-D', data.path, ...parameters], {
    cwd: '/',
    detached: true,
    env: CHILD_ENVIRONMENT,
    stdio: ['ignore', log.fd, log.fd],
    ...spawnAs(data.account),
  });
  child.unref();
  return child;
}

async function waitUntilReady(
  child: ChildProcess,
  data: DataDirectory,
  readOutput: () => Promise<string>,
): Promise<StartOutcome> {
  let ended: string | undefined;
  child.once('error', (error) => {
    ended = error.message;
  });
  child.once('exit', (code, signal) => {
    ended = `it ended with ${signal ?? `exit code ${code ?? 'none'}`}`;
  });
  const giveUpAt = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const lock = await readLockFile(data.path);
    if (lock !== undefined && lock.pid === child.pid && lock.status === 'ready') return 'started';
    if (ended !== undefined) {
      const output = await readOutput();
      if (isOutrun(output)) return 'outrun';
      throw programFailure('postgres', data.path, `${output}\n${ended}`);
    }
    if (Date.now() > giveUpAt) {
      throw new FullmatchError(
        'embedded_server_unavailable',
        `PostgreSQL (process ${child.pid ?? 'unknown'}) has not become ready in ${START_TIMEOUT_MS / 1000} seconds; its log is ${path.join(data.path, LOG_FILE)}.`,
        { details: { path: data.path } },
      );
    }
    await wait(POLL_MS);
  }
}

// The lock file of another server, or the shared memory of one whose postmaster was killed and whose last
// children have not noticed yet. Both are reasons to check again.
function isOutrun(output: string): boolean {
  return /lock file "[^"]*" already exists|pre-existing shared memory block|lock file "[^"]*" is empty/.test(
    output,
  );
}

async function openLog(data: DataDirectory): Promise<FileHandle> {
  const file = path.join(data.path, LOG_FILE);
  const old = await stat(file).catch(() => undefined);
  if (old !== undefined && old.size > LARGEST_LOG_BYTES) await rename(file, `${file}.1`);
  // If this process is root, the folder belongs to another user, and root must not follow a link out of it.
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  const log = await open(file, O_APPEND | O_CREAT | O_NOFOLLOW | O_RDWR, 0o600);
  if (data.account !== undefined) await log.chown(data.account.uid, data.account.gid);
  return log;
}

/** The end of what was logged since `start`. */
async function readLog(data: DataDirectory, start: number): Promise<string> {
  const log = await open(path.join(data.path, LOG_FILE), 'r');
  try {
    const { size } = await log.stat();
    const from = Math.max(start, size - LOG_TAIL_BYTES);
    const { buffer, bytesRead } = await log.read(Buffer.alloc(size - from), 0, size - from, from);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await log.close();
  }
}
