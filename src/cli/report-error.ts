import { CommanderError } from 'commander';
import { ERROR_CODES, FullmatchError } from '../errors.ts';
import { writeJson, writeLine, type CliContext } from './cli-context.ts';

const INTERNAL_ERROR = ERROR_CODES.internal_error;

/**
 * Says on standard error what went wrong, and returns the exit code of the error table.
 * For programs (`json`) it is one object with the members of a problem (RFC 9457), as the API gives it;
 * standard output then stays empty or holds a whole result, never a part of one.
 */
export function reportError(error: unknown, json: boolean, context: CliContext): number {
  // Commander has printed the help, the version or the fault already.
  if (error instanceof CommanderError) return error.exitCode;
  if (!(error instanceof FullmatchError)) return reportUnexpected(error, json, context);
  const { title, exit } = ERROR_CODES[error.code];
  if (json) {
    const type = `urn:fullmatch:error:${error.code}`;
    writeJson(context.stderr, {
      type,
      title,
      code: error.code,
      detail: error.forOperator,
      ...error.details,
    });
  } else writeLine(context.stderr, `error[${error.code}]: ${error.forOperator}`);
  return exit;
}

/** A fault of this program: the stack says where, which the operator may report. */
function reportUnexpected(error: unknown, json: boolean, context: CliContext): number {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (json) {
    const type = 'urn:fullmatch:error:internal_error';
    writeJson(context.stderr, {
      type,
      title: INTERNAL_ERROR.title,
      code: 'internal_error',
      detail: stack,
    });
  } else writeLine(context.stderr, `error[internal_error]: ${stack}`);
  return INTERNAL_ERROR.exit;
}
