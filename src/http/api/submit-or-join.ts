import { FullmatchError } from '../../errors.ts';
import { type PackedRequest } from '../../verification/verification-request.ts';
import { type Verification } from '../../verification/verification.ts';

/**
 * Puts a verification into the queue; where the same one is there already, gives its id.
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
