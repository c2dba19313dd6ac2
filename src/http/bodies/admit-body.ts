import { type FullmatchError } from '../../errors.ts';
import { Admission, type Leave, type Refusal } from '../../lib/admission.ts';
import { retryLaterError } from '../retry-later-error.ts';

/** Bodies up to this size never wait for a large one. */
export const SMALL_BODY_BYTES = 2 ** 20;
/**
 * A body stays on its connection until it is admitted, so a waiting body takes no memory. The time of a request
 * (`limits.requestTimeoutMs`) runs meanwhile.
 */
const WAIT_MS = 10_000;
const SMALL = { total: 32, perClient: 16, waiting: 512, waitingPerClient: 64, waitMs: WAIT_MS };
const LARGE = { total: 4, perClient: 2, waiting: 64, waitingPerClient: 8, waitMs: WAIT_MS };

/** Returns the error for a body beyond the limit on concurrent reads. */
export function tooManyBodies(): FullmatchError {
  return retryLaterError('too_many_bodies', 'Too many request bodies are being read');
}

/** Limits how many bodies are in memory at once. */
export class BodyAdmission {
  readonly #small = new Admission(SMALL, toError);
  readonly #large = new Admission(LARGE, toError);

  /**
   * Admits a client's body; `length` is absent if the request does not declare it.
   * @throws FullmatchError too_many_bodies, too_many_client_bodies; the reason of `signal`
   */
  enter(client: string, length: number | undefined, signal: AbortSignal): Promise<Leave> {
    const isSmall = length !== undefined && length <= SMALL_BODY_BYTES;
    return (isSmall ? this.#small : this.#large).enter(client, signal);
  }
}

function toError(refusal: Refusal): FullmatchError {
  return refusal === 'client_full'
    ? retryLaterError(
        'too_many_client_bodies',
        'Too many request bodies of this client are being read',
      )
    : tooManyBodies();
}
