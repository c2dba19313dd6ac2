import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';

import { FullmatchError } from '../../../errors.ts';
import { checksumAddress } from '../../../lib/hex.ts';
import type { Match } from '../../../repository/repository.ts';
import { failureKindOf } from '../../../verification/verification-failure.ts';
import { type WaitOptions } from '../../../verification/jobs/job-waiters.ts';
import { jobNotFound } from '../../../verification/jobs/end-job.ts';
import { type PackedRequest } from '../../../verification/verification-request.ts';
import { type Answer, respondJson, NOT_STORED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { submitOrJoin } from '../submit-or-join.ts';
import { type ContractChoice } from './verify-request.ts';
import { V1_STATUS, v1RootRoute, v1VerifyRoute } from './verify-routes.ts';
import { isFullMatch } from '../../../verification/verify-contract.ts';

type VerifyParts = Pick<HttpDependencies, 'contracts' | 'requests' | 'clientOf' | 'verification'>;

/** HTTP status of a response without a match. */
const FAILURE_STATUS = { invalid_input: 400, no_match: 422, not_checked: 503 } as const;

/** Adds the routes of the verification API v1 that verify. Each request runs one job and waits for its end. */
export function addV1VerifyRoutes(routes: OpenAPIHono, parts: VerifyParts): void {
  // A worker thread reads and validates the body.
  for (const route of [v1RootRoute, v1VerifyRoute]) {
    routes.openapi({ ...route, request: {} }, (c) => verifyAndWait(c, parts));
  }
}

/** The part of a request that is still needed after its verification. */
interface Submission {
  readonly place: Pick<PackedRequest, 'chainId' | 'address'>;
  /** Absent if the contract already has a full match. */
  readonly verificationId?: string;
}

async function verifyAndWait(c: Context, parts: VerifyParts): Promise<Answer> {
  const requester = { client: parts.clientOf(c), signal: c.req.raw.signal };
  const submitted = await submitBody(c, requester.client, parts);
  return 'place' in submitted ? answerEnd(submitted, requester, parts) : submitted;
}

/** Reads a body and submits it. The body is not kept: a request that waits for a verification holds only its id. */
async function submitBody(
  c: Context,
  client: string,
  parts: VerifyParts,
): Promise<Submission | Answer> {
  const contentType = c.req.header('content-type') ?? '';
  const read = await parts.requests.read(c, { kind: 'v1', contentType });
  if ('choices' in read) return answerChoices(read.choices);
  const { chainId, address } = read.request;
  const place = { chainId, address };
  try {
    return { place, verificationId: await submitOrJoin(parts.verification, read.request, client) };
  } catch (error) {
    if (error instanceof FullmatchError && error.code === 'already_verified') return { place };
    throw error;
  }
}

/** Waits for a verification and returns its result. */
async function answerEnd(
  { place, verificationId }: Submission,
  requester: Pick<WaitOptions, 'client' | 'signal'>,
  parts: VerifyParts,
): Promise<Answer> {
  if (verificationId === undefined) {
    return answerMatch(place, 'full', await readStorageTime(parts, place));
  }
  const job = await parts.verification.waitForJob(verificationId, requester);
  if (job === undefined) throw jobNotFound(verificationId);
  if (job.failure !== undefined) {
    const { code, message } = job.failure;
    const status = FAILURE_STATUS[failureKindOf(code)];
    return respondJson(v1VerifyRoute, { error: message }, NOT_STORED, status);
  }
  const isFull = isFullMatch(job);
  // Truffle takes a time to mean "already verified", so a match that this job stored has none.
  const storedAt = job.eventNumber === undefined ? await readStorageTime(parts, place) : undefined;
  return answerMatch(place, isFull ? 'full' : 'partial', storedAt);
}

/** Returns when the shown match was stored, for a submission that stored nothing. */
async function readStorageTime(
  { contracts }: VerifyParts,
  { chainId, address }: Submission['place'],
): Promise<Date | undefined> {
  return (await contracts.readContract(chainId, address))?.verifiedAt;
}

function answerChoices(contractsToChoose: readonly ContractChoice[]): Answer {
  const error =
    'The files describe several contracts; send chosenContract, the index of one of them.';
  return respondJson(v1VerifyRoute, { error, contractsToChoose }, NOT_STORED, 400);
}

function answerMatch(
  { chainId, address }: Submission['place'],
  match: Match,
  storedAt?: Date,
): Answer {
  const result = {
    address: checksumAddress(address),
    chainId: String(chainId),
    status: V1_STATUS[match],
    ...(storedAt && { storageTimestamp: storedAt.toISOString() }),
  };
  return respondJson(v1VerifyRoute, { result: [result] }, NOT_STORED);
}
