import { spawn } from 'node:child_process';

/** User that a child process runs as, if not this process's. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Result of a command. `spawnError` is the system's error code, such as `EACCES`, if it never ran. */
export interface CommandResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly spawnError?: string;
}

const COMMAND_TIMEOUT_MS = 120_000;

/**
 * The whole environment of child processes: nothing is inherited, because this process's environment may
 * contain secrets. The C locale makes PostgreSQL's messages parsable.
 */
export const CHILD_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

/** Spawn options that run a child as the account; empty if it is this process's own user. */
export function spawnAs(account: Account | undefined): { uid?: number; gid?: number } {
  return account === undefined ? {} : { uid: account.uid, gid: account.gid };
}

/**
 * Runs a command without a shell and waits for its end. Never rejects: a command that cannot run has a
 * `spawnError`.
 */
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
    // The account may not have access to this process's working directory.
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
