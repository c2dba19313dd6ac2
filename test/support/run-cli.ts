import { runCli } from '../../src/cli/program.ts';
import { NO_DOWNLOADS } from './no-downloads.ts';
import { recordedCompilers } from './recorded-compilers.ts';
import { type OutputStream } from '../../src/cli/cli-context.ts';

/** Output and exit code of a command line. */
export interface CliRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Process environment of a command; nothing of the test's own environment reaches it. */
export interface CliSurroundings {
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  readonly signal?: AbortSignal;
  readonly onHangUp?: (listener: () => void) => void;
  readonly terminal?: boolean;
  /** Called after each write with the whole standard output so far. */
  readonly onStdout?: (text: string) => void;
}

/** Runs `fullmatch …` in this process, with recorded compiler outputs where there are some. */
export async function runInProcess(
  args: readonly string[],
  surroundings: CliSurroundings = {},
): Promise<CliRun> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr'): OutputStream => ({
    isTTY: surroundings.terminal === true,
    write(text) {
      written[name] += text;
      if (name === 'stdout') surroundings.onStdout?.(written.stdout);
    },
  });
  const exitCode = await runCli(args, {
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    environment: { ...NO_DOWNLOADS, ...surroundings.environment },
    workingDirectory: surroundings.workingDirectory ?? '/',
    signal: surroundings.signal ?? new AbortController().signal,
    onHangUp: surroundings.onHangUp ?? (() => undefined),
    overrides: { compilersOver: recordedCompilers },
  });
  return { exitCode, ...written };
}
