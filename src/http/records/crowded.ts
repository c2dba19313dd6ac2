import { type FullmatchError } from '../../errors.ts';
import { NotAdmitted } from '../../lib/admission.ts';
import { tryAgainLater } from '../try-again-later.ts';

/** The error for a large response beyond the limit of all clients together. */
export function tooManyAnswers(): FullmatchError {
  return tryAgainLater('too_many_answers', 'Too many large responses are in progress');
}

/** The error where one client waits for as many answers as it may, or has as many to take. */
export function tooManyClientAnswers(): FullmatchError {
  return tryAgainLater(
    'too_many_client_answers',
    'This client has as many large answers or pages under way as it may',
  );
}

/** Refuses a request whose answer was not admitted; anything else is thrown as it is. */
export function refuseCrowded(error: unknown): never {
  if (!(error instanceof NotAdmitted)) throw error;
  throw error.refusal === 'client_full' ? tooManyClientAnswers() : tooManyAnswers();
}
