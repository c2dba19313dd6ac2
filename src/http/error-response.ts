import { rateLimitHeaders } from './access-gate.ts';
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { HTTPException } from 'hono/http-exception';

import { ERROR_CODES, FullmatchError, type ErrorCode } from '../errors.ts';
import { type Logger } from '../log.ts';
import {
  makeResponse,
  type Answer,
  BASE_HEADERS,
  NOT_STORED,
  type ResponseHeaders,
} from './answer.ts';

/** Media type of every error of both hosts (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

/** Body of an error: the members of RFC 9457, the stable code, and the error's details as further members. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly instance?: string;
  readonly [fact: string]: unknown;
}

/** A serialized error, before it becomes a Response or bytes on a socket. */
export interface RenderedProblem {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: Buffer<ArrayBuffer>;
}

/** The service has not read its documents yet or is shutting down: a client may retry soon. */
const RETRY_AFTER_SECONDS = '1';

/**
 * Errors of the machine that runs the service: their messages name its folders and servers and are for the
 * operator only.
 */
const OF_THE_MACHINE: ReadonlySet<ErrorCode> = new Set([
  'database_unreachable',
  'database_too_old',
  'database_error',
  'database_unavailable',
  'database_damaged',
  'schema_too_new',
  'data_directory_unusable',
  'data_directory_full',
  'data_directory_too_new',
  'data_directory_too_old',
  'embedded_server_unavailable',
] as const);

/** A fault that affects every request is logged once per this interval, regardless of how many clients it affects. */
const REPEATED_FAULT_MS = 5_000;

/**
 * Most remembered faults. There are fewer distinct faults unless each one is unique; then the oldest are
 * forgotten and logged again.
 */
const FAULTS_KNOWN = 100;

interface LoggedFault {
  readonly at: number;
  readonly id: string;
  omitted: number;
}

/** For each fault: when it was last logged, under which id, and how many repetitions were omitted since. */
const loggedFaults = new WeakMap<Logger, LRUCache<string, LoggedFault>>();

/**
 * Logs a fault unless the same one was logged recently.
 * @returns the id under which it is logged
 */
function logOnce(
  fault: string,
  log: Logger,
  write: (id: string, omitted: { readonly omitted?: number }) => void,
): string {
  const faults = loggedFaults.get(log) ?? new LRUCache<string, LoggedFault>({ max: FAULTS_KNOWN });
  loggedFaults.set(log, faults);
  const last = faults.get(fault);
  const at = performance.now();
  if (last !== undefined && at - last.at < REPEATED_FAULT_MS) {
    last.omitted += 1;
    return last.id;
  }
  const id = randomUUID();
  faults.set(fault, { at, id, omitted: 0 });
  write(id, last !== undefined && last.omitted > 0 ? { omitted: last.omitted } : {});
  return id;
}

function logFault(error: FullmatchError, log: Logger): void {
  const { statement } = error.details;
  const fault = `${error.code} ${typeof statement === 'string' ? statement : ''}`;
  logOnce(fault, log, (_id, omitted) => {
    log.error({ event: 'request_failed', code: error.code, ...omitted, err: error }, error.message);
  });
}

/** Logs an error without a code. Its identity is the stack without the message, which may contain client data. */
function logUnexpected(error: unknown, log: Logger): string {
  const stack = error instanceof Error ? (error.stack ?? error.name) : typeof error;
  const places = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return logOnce(places.join('\n') || stack, log, (id, omitted) => {
    const event = { event: 'internal_error', error_id: id, ...omitted, err: error };
    log.error(event, 'unexpected error');
  });
}

/**
 * Describes an error for the client. An error with a code is shown as is, unless it concerns the machine; any
 * other error is shown only as an id. The log has the details.
 */
export function toProblem(thrown: unknown, log: Logger): Problem {
  const error = unwrapAbort(thrown);
  if (error instanceof FullmatchError) {
    const { status, title } = ERROR_CODES[error.code];
    const isPrivate = OF_THE_MACHINE.has(error.code);
    if (isPrivate || (status >= 500 && status !== 503)) {
      logFault(error, log);
    }
    if (!isPrivate) return problemFromError(error);
    return problemFromError(
      new FullmatchError(error.code, `${title}; the log of the service says more.`),
    );
  }
  // Thrown by the router's body readers for invalid JSON or forms.
  if (error instanceof HTTPException && error.status < 500) {
    return problemFromError(new FullmatchError('malformed_request', error.message));
  }
  const errorId = logUnexpected(error, log);
  return {
    ...problemFromError(
      new FullmatchError(
        'internal_error',
        `The service failed unexpectedly; its log says more under the error id ${errorId}.`,
      ),
    ),
    instance: `urn:uuid:${errorId}`,
    errorId,
  };
}

/**
 * Replaces an abort error by its cause, or by an error for a disconnected client; the Node adapter aborts
 * with a string.
 */
function unwrapAbort(error: unknown): unknown {
  const isAbort = error instanceof Error && error.name === 'AbortError';
  if (isAbort && error.cause instanceof FullmatchError) return error.cause;
  if (!isAbort && typeof error !== 'string') return error;
  const message = 'The client left before it had its answer.';
  return new FullmatchError('malformed_request', message, { cause: error });
}

/** Converts an error with a code into a problem. */
export function problemFromError(error: FullmatchError): Problem {
  const { status, title } = ERROR_CODES[error.code];
  return {
    ...error.details,
    type: `urn:fullmatch:error:${error.code}`,
    title,
    status,
    code: error.code,
    detail: error.message,
  };
}

/** Returns the Retry-After header: the value of the error, or a short time if the service is not ready. */
export function retryAfter({ status, retryAfterSeconds }: Problem): ResponseHeaders {
  if (typeof retryAfterSeconds === 'number') return { 'retry-after': String(retryAfterSeconds) };
  return status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS } : {};
}

/** Returns the headers of a refusal: required authentication, or the rate limit. */
function refusalHeaders(problem: Problem): ResponseHeaders {
  return {
    ...retryAfter(problem),
    ...rateLimitHeaders(problem),
    ...(problem.status === 401 && { 'www-authenticate': 'Bearer' }),
  };
}

/** Serializes a problem, with its headers. */
export function renderProblem(problem: Problem, headers: ResponseHeaders = {}): RenderedProblem {
  const { type, title, status, code, detail, instance, ...facts } = problem;
  const ordered = { type, title, status, code, detail, instance, ...facts };
  const body = Buffer.from(JSON.stringify(ordered));
  return {
    status,
    body,
    headers: {
      'content-type': PROBLEM_TYPE,
      'content-length': String(body.byteLength),
      'cache-control': NOT_STORED,
      ...BASE_HEADERS,
      ...refusalHeaders(problem),
      ...headers,
    },
  };
}

/** Builds the response for a problem. */
export function respondWithProblem(problem: Problem, headers: ResponseHeaders = {}): Answer {
  const rendered = renderProblem(problem, headers);
  return makeResponse(rendered.body, rendered);
}
