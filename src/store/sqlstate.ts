import { DatabaseError } from 'pg';
import { type ErrorCode, FullmatchError, messageOf } from '../errors.ts';

/** SQLSTATEs of PostgreSQL (its manual, appendix A) that the store handles. */
export const SQLSTATE = {
  duplicateDatabase: '42P04',
  uniqueViolation: '23505',
  insufficientPrivilege: '42501',
  undefinedTable: '42P01',
  cachedPlanChanged: '0A000',
  unknownStatement: '26000',
  serialisationFailure: '40001',
  deadlock: '40P01',
  diskFull: '53100',
  tooManyConnections: '53300',
} as const;

// Class 08: connection exceptions. 57P01–57P05: ended by an administrator, a crash, a shutdown or a dropped
// database. 53300: too many connections, which passes.
const UNREACHABLE_STATE = /^(?:08...|57P0[1-5]|53300)$/;
// Class 53: resources are exhausted. 25006: read-only, for example a demoted server. 58000, 58030: I/O
// errors.
const EXHAUSTED_STATE = /^(?:53...|25006|580[03]0)$/;
// In addition to these, states that a retry may resolve: class 40: rolled back; 55P03: lock not available;
// 57014: timed out or cancelled; 25P03, 25P04: transaction timed out.
const UNAVAILABLE_STATE = /^(?:53...|25006|580[03]0|40...|55P03|57014|25P0[34])$/;
// XX000: an internal error, caused by damaged rows and catalogues; XX001, XX002: damaged data, damaged index;
// 58P01, 58P02: a relation's file is missing or a duplicate; 42P01, 42703: a table or column of the schema is
// missing.
const DAMAGED_STATE = /^(?:XX00[0-2]|58P0[12]|42P01|42703)$/;
// Class 28: the server refused the user. Its messages contain the user name, which is private.
const CREDENTIALS_STATE = /^28/;
const UNREACHABLE_SYSTEM_CODES = new Set([
  'EACCES',
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'ENOTCONN',
  'EPIPE',
  'ETIMEDOUT',
]);
// The driver reports a lost connection with plain messages.
const UNREACHABLE_MESSAGE =
  /^(?:Connection terminated|timeout e|Client has encountered a connection error|Client was closed|Cannot use a pool)/;
// Errors of a server that is starting or has just restarted: worth another try within a moment.
const PASSING_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  '57P01',
  '57P02',
  '57P03',
]);

/** The SQLSTATE of an error, raw from the driver or already mapped. */
export function sqlstateOf(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.code;
  if (error instanceof FullmatchError && typeof error.details['sqlstate'] === 'string') {
    return error.details['sqlstate'];
  }
  return undefined;
}

/** Whether a transaction that failed with this error may succeed when it runs again. */
export function isRetryable(error: unknown): boolean {
  const state = sqlstateOf(error);
  return state === SQLSTATE.serialisationFailure || state === SQLSTATE.deadlock;
}

/** Whether a database lacks space or another resource for work that it could do before. */
export function isExhaustion(error: unknown): boolean {
  const state = sqlstateOf(error);
  return state !== undefined && EXHAUSTED_STATE.test(state) && !UNREACHABLE_STATE.test(state);
}

/** Whether tables or files of the database are damaged or missing. */
export function isDamage(error: unknown): boolean {
  return DAMAGED_STATE.test(sqlstateOf(error) ?? '');
}

/** Whether a failed connection attempt, raw from the driver, may succeed a moment later. */
export function isTransient(error: unknown): boolean {
  const code = sqlstateOf(error) ?? systemCodeOf(error);
  return (
    (code !== undefined && PASSING_CODES.has(code)) ||
    messageOf(error).startsWith('Connection terminated unexpectedly')
  );
}

/** Whether the connection that returned this error must not be used again. */
export function breaksConnection(error: unknown): boolean {
  const state = sqlstateOf(error);
  // The last two mean that the prepared statements of this connection are outdated.
  return (
    state === undefined ||
    UNREACHABLE_STATE.test(state) ||
    state === SQLSTATE.cachedPlanChanged ||
    state === SQLSTATE.unknownStatement
  );
}

/** Where an error happened: the statement's label, or the server. */
export interface DatabaseErrorContext {
  readonly statement?: string;
  readonly server?: string;
}

/**
 * Maps a driver error: `database_unreachable` if the connection failed, `data_directory_full` if the server's
 * disk is full, `database_unavailable` for transient errors, `database_damaged` if data is damaged or
 * missing, else `database_error`. The message never contains a connection string, user or password.
 */
export function mapDatabaseError(error: unknown, context: DatabaseErrorContext): FullmatchError {
  if (error instanceof FullmatchError) return error;
  const { statement, server } = context;
  const sqlstate = sqlstateOf(error);
  const details = {
    ...(sqlstate === undefined ? {} : { sqlstate }),
    ...(statement === undefined ? {} : { statement }),
    ...(server === undefined ? {} : { server }),
  };
  const at = server === undefined ? '' : ` at ${server}`;
  if (sqlstate !== undefined && CREDENTIALS_STATE.test(sqlstate)) {
    const message = `PostgreSQL${at} rejects the user or password of DATABASE_URL (SQLSTATE ${sqlstate}).`;
    return new FullmatchError('database_error', message, { details });
  }
  if (sqlstate === SQLSTATE.diskFull) {
    const message = `PostgreSQL${at} has no space left on its disk: ${messageOf(error)}.`;
    return new FullmatchError('data_directory_full', message, { details, cause: error });
  }
  if (isUnreachable(error, sqlstate)) {
    const what = statement === undefined ? '' : ` during "${statement}"`;
    return new FullmatchError(
      'database_unreachable',
      `PostgreSQL${at} cannot be reached${what}: ${messageOf(error) || 'no connection'}.`,
      { details, cause: error },
    );
  }
  const failed =
    statement === undefined ? `PostgreSQL${at} refuses` : `The statement "${statement}" failed`;
  const state = sqlstate === undefined ? '' : ` (SQLSTATE ${sqlstate})`;
  return new FullmatchError(codeOf(sqlstate), `${failed}: ${messageOf(error)}${state}`, {
    details,
    cause: error,
  });
}

function codeOf(sqlstate = ''): ErrorCode {
  if (UNAVAILABLE_STATE.test(sqlstate)) return 'database_unavailable';
  return DAMAGED_STATE.test(sqlstate) ? 'database_damaged' : 'database_error';
}

function isUnreachable(error: unknown, sqlstate: string | undefined): boolean {
  if (sqlstate !== undefined) return UNREACHABLE_STATE.test(sqlstate);
  const code = systemCodeOf(error);
  return (
    (code !== undefined && UNREACHABLE_SYSTEM_CODES.has(code)) ||
    UNREACHABLE_MESSAGE.test(messageOf(error))
  );
}

function systemCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // Node reports a name with several addresses as one AggregateError.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code: unknown = first instanceof Error && 'code' in first ? first.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
