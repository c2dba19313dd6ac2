import { execFile } from 'node:child_process';

/**
 * What the system gives to keep a compiler apart from everything else. Commands are put in front of the compiler's and
 * replace themselves by it, so that the process that is started stays the process that is watched and killed.
 */
export interface Isolation {
  /** Takes the network away (Linux namespaces). */
  readonly withoutNetwork?: readonly string[];
  /** The kernel ends the compiler when this process ends, however it ends, and it can never gain privileges. */
  readonly endsWithParent?: readonly string[];
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

let probed: Promise<Isolation> | undefined;

async function probe(): Promise<Isolation> {
  if (process.platform !== 'linux') return {};
  const withoutNetwork = await firstThatWorks(WITHOUT_NETWORK);
  const endsWithParent = await firstThatWorks([ENDS_WITH_PARENT]);
  return {
    ...(withoutNetwork === undefined ? {} : { withoutNetwork }),
    ...(endsWithParent === undefined ? {} : { endsWithParent }),
  };
}

/** Finds out what this system gives, once; each means is used where it works and is done without where it does not. */
export function probeIsolation(): Promise<Isolation> {
  probed ??= probe();
  return probed;
}
