import { FetchFault } from './fetch-fault.ts';

/** Context of a network error. */
interface Circumstances {
  /** `scheme://host:port`. */
  readonly origin: string;
  readonly signal: AbortSignal;
  /** Whether the head of the response had arrived. */
  readonly answered: boolean;
}

const STEPS: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'connect',
  UND_ERR_HEADERS_TIMEOUT: 'headers',
  UND_ERR_BODY_TIMEOUT: 'body',
};

/** Error codes of the HTTP parser, and undici's for a body of the wrong length. */
const MALFORMED = /^(?:HPE_|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)/;

function codeOf(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 3; at = at.cause, depth += 1) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string' && /^[A-Z0-9_]{2,60}$/.test(code)) return code;
    // If every address of a name failed, each has its own error.
    if (at instanceof AggregateError) return codeOf(at.errors[0]);
  }
  return 'unknown';
}

/**
 * Converts an error to a fault of the guarded fetch. Messages of the system and of undici may contain
 * addresses and paths, so only the error code is kept. An aborted request returns the reason of its signal.
 */
export function toFetchFault(error: unknown, { origin, signal, answered }: Circumstances): unknown {
  if (error instanceof FetchFault) return error;
  if (signal.aborted) return signal.reason;
  const reason = codeOf(error);
  const step = STEPS[reason];
  if (step !== undefined) {
    return new FetchFault('deadline_exceeded', `${origin} took too long (${step}).`, {
      origin,
      reason: step,
    });
  }
  if (reason === 'UND_ERR_HEADERS_OVERFLOW') {
    return new FetchFault('response_too_large', `The headers of ${origin} are too large.`, {
      origin,
    });
  }
  const unreadable = error instanceof Error && error.name === 'HTTPParserError';
  if (unreadable || answered || MALFORMED.test(reason)) {
    return new FetchFault(
      'malformed_response',
      `${origin} returned an invalid response (${reason}).`,
      {
        origin,
        reason,
      },
    );
  }
  return new FetchFault('connection_failed', `No answer from ${origin} (${reason}).`, {
    origin,
    reason,
  });
}
