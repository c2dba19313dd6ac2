import { CommanderError } from 'commander';
import { type ErrorCode, ERROR_CODES, FullmatchError } from '../errors.ts';
import { writeLine, type CliContext } from './cli-context.ts';

/** Where a fault is said, and whether to a program. */
export interface ReportOptions {
  readonly json: boolean;
  /** Whether a result stands on standard output: two values in a row are no JSON. */
  readonly hasResult: boolean;
  /** What is wrong with the arguments, if that is the error. */
  readonly argumentFault?: string | undefined;
}

/**
 * Says what went wrong, and returns the exit code of the error table: to people on standard error. For programs (`json`) it is
 * one object with the members of a problem (RFC 9457), as the API gives it, on standard output in the place of the result; behind
 * a result that stands there already it goes to standard error.
 */
export function reportError(
  error: unknown,
  { json, hasResult, argumentFault }: ReportOptions,
  context: CliContext,
): number {
  const out = json && !hasResult ? context.stdout : context.stderr;
  if (error instanceof CommanderError) {
    // Commander has printed the help or the version already.
    if (error.exitCode === 0) return 0;
    const detail = argumentFault ?? error.message;
    if (json) writeFault(out, problemOf('invalid_parameter', detail));
    else writeLine(out, `error[invalid_parameter]: ${detail}`);
    return error.exitCode;
  }
  if (!(error instanceof FullmatchError)) return reportUnexpected(error, json, out);
  const { code, forOperator, details } = error;
  if (json) writeFault(out, { ...problemOf(code, forOperator), ...details });
  else writeLine(out, `error[${code}]: ${forOperator}`);
  return ERROR_CODES[code].exit;
}

/** One line, which is JSON and NDJSON. */
function writeFault(out: CliContext['stderr'], fault: object): void {
  writeLine(out, JSON.stringify(fault));
}

function problemOf(code: ErrorCode, detail: string): object {
  return { type: `urn:fullmatch:error:${code}`, title: ERROR_CODES[code].title, code, detail };
}

/** A fault of this program: the stack says where, which the operator may report. */
function reportUnexpected(error: unknown, json: boolean, out: CliContext['stderr']): number {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (json) writeFault(out, problemOf('internal_error', stack));
  else writeLine(out, `error[internal_error]: ${stack}`);
  return ERROR_CODES.internal_error.exit;
}
