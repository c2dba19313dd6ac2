/**
 * Why the guarded fetch gave no answer.
 * `url_not_allowed` no absolute URL, or one with user information; `scheme_not_allowed` neither http nor https, or a
 * redirect from https to http; `address_not_allowed` an address or port that is not on the public internet's web;
 * `connection_failed` no connection, or it broke before an answer began; `deadline_exceeded` the whole or one step took
 * too long; `too_many_redirects`; `response_too_large` before or after decompression; `malformed_response` no sound
 * HTTP answer: cut short, of a wrong length or coding; `circuit_open` the host failed often and rests; `throttled` the
 * host asked to be left alone for a while.
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

/** Facts of a fault for machines. None of them holds a path, a query, a header or user information. */
interface FetchFaultDetails {
  /** `scheme://host:port` of the request that failed. */
  readonly origin?: string;
  /** The kind of address that was refused: `loopback`, `private`, `linkLocal`, … */
  readonly range?: string;
  /** The step that took too long, or the symbol of the system's fault: `connect`, `body`, `ECONNREFUSED`. */
  readonly reason?: string;
  /** Milliseconds after which asking again makes sense. */
  readonly retryAfterMs?: number;
}

/**
 * The guarded fetch gave no answer. Its message names at most scheme, host and port of the URL: paths, queries and
 * headers carry keys. errors.ts turns it into a FullmatchError of the same code.
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
