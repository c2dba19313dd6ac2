import { type Environment } from '../config/environment.ts';
import { type CoreOverrides } from '../core/open-core.ts';

/** A stream that a command writes to. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The parts of a process that a command uses, so that tests run commands without one. */
export interface CliContext {
  /** Results, and the log of `start`. */
  readonly stdout: OutputStream;
  /** Errors, progress, and the log of every other command. */
  readonly stderr: OutputStream;
  readonly environment: Environment;
  /** An absolute path. */
  readonly workingDirectory: string;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Registers a listener for each SIGHUP, which otherwise ends the process. */
  readonly onHangUp: (listener: () => void) => void;
  /** Replaced parts of the core. */
  readonly overrides?: Pick<CoreOverrides, 'compilersOver'>;
}

/** Writes a text followed by a line break. */
export function writeLine(stream: OutputStream, text: string): void {
  stream.write(`${text}\n`);
}

/** Writes the result of a command: as JSON with its option `--json`, else as the text, which is built only then. */
export function writeResult(
  { stdout }: CliContext,
  options: Readonly<Record<string, unknown>>,
  value: unknown,
  text: () => string,
): void {
  if (options['json'] === true) writeJson(stdout, value);
  else stdout.write(text());
}

/** Writes a value as indented JSON; a run writes at most one value. */
export function writeJson(stream: OutputStream, value: unknown): void {
  writeLine(stream, JSON.stringify(value, null, 2));
}
