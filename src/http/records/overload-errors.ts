import { type FullmatchError } from '../../errors.ts';
import { NotAdmitted } from '../../lib/admission.ts';
import { retryLaterError } from '../retry-later-error.ts';

/** Returns the error for a large response beyond the limit of all clients together. */
export function tooManyResponses(): FullmatchError {
  return retryLaterError('too_many_answers', 'Too many large responses are in progress');
}

/** Returns the error for a client that has too many responses waiting or not yet received. */
export function tooManyClientResponses(): FullmatchError {
  return retryLaterError(
    'too_many_client_answers',
    'This client has too many large responses or pages in progress',
  );
}

/** Converts a refused admission into the error of the request; rethrows any other error. */
export function toOverloadError(error: unknown): never {
  if (!(error instanceof NotAdmitted)) throw error;
  throw error.refusal === 'client_full' ? tooManyClientResponses() : tooManyResponses();
}
