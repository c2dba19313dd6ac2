import { type Context } from 'hono';

import { FullmatchError } from '../../../errors.ts';
import { checksumAddress } from '../../../lib/hex.ts';
import { type VerificationJob } from '../../../verification/jobs/verification-job.ts';
import { failureKindOf } from '../../../verification/verification-failure.ts';
import { type PackedRequest } from '../../../verification/verification-request.ts';
import { type Answer } from '../../answer.ts';
import { submitOrJoin } from '../submit-or-join.ts';
import { readJobAfterShortWait } from '../read-job-after-short-wait.ts';
import { requireField } from './etherscan-fields.ts';
import {
  notOkResponse,
  okResponse,
  type EtherscanParts,
  type EtherscanRequest,
} from './etherscan-request.ts';
import { type Dialect, RESULT_TEXTS, SUBMISSION_TEXTS } from './etherscan-texts.ts';

/**
 * How long a submission waits for its job. The job reads the chain before it compiles, so the response can
 * report that the address has no code. Clients then resubmit until their node's block has propagated.
 */
const FIRST_WAIT_MS = 2_000;

/** Handles verifysourcecode: queues the verification and returns the id of its job. */
export async function answerSubmission(
  { verification, clientOf }: EtherscanParts,
  c: Context,
  dialect: Dialect,
  request: PackedRequest,
): Promise<Answer> {
  const texts: (typeof SUBMISSION_TEXTS)['etherscan'] = SUBMISSION_TEXTS[dialect];
  const client = clientOf(c);
  let id: string;
  try {
    id = await submitOrJoin(verification, request, client);
  } catch (error) {
    const isVerified = error instanceof FullmatchError && error.code === 'already_verified';
    if (isVerified) return notOkResponse(texts.alreadyVerified);
    throw error;
  }
  const waiting = { client, signal: c.req.raw.signal, timeoutMs: FIRST_WAIT_MS };
  // A client that cannot wait polls the job, as all clients do.
  const ended = await verification.waitForJob(id, waiting).catch(() => undefined);
  if (ended?.failure?.code === 'contract_not_deployed') {
    return notOkResponse(texts.noCode(checksumAddress(request.address)), detailsOf(ended.failure));
  }
  return okResponse(id);
}

/** Handles checkverifystatus: returns the state of a verification job. */
export async function answerStatus(
  { verification, clientOf }: EtherscanParts,
  question: EtherscanRequest,
): Promise<Answer> {
  const { c, fields } = question;
  const id = requireField(fields, 'guid');
  const requester = { client: clientOf(c), signal: c.req.raw.signal };
  let job: VerificationJob;
  try {
    job = await readJobAfterShortWait(verification, id, requester);
  } catch (error) {
    const isUnknown = error instanceof FullmatchError && error.code === 'job_not_found';
    if (isUnknown) return notOkResponse(RESULT_TEXTS.unknownJob);
    throw error;
  }
  if (job.state === 'succeeded') return okResponse(RESULT_TEXTS.verified);
  if (job.failure === undefined) return notOkResponse(RESULT_TEXTS.pending);
  return answerFailure(question, job.failure);
}

/**
 * Returns whether a failure says nothing about the contract, for example because a node or a compiler is
 * unavailable.
 */
function isUnchecked(code: string): boolean {
  if (code === 'immutable_not_proven') return false;
  return code === 'unsupported_compiler_version' || failureKindOf(code) === 'not_checked';
}

/**
 * Renders a failed job. Hardhat polls with GET and compares the failure text exactly. forge, which polls with
 * POST, and Hardhat 3, which names the chain, show the full text. On the Blockscout dialect Hardhat accepts
 * only a response with status 1, which forge would take as success. A failure that was not checked is never
 * reported as a mismatch.
 */
export function answerFailure(
  { c, dialect, fields }: EtherscanRequest,
  failure: NonNullable<VerificationJob['failure']>,
): Answer {
  const isPost = c.req.method === 'POST';
  const details = detailsOf(failure);
  if (isUnchecked(failure.code)) return notOkResponse(failure.message, details);
  if (dialect === 'blockscout' && !isPost) return okResponse(RESULT_TEXTS.notMatched, details);
  const showsReason = isPost || fields['chainid'] !== undefined;
  const reason = showsReason ? `. ${failure.message}` : '';
  return notOkResponse(`${RESULT_TEXTS.notMatched}${reason}`, details);
}

function detailsOf({ code, message, id }: NonNullable<VerificationJob['failure']>) {
  return { customCode: code, message, errorId: id };
}
