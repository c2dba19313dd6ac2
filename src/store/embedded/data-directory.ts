import { createHash, randomBytes } from 'node:crypto';
import { type Stats } from 'node:fs';
import {
  chmod,
  lchown,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { FullmatchError } from '../../errors.ts';
import { makeFolder, requireWritable } from '../../lib/writable-folder.ts';
import { type Logger } from '../../log.ts';
import { type Account } from './run-command.ts';
import { folderFailure, systemCode, unusable } from './store-failure.ts';
import { canEnter, ensureSystemUser, isRoot, SYSTEM_FOLDER } from './system-user.ts';

/** Location of PostgreSQL's data, existing or not, and the user that runs its server. */
export interface DataDirectory {
  /** Absolute and without symbolic links, so that every process sees the same path. */
  readonly path: string;
  /** User of the server, if not this process's. */
  readonly account?: Account;
  /** PostgreSQL major version of the data; absent if it does not exist yet. */
  readonly major?: number;
}

const FOLDER = 'postgres';
/** Names the location of the data if it is not in the service's data directory. */
const LOCATION_FILE = 'postgres-location';

/**
 * Determines the location of PostgreSQL's data for a service's data directory: its folder `postgres`; or, if
 * this process is root and the system user cannot reach that, a folder under /var/lib/fullmatch, which the
 * file `postgres-location` then names for later starts.
 * @throws FullmatchError `data_directory_unusable`, `data_directory_full`, `embedded_server_unavailable`
 */
export async function locateDataDirectory(dataDir: string, log: Logger): Promise<DataDirectory> {
  try {
    const home = await madeFolder(dataDir);
    const recorded = await readLocation(home);
    if (recorded !== undefined) return await inspectRecorded(recorded, home, log);
    const inside = path.join(home, FOLDER);
    const existing = await realPathOf(inside);
    if (existing !== undefined) return await inspectExisting(existing, log);
    if (!isRoot()) return { path: inside };
    const account = await ensureSystemUser();
    if (await canEnter(account, home)) return { path: inside, account };
    return await placeApart(home, account, log);
  } catch (error) {
    throw folderFailure(error, dataDir);
  }
}

/**
 * Like {@link locateDataDirectory} for existing data; returns undefined if it does not exist yet and can be
 * created. Changes nothing.
 * @throws FullmatchError `data_directory_unusable`
 */
export async function inspectDataDirectory(
  dataDir: string,
): Promise<Pick<DataDirectory, 'path' | 'major'> | undefined> {
  try {
    await requireWritable(dataDir);
    const home = await realPathOf(dataDir);
    if (home === undefined) return undefined;
    const recorded = await readLocation(home);
    const existing = await realPathOf(recorded ?? path.join(home, FOLDER));
    if (existing === undefined && recorded !== undefined) throw goneLocation(home, recorded);
    if (existing === undefined) return undefined;
    const { major } = await checkExisting(existing);
    return { path: existing, ...(major !== undefined && { major }) };
  } catch (error) {
    throw folderFailure(error, dataDir);
  }
}

/** The folder of PostgreSQL's data for a service's data directory, if it exists. Creates nothing. */
export async function findData(dataDir: string): Promise<string | undefined> {
  try {
    const home = await realPathOf(dataDir);
    if (home === undefined) return undefined;
    return await realPathOf((await readLocation(home)) ?? path.join(home, FOLDER));
  } catch (error) {
    throw folderFailure(error, dataDir);
  }
}

/** Name of a folder next to `target` in which it is prepared and then renamed. */
export function draftName(target: string): string {
  return `${target}.new-${process.pid}-${randomBytes(4).toString('hex')}`;
}

/** Removes drafts next to `target` whose processes are gone. */
export async function removeLeftOvers(target: string): Promise<void> {
  const prefix = `${path.basename(target)}.new-`;
  for (const name of await readdir(path.dirname(target))) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number(name.slice(prefix.length).split('-')[0]);
    if (Number.isInteger(pid) && pid > 0 && !isAlive(pid)) {
      await rm(path.join(path.dirname(target), name), { recursive: true, force: true });
    }
  }
}

/** Whether a process with this id exists, under any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

async function madeFolder(folder: string): Promise<string> {
  await makeFolder(folder);
  return realpath(folder);
}

async function readLocation(home: string): Promise<string | undefined> {
  const text = await readFile(path.join(home, LOCATION_FILE), 'utf8').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  const location = text
    ?.split('\n')
    .map((line) => line.trim())
    .findLast((line) => line !== '' && !line.startsWith('#'));
  if (text !== undefined && (location === undefined || !path.isAbsolute(location))) {
    throw unusable(home, `its file ${LOCATION_FILE} names no folder`);
  }
  return location;
}

async function inspectRecorded(
  recorded: string,
  home: string,
  log: Logger,
): Promise<DataDirectory> {
  const existing = await realPathOf(recorded);
  // A new empty database would look as if everything had been lost.
  if (existing === undefined) throw goneLocation(home, recorded);
  return inspectExisting(existing, log);
}

function goneLocation(home: string, recorded: string): FullmatchError {
  return unusable(
    home,
    `its file ${LOCATION_FILE} names ${recorded}, which no longer exists; restore that folder, or remove the file to start with an empty database`,
  );
}

/** A folder of PostgreSQL's data that this process may use, and its major version. Changes nothing. */
async function checkExisting(folder: string): Promise<{ found: Stats; major?: number }> {
  const found = await stat(folder);
  if (!found.isDirectory()) throw unusable(folder, 'it is a file');
  const self = process.getuid?.();
  if (!isRoot() && found.uid !== self) {
    throw unusable(
      folder,
      `it belongs to the user with id ${found.uid}, and this process runs as ${self ?? 'another'}; run as that user or as root`,
    );
  }
  const major = await readMajorVersion(folder);
  return { found, ...(major !== undefined && { major }) };
}

async function inspectExisting(folder: string, log: Logger): Promise<DataDirectory> {
  const { found, major } = await checkExisting(folder);
  // PostgreSQL refuses a folder that other users can access.
  if ((found.mode & 0o077) !== 0) await chmod(folder, 0o700);
  const account = isRoot() ? await accountFor(folder, found, log) : undefined;
  return {
    path: folder,
    ...(account === undefined ? {} : { account }),
    ...(major === undefined ? {} : { major }),
  };
}

/** As root the server runs as the owner of its data. Data owned by root is given to the system user. */
async function accountFor(
  folder: string,
  owner: { readonly uid: number; readonly gid: number },
  log: Logger,
): Promise<Account> {
  const account =
    owner.uid === 0
      ? await ensureSystemUser()
      : { name: `with id ${owner.uid}`, uid: owner.uid, gid: owner.gid };
  if (!(await canEnter(account, path.dirname(folder)))) {
    throw unusable(
      folder,
      `the user ${account.name} that PostgreSQL runs as cannot enter ${path.dirname(folder)}`,
    );
  }
  if (owner.uid === 0) {
    log.info({ path: folder, user: account.name }, 'handing the data of root to the system user');
    await chownTree(folder, account);
  }
  return account;
}

async function chownTree(folder: string, account: Account): Promise<void> {
  await lchown(folder, account.uid, account.gid);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const inner = path.join(folder, entry.name);
    if (entry.isDirectory()) await chownTree(inner, account);
    else await lchown(inner, account.uid, account.gid);
  }
}

async function placeApart(home: string, account: Account, log: Logger): Promise<DataDirectory> {
  const id = createHash('sha256').update(home).digest('hex').slice(0, 12);
  const name = `${path.basename(home).slice(0, 40)}-${id}`;
  const location = path.join(SYSTEM_FOLDER, name);
  await mkdir(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  if (!(await canEnter(account, SYSTEM_FOLDER))) {
    throw unusable(
      home,
      `the system user ${account.name} that PostgreSQL runs as cannot enter it or ${SYSTEM_FOLDER}`,
    );
  }
  const existing = await realPathOf(location);
  if (existing === undefined) {
    log.info(
      { path: location, data_directory: home, user: account.name },
      'the system user cannot reach the data directory, so PostgreSQL’s data is stored elsewhere',
    );
    return { path: location, account };
  }
  return inspectExisting(existing, log);
}

/** Writes the file that names the location of the data, if it is not in the service's data directory. */
export async function recordLocation(dataDir: string, location: string): Promise<void> {
  try {
    const home = await realpath(dataDir);
    const inside = await realPathOf(path.join(home, FOLDER));
    if (inside === location || (await readLocation(home)) !== undefined) return;
    const file = path.join(home, LOCATION_FILE);
    const draft = draftName(file);
    const text =
      '# The system user that PostgreSQL runs as cannot reach this folder, so the data of PostgreSQL is in:\n' +
      `${location}\n`;
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, file);
  } catch (error) {
    throw folderFailure(error, dataDir);
  }
}

/** The major version in PG_VERSION; undefined for an empty folder. */
export async function readMajorVersion(folder: string): Promise<number | undefined> {
  const names = await readdir(folder);
  if (names.length === 0) return undefined;
  if (!names.includes('PG_VERSION')) {
    throw unusable(
      folder,
      `it is not a data directory of PostgreSQL (it has no PG_VERSION) but holds ${names.slice(0, 3).join(', ')}`,
    );
  }
  const text = (await readFile(path.join(folder, 'PG_VERSION'), 'utf8')).trim();
  const major = Number(text);
  if (!Number.isInteger(major))
    throw unusable(folder, `its PG_VERSION says "${text.slice(0, 20)}"`);
  return major;
}

/** @throws FullmatchError `data_directory_too_new`, `data_directory_too_old` if the binaries cannot read the data */
export function checkMajorVersion(
  folder: string,
  made: number,
  binaries: { readonly major: number; readonly folder: string },
): void {
  if (made === binaries.major) return;
  const details = { path: folder, made_by: made, binaries: binaries.major };
  const both = `PostgreSQL ${made} made the data in ${folder}, and the PostgreSQL of this Fullmatch is ${binaries.major} (${binaries.folder})`;
  if (made > binaries.major) {
    const mend = `Run the Fullmatch version that made it, or name the folder of PostgreSQL ${made}'s programs as database.binaries.`;
    throw new FullmatchError('data_directory_too_new', `${both}. ${mend}`, { details });
  }
  throw new FullmatchError(
    'data_directory_too_old',
    `${both}, which cannot read it. To keep using it, set database.binaries to the folder of PostgreSQL ${made}'s programs; ` +
      'to move it, dump it with pg_dump there and restore it into an empty data directory.',
    { details },
  );
}

async function realPathOf(file: string): Promise<string | undefined> {
  try {
    return await realpath(file);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    const found = await lstat(file).catch(() => undefined);
    if (found === undefined) return undefined;
    if (found.isSymbolicLink()) throw unusable(file, 'it is a broken symbolic link');
    // Another process created it between the two checks.
    return realPathOf(file);
  }
}
