/**
 * Why a guarded fetch failed.
 * - `url_not_allowed`: not an absolute URL, or one with user information.
 * - `scheme_not_allowed`: neither http nor https, or a redirect from https to http.
 * - `address_not_allowed`: an address or port that is not on the public web.
 * - `connection_failed`: no connection, or it broke before a response began.
 * - `deadline_exceeded`: the whole request or one step timed out.
 * - `too_many_redirects`: more redirects than allowed.
 * - `response_too_large`: larger than allowed, before or after decompression.
 * - `malformed_response`: not a valid HTTP response: truncated, or with a wrong length or coding.
 * - `circuit_open`: the host failed often, and its circuit is open.
 * - `throttled`: the host asked for a pause.
 */
type FetchFaultCode =
  | 'url_not_allowed'
  | 'scheme_not_allowed'
  | 'address_not_allowed'
  | 'connection_failed'
  | 'deadline_exceeded'
  | 'too_many_redirects'
  | 'response_too_large'
  | 'malformed_response'
  | 'circuit_open'
  | 'throttled';

/** Machine-readable facts of a fault. They never contain a path, a query, a header or user information. */
interface FetchFaultDetails {
  /** `scheme://host:port` of the request that failed. */
  readonly origin?: string;
  /** Kind of the rejected address: `loopback`, `private`, `linkLocal` and others. */
  readonly range?: string;
  /** The step that timed out, or the error code of the system: `connect`, `body`, `ECONNREFUSED`. */
  readonly reason?: string;
  /** Milliseconds after which a retry makes sense. */
  readonly retryAfterMs?: number;
}

/**
 * A failed guarded fetch. Its message contains at most the scheme, host and port of the URL, since paths,
 * queries and headers may contain keys. errors.ts converts it to a FullmatchError with the same code.
 */
export class FetchFault extends Error {
  override readonly name = 'FetchFault';
  readonly code: FetchFaultCode;
  readonly details: FetchFaultDetails;

  constructor(code: FetchFaultCode, message: string, details: FetchFaultDetails = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}
