import { mkdir, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { FullmatchError } from '../../errors.ts';
import { type Account, type CommandResult, runCommand } from './run-command.ts';
import { systemCode } from './store-failure.ts';
import { wait } from '../wait.ts';

/** PostgreSQL refuses to run as root and then runs as this user, which distribution packages use too. */
const SYSTEM_USER = 'postgres';

/** Location of what the system user must reach if the data directory is closed to it. */
export const SYSTEM_FOLDER = '/var/lib/fullmatch';

const TURN_TIMEOUT_MS = 30_000;
const TURN_POLL_MS = 50;

const USERADD = [
  'useradd',
  '--system',
  '--no-create-home',
  '--home-dir',
  '/nonexistent',
  '--shell',
  '/usr/sbin/nologin',
] as const;

// Commands that create the user, tried in order: shadow-utils; the same if a group of the name exists;
// BusyBox.
const MAKE_USER: readonly (readonly string[])[] = [
  USERADD,
  [...USERADD, '--gid', SYSTEM_USER],
  ['adduser', '-S', '-D', '-H', '-s', '/sbin/nologin'],
];

/** Whether this process runs as root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * The account of the system user, created if missing.
 * @throws FullmatchError `embedded_server_unavailable` if it cannot be created
 */
export async function ensureSystemUser(name = SYSTEM_USER): Promise<Account> {
  return (await findUser(name)) ?? (await inTurn(() => makeUser(name)));
}

async function makeUser(name: string): Promise<Account> {
  const known = await findUser(name);
  if (known !== undefined) return known;
  const failures: string[] = [];
  for (const [command = '', ...parameters] of MAKE_USER) {
    const result = await runCommand(command, [...parameters, name]);
    // Another process may have created the user meanwhile: its existence counts, not the exit code.
    const made = await findUser(name);
    if (made !== undefined) return made;
    failures.push(`${command}: ${reasonOf(result)}`);
  }
  throw new FullmatchError(
    'embedded_server_unavailable',
    `PostgreSQL does not run as root, and the system user "${name}" could not be created (${failures.join('; ')}). ` +
      `Create it with "useradd --system ${name}", start as an ordinary user, or set DATABASE_URL.`,
    { details: { user: name } },
  );
}

/**
 * Runs the work while no other process runs its own here. Two concurrent useradd both find no user and both
 * create one: the second replaces the first with another id, and data would belong to an id that no longer
 * exists.
 */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const turn = path.join(SYSTEM_FOLDER, 'making-user');
  await mkdir(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
  for (;;) {
    try {
      await mkdir(turn);
      break;
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
      const since = await stat(turn).then(
        ({ mtimeMs }) => mtimeMs,
        () => Date.now(),
      );
      // Its process died; creating a user takes far less.
      if (Date.now() - since > TURN_TIMEOUT_MS) await rmdir(turn).catch(() => undefined);
      await wait(TURN_POLL_MS);
    }
  }
  try {
    return await work();
  } finally {
    await rmdir(turn).catch(() => undefined);
  }
}

/**
 * Whether the account may enter the folder, as decided by the system: permission bits alone do not cover ACLs
 * and mounts.
 */
export async function canEnter(account: Account, folder: string): Promise<boolean> {
  return testAs(account, 'test -x "$1"', folder);
}

/** Whether the account may run the program and read the file. */
export async function canRun(account: Account, program: string, file: string): Promise<boolean> {
  return testAs(account, 'test -x "$1" && test -r "$2"', program, file);
}

async function testAs(account: Account, script: string, ...paths: string[]): Promise<boolean> {
  const result = await runCommand('/bin/sh', ['-c', script, 'sh', ...paths], account);
  if (result.spawnError === 'EPERM') {
    throw new FullmatchError(
      'embedded_server_unavailable',
      `PostgreSQL does not run as root, and this process cannot start programs as the user "${account.name}". ` +
        'Start as an ordinary user, or set DATABASE_URL.',
      { details: { user: account.name } },
    );
  }
  return result.exitCode === 0;
}

async function findUser(name: string): Promise<Account | undefined> {
  const result = await runCommand('/bin/sh', ['-c', 'id -u "$1" && id -g "$1"', 'sh', name]);
  const [uid, gid] = result.stdout.trim().split('\n').map(Number);
  if (result.exitCode !== 0 || !Number.isInteger(uid) || !Number.isInteger(gid)) return undefined;
  return { name, uid: Number(uid), gid: Number(gid) };
}

function reasonOf(result: CommandResult): string {
  return result.spawnError ?? (result.stderr.trim() || `exit code ${result.exitCode ?? 'none'}`);
}
