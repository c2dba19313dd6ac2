import { FullmatchError } from '../../errors.ts';
import { Admission, NotAdmitted } from '../../lib/admission.ts';
import { type VerificationParts } from '../verify-contract.ts';
import { type SubmittedCodeMatch, type SubmittedCodeRequest } from './submitted-codes.ts';
import { verifySubmittedCodes } from './verify-submitted-codes.ts';

/** Who asks, and when nobody waits any more. */
export interface Requester {
  readonly client: string;
  readonly signal: AbortSignal;
}

/** Verifies codes that somebody gives, while they wait. */
export interface SubmittedCodeVerifier {
  /**
   * See {@link verifySubmittedCodes}.
   * @throws FullmatchError queue_full, answer_too_large, compiler_unavailable where this process compiles nothing, compiler_timeout
   */
  verify(
    given: SubmittedCodeRequest,
    asker: Requester,
  ): Promise<readonly (SubmittedCodeMatch | undefined)[]>;
}

/** Who waits holds a connection and a request in memory. */
const WAITING = { waiting: 64, waitingPerClient: 16, waitMs: 60_000 };
/** Blockscout gives up after two minutes. */
const DEADLINE_MS = 110_000;

/** As many at once as verifications of the queue, and clients in turn; the compilers' own bounds hold beside. */
export function createSubmittedCodeVerifier(
  parts: Pick<VerificationParts, 'compilers' | 'reader' | 'sourceBytes'>,
  workers: number,
  closing: AbortSignal,
): SubmittedCodeVerifier {
  const verifications = new Admission({
    ...WAITING,
    total: Math.max(1, workers),
    // Two small sources keep a compiler busy until the deadline: one client leaves a place to the others.
    perClient: Math.max(1, workers - 1),
  });
  return {
    verify: async (given, { client, signal }) => {
      if (workers === 0) {
        throw new FullmatchError(
          'compiler_unavailable',
          'This process does not compile (verification.workers is 0); use one that does.',
        );
      }
      const leave = await verifications.enter(client).catch(refuseVerification);
      const late = AbortSignal.timeout(DEADLINE_MS);
      try {
        const ending = AbortSignal.any([signal, closing, late]);
        return await verifySubmittedCodes(parts, given, ending);
      } catch (error) {
        if (!late.aborted || signal.aborted || closing.aborted) throw error;
        throw new FullmatchError(
          'compiler_timeout',
          `The verification took longer than ${DEADLINE_MS / 1000} seconds.`,
        );
      } finally {
        leave();
      }
    },
  };
}

function refuseVerification(error: unknown): never {
  if (!(error instanceof NotAdmitted)) throw error;
  throw new FullmatchError('queue_full', 'Too many verifications are waiting; try again later.', {
    details: { retryAfterSeconds: 5 },
  });
}
