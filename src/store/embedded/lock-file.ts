import { link, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { draftName, isAlive } from './data-directory.ts';
import { runCommand } from './run-command.ts';
import { systemCode } from './store-failure.ts';

/** Contents of `postmaster.pid` of a running server (PostgreSQL's pidfile.h). */
export interface LockFile {
  /** Process id of the postmaster. */
  readonly pid: number;
  readonly port: number;
  readonly socketFolder: string;
  /** `starting`, `stopping`, `ready` or `standby`; empty at first. */
  readonly status: string;
}

const LOCK_FILE = 'postmaster.pid';
/** Line numbers in the file, from 0. */
const LINE = { pid: 0, port: 3, socketFolder: 4, status: 7 } as const;

/** The lock file of a data directory; undefined if there is none, or none with a process id yet. */
export async function readLockFile(dataDirectory: string): Promise<LockFile | undefined> {
  const text = await readIfThere(path.join(dataDirectory, LOCK_FILE));
  if (text === undefined) return undefined;
  const lines = text.split('\n');
  // A single-user PostgreSQL writes its id negated.
  const pid = Math.abs(Number.parseInt(lines[LINE.pid] ?? '', 10));
  if (!Number.isInteger(pid)) return undefined;
  return {
    pid,
    port: Number(lines[LINE.port] ?? 0),
    socketFolder: lines[LINE.socketFolder] ?? '',
    status: (lines[LINE.status] ?? '').trim(),
  };
}

/**
 * The lock file of the server that runs on the data directory; undefined if none runs, regardless of a lock
 * file left by a killed server.
 */
export async function findRunningServer(dataDirectory: string): Promise<LockFile | undefined> {
  const lock = await readLockFile(dataDirectory);
  return lock !== undefined && (await isServerOn(lock.pid, dataDirectory)) ? lock : undefined;
}

/**
 * Whether the process is a PostgreSQL on the data directory. A process id alone proves nothing: the system
 * reuses the ids of dead processes.
 */
export async function isServerOn(pid: number, dataDirectory: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return commandMentions(pid, dataDirectory);
  try {
    // A dead process that was not reaped is a zombie: it has an id and no working directory.
    const [workingDirectory, data] = await Promise.all([
      stat(`/proc/${pid}/cwd`),
      stat(dataDirectory),
    ]);
    // PostgreSQL works in its data directory. The inode is the same under every name of it.
    return workingDirectory.dev === data.dev && workingDirectory.ino === data.ino;
  } catch (error) {
    // Another user's process, which cannot be a server on a directory that only we can access.
    if (['ENOENT', 'EACCES', 'EPERM', 'ESRCH'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
}

async function commandMentions(pid: number, dataDirectory: string): Promise<boolean> {
  const result = await runCommand('ps', ['-o', 'stat=,command=', '-p', String(pid)]);
  return (
    !result.stdout.trimStart().startsWith('Z') && result.stdout.includes(`-D ${dataDirectory}`)
  );
}

/**
 * Moves away lock files whose process id now belongs to another program: PostgreSQL checks only whether such
 * a process exists, and would refuse to start. Files of dead processes are left to PostgreSQL, which uses
 * them to find orphaned children.
 */
export async function clearStaleLocks(
  dataDirectory: string,
  socketFolder: string,
  port: number,
): Promise<void> {
  for (const file of [
    path.join(dataDirectory, LOCK_FILE),
    path.join(socketFolder, `.s.PGSQL.${port}.lock`),
  ]) {
    const text = await readIfThere(file);
    if (text === undefined) continue;
    const pid = Math.abs(Number.parseInt(text, 10));
    // A starting server creates the file empty. A file that stays empty is the result of a full disk.
    if (
      Number.isInteger(pid)
        ? !isAlive(pid) || (await isServerOn(pid, dataDirectory))
        : await isFresh(file)
    )
      continue;
    await setAside(file, text);
  }
}

/** Moves the file away, and back if it is no longer the stale one that was read. */
async function setAside(file: string, stale: string): Promise<void> {
  const aside = draftName(file);
  try {
    await rename(file, aside);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  if ((await readIfThere(aside)) === stale) await rm(aside, { force: true });
  else {
    // link() does not overwrite a file that was created meanwhile.
    await link(aside, file).catch(() => undefined);
    await unlink(aside);
  }
}

const FRESH_MS = 5_000;

async function isFresh(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs < FRESH_MS;
}

async function readIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
}
