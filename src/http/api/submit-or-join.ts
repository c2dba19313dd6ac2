import { FullmatchError } from '../../errors.ts';
import { type PackedRequest } from '../../verification/verification-request.ts';
import { type Verification } from '../../verification/verification.ts';

/**
 * Queues a verification, or returns the id of the identical one that is already queued.
 * @throws FullmatchError as {@link Verification.submit}
 */
export async function submitOrJoin(
  verification: Pick<Verification, 'submit'>,
  request: PackedRequest,
  client: string,
): Promise<string> {
  try {
    return await verification.submit(request, client);
  } catch (error) {
    const isDuplicate =
      error instanceof FullmatchError && error.code === 'duplicate_verification_request';
    const id = isDuplicate ? error.details['verificationId'] : undefined;
    if (typeof id === 'string') return id;
    throw error;
  }
}
