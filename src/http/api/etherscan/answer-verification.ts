import { type Context } from 'hono';

import { FullmatchError } from '../../../errors.ts';
import { checksumAddress } from '../../../lib/hex.ts';
import { type VerificationJob } from '../../../verification/jobs/verification-job.ts';
import { failureKindOf } from '../../../verification/verification-failure.ts';
import { type PackedRequest } from '../../../verification/verification-request.ts';
import { type Answer } from '../../answer.ts';
import { clientOf } from '../../client-of.ts';
import { submitOrJoin } from '../submit-or-join.ts';
import { readYoungJobAtItsEnd } from '../young-job.ts';
import { requireField } from './etherscan-fields.ts';
import {
  answerNotOk,
  answerOk,
  type EtherscanParts,
  type EtherscanQuestion,
} from './etherscan-question.ts';
import { type Dialect, RESULT_TEXTS, SUBMISSION_TEXTS } from './etherscan-wire.ts';

/**
 * How long a submission waits for its job. What stands on chain is looked at before anything is compiled, so that the
 * answer can say that nothing does: clients send their request again then, until their node's block has come around.
 */
const FIRST_LOOK_MS = 2_000;

/** verifysourcecode: puts the verification into the queue, and answers with the id of its job. */
export async function answerSubmission(
  { verification, trustedProxies }: EtherscanParts,
  c: Context,
  dialect: Dialect,
  request: PackedRequest,
): Promise<Answer> {
  const texts: (typeof SUBMISSION_TEXTS)['etherscan'] = SUBMISSION_TEXTS[dialect];
  const client = clientOf(c.env, trustedProxies);
  let id: string;
  try {
    id = await submitOrJoin(verification, request, client);
  } catch (error) {
    const isVerified = error instanceof FullmatchError && error.code === 'already_verified';
    if (isVerified) return answerNotOk(texts.alreadyVerified);
    throw error;
  }
  const waiting = { client, signal: c.req.raw.signal, timeoutMs: FIRST_LOOK_MS };
  // Whoever cannot wait asks for the job, as everybody does.
  const ended = await verification.waitForJob(id, waiting).catch(() => undefined);
  if (ended?.failure?.code === 'contract_not_deployed') {
    return answerNotOk(texts.noCode(checksumAddress(request.address)), detailsOf(ended.failure));
  }
  return answerOk(id);
}

/** checkverifystatus: how the job of a verification stands. */
export async function answerStatus(
  { verification, trustedProxies }: EtherscanParts,
  question: EtherscanQuestion,
): Promise<Answer> {
  const { c, fields } = question;
  const id = requireField(fields, 'guid');
  const asker = { client: clientOf(c.env, trustedProxies), signal: c.req.raw.signal };
  let job: VerificationJob;
  try {
    job = await readYoungJobAtItsEnd(verification, id, asker);
  } catch (error) {
    const isUnknown = error instanceof FullmatchError && error.code === 'job_not_found';
    if (isUnknown) return answerNotOk(RESULT_TEXTS.unknownJob);
    throw error;
  }
  if (job.state === 'succeeded') return answerOk(RESULT_TEXTS.verified);
  if (job.failure === undefined) return answerNotOk(RESULT_TEXTS.pending);
  return answerFailure(question, job.failure);
}

/** A failure that says nothing about the contract: a node or a compiler is not there. */
function isUnchecked(code: string): boolean {
  if (code === 'immutable_not_proven') return false;
  return code === 'unsupported_compiler_version' || failureKindOf(code) === 'not_checked';
}

/**
 * Hardhat compares the text of a failure letter by letter, and asks by GET; of the same text forge, which asks by POST,
 * shows all there is, and so does Hardhat 3, which names the chain. Hardhat believes of Blockscout only an answer that
 * says yes, forge takes such a one for a success. Where nothing was found out, no client is told that it does not match.
 */
export function answerFailure(
  { c, dialect, fields }: EtherscanQuestion,
  failure: NonNullable<VerificationJob['failure']>,
): Answer {
  const isPost = c.req.method === 'POST';
  const details = detailsOf(failure);
  if (isUnchecked(failure.code)) return answerNotOk(failure.message, details);
  if (dialect === 'blockscout' && !isPost) return answerOk(RESULT_TEXTS.notMatched, details);
  const showsReason = isPost || fields['chainid'] !== undefined;
  const reason = showsReason ? `. ${failure.message}` : '';
  return answerNotOk(`${RESULT_TEXTS.notMatched}${reason}`, details);
}

function detailsOf({ code, message, id }: NonNullable<VerificationJob['failure']>) {
  return { customCode: code, message, errorId: id };
}
