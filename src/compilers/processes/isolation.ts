import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';

/**
 * What the system gives to keep a compiler apart from everything else. Commands are put in front of the compiler's and
 * replace themselves by it, so that the process that is started stays the process that is watched and killed.
 */
export interface Isolation {
  /** Takes the network away (Linux namespaces). */
  readonly withoutNetwork?: readonly string[];
  /** The kernel ends the compiler when this process ends, however it ends, and it can never gain privileges. */
  readonly endsWithParent?: readonly string[];
  /** Shuts a native compiler up in a folder. */
  readonly cage?: Cage;
}

/** A cage for native compilers: a folder is their whole file system. */
export interface Cage {
  /** Whether the network is taken away too. */
  readonly withoutNetwork: boolean;
  /** Whether each run has a user id that nobody else has; else it keeps this process's, which is not root's. */
  readonly ownUser: boolean;
  /** The command in front of the compiler's: both paths are inside the folder. */
  command(folder: string, workFolder: string): readonly string[];
}

/** What holds for native compilers on this system. */
export interface IsolationReport {
  readonly unprivilegedUser: boolean;
  readonly ownFilesOnly: boolean;
  readonly withoutNetwork: boolean;
}

/** The whole environment of a compiler: nothing of this process's, whose environment may hold secrets. */
export const COMPILER_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

const PROBE_TIMEOUT_MS = 5000;

/** As root a namespace is free; else it comes with a user namespace, which some systems refuse. */
const WITHOUT_NETWORK: readonly (readonly string[])[] = [
  ['unshare', '--net', '--'],
  ['unshare', '--map-root-user', '--net', '--'],
];
const ENDS_WITH_PARENT = ['setpriv', '--pdeathsig', 'KILL', '--no-new-privs', '--'] as const;

/** User ids that no system gives to anybody: one for each run, so that runs cannot touch each other either. */
const FREE_USERS = { first: 2_000_000_000, count: 100_000_000 } as const;
/** Where such ids are not available, as in a container that maps few. */
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
        // Without privileges a user namespace gives those for the rest; none is left when the compiler runs.
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

/** Finds out what this system gives, once; each means is used where it works and is done without where it does not. */
export function probeIsolation(): Promise<Isolation> {
  probed ??= probe();
  return probed;
}

/** What holds for native compilers with these means. */
export function reportIsolation({ withoutNetwork, cage }: Isolation): IsolationReport {
  return {
    unprivilegedUser: process.getuid?.() !== 0 || cage?.ownUser === true,
    ownFilesOnly: cage !== undefined,
    withoutNetwork: cage === undefined ? withoutNetwork !== undefined : cage.withoutNetwork,
  };
}
