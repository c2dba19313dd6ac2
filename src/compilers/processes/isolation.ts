import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';

/**
 * Isolation that the system provides for a compiler. Commands are prefixed to the compiler's and exec it, so
 * that the started process is the one that is watched and killed.
 */
export interface Isolation {
  /** Removes network access (Linux namespaces). */
  readonly withoutNetwork?: readonly string[];
  /** Makes the kernel kill the compiler when this process ends, and prevents it from gaining privileges. */
  readonly endsWithParent?: readonly string[];
  /** Confines a native compiler to a folder. */
  readonly cage?: Cage;
}

/** A sandbox for native compilers whose root file system is a single folder. */
export interface Cage {
  /** Whether it also removes network access. */
  readonly withoutNetwork: boolean;
  /** Whether each run has a unique user id; otherwise it keeps the id of this process, which is then not root. */
  readonly ownUser: boolean;
  /** Returns the command prefix; both paths are inside the folder. */
  command(folder: string, workFolder: string): readonly string[];
}

/** Isolation of native compilers on this system. */
export interface IsolationReport {
  readonly unprivilegedUser: boolean;
  readonly ownFilesOnly: boolean;
  readonly withoutNetwork: boolean;
}

/**
 * The whole environment of a compiler. Nothing is inherited from this process, whose environment may contain
 * secrets.
 */
export const COMPILER_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

const PROBE_TIMEOUT_MS = 5000;

/** Root needs no user namespace; other users do, and some systems deny it. */
const WITHOUT_NETWORK: readonly (readonly string[])[] = [
  ['unshare', '--net', '--'],
  ['unshare', '--map-root-user', '--net', '--'],
];
const ENDS_WITH_PARENT = ['setpriv', '--pdeathsig', 'KILL', '--no-new-privs', '--'] as const;

/** User ids that no system assigns: one per run, so that runs are isolated from each other. */
const FREE_USERS = { first: 2_000_000_000, count: 100_000_000 } as const;
/** Fallback if these ids are not available, as in a container that maps only a few. */
const NOBODY = 65_534;

function works(command: readonly string[]): Promise<boolean> {
  const [file = '', ...parameters] = command;
  return new Promise((resolve) => {
    const options = { env: { ...COMPILER_ENVIRONMENT }, cwd: '/', timeout: PROBE_TIMEOUT_MS };
    execFile(file, [...parameters, 'true'], options, (error) => resolve(error === null));
  });
}

async function firstThatWorks(
  commands: readonly (readonly string[])[],
): Promise<readonly string[] | undefined> {
  for (const command of commands) if (await works(command)) return command;
  return undefined;
}

function makeCage(withoutNetwork: boolean, pickUser: (() => number) | undefined): Cage {
  const spaces = withoutNetwork ? ['--net', '--ipc'] : [];
  return {
    withoutNetwork,
    ownUser: pickUser !== undefined,
    command: (folder, workFolder) => {
      const user = pickUser?.();
      return [
        'unshare',
        ...spaces,
        // Without root, a user namespace grants the required privileges; none remain when the compiler runs.
        ...(user === undefined ? ['--map-current-user'] : []),
        `--root=${folder}`,
        `--wd=${workFolder}`,
        ...(user === undefined ? [] : [`--setgid=${user}`, `--setuid=${user}`]),
        '--',
      ];
    },
  };
}

async function findCage(): Promise<Cage | undefined> {
  const pickFree = (): number => FREE_USERS.first + randomInt(FREE_USERS.count);
  const isRoot = process.getuid?.() === 0;
  const users = isRoot ? [pickFree, () => NOBODY] : [undefined];
  for (const withoutNetwork of [true, false]) {
    for (const pickUser of users) {
      const cage = makeCage(withoutNetwork, pickUser);
      if (await works(cage.command('/', '/'))) return cage;
    }
  }
  return undefined;
}

let probed: Promise<Isolation> | undefined;

async function probe(): Promise<Isolation> {
  if (process.platform !== 'linux') return {};
  const withoutNetwork = await firstThatWorks(WITHOUT_NETWORK);
  const endsWithParent = await firstThatWorks([ENDS_WITH_PARENT]);
  const cage = await findCage();
  return {
    ...(withoutNetwork === undefined ? {} : { withoutNetwork }),
    ...(endsWithParent === undefined ? {} : { endsWithParent }),
    ...(cage === undefined ? {} : { cage }),
  };
}

/** Detects once which isolation this system provides. Each mechanism is used if it works and skipped otherwise. */
export function probeIsolation(): Promise<Isolation> {
  probed ??= probe();
  return probed;
}

/** Summarizes the isolation of native compilers. */
export function reportIsolation({ withoutNetwork, cage }: Isolation): IsolationReport {
  return {
    unprivilegedUser: process.getuid?.() !== 0 || cage?.ownUser === true,
    ownFilesOnly: cage !== undefined,
    withoutNetwork: cage === undefined ? withoutNetwork !== undefined : cage.withoutNetwork,
  };
}
