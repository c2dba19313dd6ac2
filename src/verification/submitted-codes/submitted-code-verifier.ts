import { FullmatchError } from '../../errors.ts';
import { combineSignals } from '../../lib/combine-signals.ts';
import { Admission } from '../../lib/admission.ts';
import { type VerificationParts } from '../verify-contract.ts';
import { type SubmittedCodeMatch, type SubmittedCodeRequest } from './submitted-codes.ts';
import { verifySubmittedCodes } from './verify-submitted-codes.ts';

/** The requesting client, and the signal that aborts when it disconnects. */
export interface Requester {
  readonly client: string;
  readonly signal: AbortSignal;
}

/** Verifies submitted bytecode synchronously, while the client waits. */
export interface SubmittedCodeVerifier {
  /**
   * See {@link verifySubmittedCodes}.
   * @throws FullmatchError queue_full, answer_too_large, compiler_unavailable if this process does not
   * compile, compiler_timeout
   */
  verify(
    given: SubmittedCodeRequest,
    requester: Requester,
  ): Promise<readonly (SubmittedCodeMatch | undefined)[]>;
}

/** Limits on waiting requests, each of which holds a connection and a request in memory. */
const WAITING = { waiting: 64, waitingPerClient: 16, waitMs: 60_000 };
/** Blockscout times out after two minutes. */
const DEADLINE_MS = 110_000;

/**
 * Creates the verifier. It runs as many requests at once as there are workers, with fair admission of
 * clients; the compilers' own limits also apply.
 */
export function createSubmittedCodeVerifier(
  parts: Pick<VerificationParts, 'compilers' | 'reader' | 'sourceBytes'>,
  workers: number,
  closing: AbortSignal,
): SubmittedCodeVerifier {
  // Two small sources can keep a compiler busy until the deadline, so one client never takes all places.
  const limits = { total: Math.max(1, workers), perClient: Math.max(1, workers - 1) };
  const verifications = new Admission({ ...WAITING, ...limits }, tooManyVerifications);
  return {
    verify: async (given, { client, signal }) => {
      if (workers === 0) {
        throw new FullmatchError(
          'compiler_unavailable',
          'This process does not compile (verification.workers is 0); use one that does.',
        );
      }
      const leave = await verifications.enter(client);
      const late = AbortSignal.timeout(DEADLINE_MS);
      const ending = combineSignals([signal, closing, late]);
      try {
        return await verifySubmittedCodes(parts, given, ending.signal);
      } catch (error) {
        if (!late.aborted || signal.aborted || closing.aborted) throw error;
        throw new FullmatchError(
          'compiler_timeout',
          `The verification took longer than ${DEADLINE_MS / 1000} seconds.`,
        );
      } finally {
        ending.release();
        leave();
      }
    },
  };
}

function tooManyVerifications(): FullmatchError {
  return new FullmatchError('queue_full', 'Too many verifications are waiting; try again later.', {
    details: { retryAfterSeconds: 5 },
  });
}
