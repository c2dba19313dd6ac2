import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';

import { FullmatchError } from '../../../errors.ts';
import { checksumAddress } from '../../../lib/hex.ts';
import { type Match } from '../../../repository/verified-contract.ts';
import { failureKindOf } from '../../../verification/verification-failure.ts';
import { type VerificationJob } from '../../../verification/verification-job.ts';
import { type PackedRequest } from '../../../verification/verification-request.ts';
import { answer, type Answer, JSON_TYPE, NOT_STORED } from '../../answer.ts';
import { clientOf } from '../../client-of.ts';
import { type HttpDependencies } from '../../host-dependencies.ts';
import { type ContractChoice } from './verify-request.ts';
import { v1RootRoute, v1VerifyRoute } from './verify-routes.ts';

type Deps = Pick<HttpDependencies, 'contracts' | 'requests' | 'verification'>;

/** The wire names of a match in the verification API v1. */
const STATUS = { full: 'perfect', partial: 'partial' } as const;
/** The status of an answer without a match. */
const FAILURE_STATUS = { invalid_input: 400, no_match: 422, not_checked: 503 } as const;

/** The routes of the verification API v1 that verify: one job each, whose end the client waits for. */
export function addV1VerifyRoutes(routes: OpenAPIHono, deps: Deps): void {
  const verify = (c: Context): Promise<Response> => verifyAndWait(c, deps);
  routes.post(v1RootRoute.getRoutingPath(), verify);
  routes.post(v1VerifyRoute.getRoutingPath(), verify);
}

async function verifyAndWait(c: Context, deps: Deps): Promise<Response> {
  const contentType = c.req.header('content-type') ?? '';
  const read = await deps.requests.read(c, { kind: 'v1', contentType });
  if (!('request' in read)) return answerChoices(read.choices);
  const { request } = read;
  let job: VerificationJob;
  try {
    job = await deps.verification.waitForJob(
      await submitOrJoin(deps, request, clientOf(c.env)),
      c.req.raw.signal,
    );
  } catch (error) {
    if (!(error instanceof FullmatchError) || error.code !== 'already_verified') throw error;
    const stored = await deps.contracts.readContract(request.chainId, request.address);
    return answerMatch(request, 'full', stored?.match.matchedAt);
  }
  if (job.failure !== undefined) {
    const { code, message } = job.failure;
    return answerValue({ error: message }, FAILURE_STATUS[failureKindOf(code)]);
  }
  const isFull = job.runtimeMatch === 'full' || job.creationMatch === 'full';
  return answerMatch(request, isFull ? 'full' : 'partial', job.finishedAt);
}

/** Puts the verification into the queue; where the same one is there already, its end is waited for. */
async function submitOrJoin(
  { verification }: Deps,
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

function answerChoices(contractsToChoose: readonly ContractChoice[]): Answer {
  return answerValue(
    {
      error: 'The files describe several contracts; send chosenContract, the place of one of them.',
      contractsToChoose,
    },
    400,
  );
}

function answerMatch({ chainId, address }: PackedRequest, match: Match, storedAt?: Date): Answer {
  const result = {
    address: checksumAddress(address),
    chainId: String(chainId),
    status: STATUS[match],
    ...(storedAt && { storageTimestamp: storedAt.toISOString() }),
  };
  return answerValue({ result: [result] }, 200);
}

function answerValue(value: object, status: number): Answer {
  return answer(JSON.stringify(value), { status, type: JSON_TYPE, cacheControl: NOT_STORED });
}
