import { createHash } from 'node:crypto';
import { chown, lstat, mkdir, mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Account } from './run-command.ts';
import { isRoot, SYSTEM_FOLDER } from './system-user.ts';

/** Part of the socket's file name, `.s.PGSQL.5432`; no port is opened. */
export const SOCKET_PORT = 5432;
/** The shortest limit of a socket path: 104 bytes including the terminator on macOS, 108 on Linux. */
const LONGEST_SOCKET_PATH_BYTES = 103;

/**
 * The folder of the embedded server's socket, accessible only to the server's user (and root), because the
 * server accepts everyone who can reach the socket. It is the data directory itself, which PostgreSQL
 * requires to be private, unless its path is too long for a socket.
 */
export async function prepareSocketFolder(
  dataDirectory: string,
  account: Account | undefined,
): Promise<string> {
  if (fits(dataDirectory)) return dataDirectory;
  const id = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 16);
  const base = isRoot()
    ? SYSTEM_FOLDER
    : fits(path.join(tmpdir(), `fullmatch-${id}`))
      ? tmpdir()
      : '/tmp';
  if (isRoot()) await mkdir(base, { recursive: true, mode: 0o755 });
  const folder = path.join(base, `fullmatch-${id}`);
  try {
    await mkdir(folder, { mode: 0o700 });
    if (account !== undefined) await chown(folder, account.uid, account.gid);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  if (await isPrivate(folder, account?.uid ?? process.getuid?.())) return folder;
  // Another user created a folder of this name in a world-writable directory: do not use it.
  const other = await mkdtemp(path.join(base, 'fullmatch-'));
  if (account !== undefined) await chown(other, account.uid, account.gid);
  return other;
}

/** Removes a socket folder outside the data directory once its server is gone. */
export async function removeSocketFolder(folder: string, dataDirectory: string): Promise<void> {
  if (folder === dataDirectory) return;
  // Fails on a folder that is not empty, which is then not ours.
  await rmdir(folder).catch(() => undefined);
}

/** Whether only the user may enter the folder, and it is not a link. */
async function isPrivate(folder: string, uid: number | undefined): Promise<boolean> {
  const stat = await lstat(folder);
  return stat.isDirectory() && stat.uid === uid && (stat.mode & 0o077) === 0;
}

function fits(folder: string): boolean {
  const socket = path.join(folder, `.s.PGSQL.${SOCKET_PORT}`);
  return Buffer.byteLength(socket) <= LONGEST_SOCKET_PATH_BYTES;
}
