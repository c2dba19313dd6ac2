import { CommanderError } from 'commander';
import { type ErrorCode, ERROR_CODES, FullmatchError } from '../errors.ts';
import { writeLine, type CliContext } from './cli-context.ts';

/** How to report an error. */
export interface ReportOptions {
  readonly json: boolean;
  /** Whether standard output already holds a result: two JSON values in a row are not valid JSON. */
  readonly hasResult: boolean;
  /** The fault in the arguments, if that is the error. */
  readonly argumentFault?: string | undefined;
}

/**
 * Reports an error and returns the exit code of the error table. People get text on standard error. Programs
 * (`json`) get an object with the members of a problem (RFC 9457), as in the API, on standard output in place
 * of the result, or on standard error if a result is already there.
 */
export function reportError(
  error: unknown,
  { json, hasResult, argumentFault }: ReportOptions,
  context: CliContext,
): number {
  const out = json && !hasResult ? context.stdout : context.stderr;
  if (error instanceof CommanderError) {
    // Commander has already printed the help or the version.
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

/** Writes a single line, valid as both JSON and NDJSON. */
function writeFault(out: CliContext['stderr'], fault: object): void {
  writeLine(out, JSON.stringify(fault));
}

function problemOf(code: ErrorCode, detail: string): object {
  return { type: `urn:fullmatch:error:${code}`, title: ERROR_CODES[code].title, code, detail };
}

/** Reports a bug of this program with its stack, which the operator may pass on. */
function reportUnexpected(error: unknown, json: boolean, out: CliContext['stderr']): number {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (json) writeFault(out, problemOf('internal_error', stack));
  else writeLine(out, `error[internal_error]: ${stack}`);
  return ERROR_CODES.internal_error.exit;
}
