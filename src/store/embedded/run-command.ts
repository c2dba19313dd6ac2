import { spawn } from 'node:child_process';

/** The user that a child process runs as, when it is another than this process's. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** How a command ended. `spawnError` is the system's error code, such as `EACCES`, when it never ran. */
export interface CommandResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly spawnError?: string;
}

const COMMAND_TIMEOUT_MS = 120_000;

/**
 * The whole environment of our children: they get nothing of this process's, whose environment may hold secrets.
 * The C locale keeps PostgreSQL's messages in the one language that we read.
 */
export const CHILD_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/** The spawn options that run a child as the account; none when it is this process's own user. */
export function spawnAs(account: Account | undefined): { uid?: number; gid?: number } {
  return account === undefined ? {} : { uid: account.uid, gid: account.gid };
}

/** Runs a command to its end, without a shell. Never rejects: a command that cannot run has a `spawnError`. */
export function runCommand(
  file: string,
  parameters: readonly string[],
  account?: Account,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const finish = (end: { exitCode: number | null; spawnError?: string }): void => {
      resolve({
        ...end,
        stdout: Buffer.concat(stdout).toString('utf8'),
        stderr: Buffer.concat(stderr).toString('utf8'),
      });
    };
    // The working directory of this process may be closed to the account.
    const child = spawn(file, parameters, {
      cwd: '/',
      env: CHILD_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: COMMAND_TIMEOUT_MS,
      ...spawnAs(account),
    });
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.once('error', (error: NodeJS.ErrnoException) => {
      finish({ exitCode: null, spawnError: error.code ?? 'UNKNOWN' });
    });
    child.once('close', (exitCode) => finish({ exitCode }));
  });
}
