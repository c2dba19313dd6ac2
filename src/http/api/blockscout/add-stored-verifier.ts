import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';

import { FullmatchError } from '../../../errors.ts';
import { jobNotFound } from '../../../verification/jobs/end-job.ts';
import { type PackedRequest } from '../../../verification/verification-request.ts';
import { type Answer, respondJson, NOT_STORED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { withClientSignal } from '../../records/request-connection.ts';
import { type Hex } from '../../../lib/hex.ts';
import { submitOrJoin } from '../submit-or-join.ts';
import { type ContractChoice } from '../v1/verify-request.ts';
import { type ImportFromExplorer } from '../v2/explorer-import.ts';
import { failureBody } from './blockscout-error.ts';
import { storedRoutes } from './blockscout-routes.ts';
import { renderStored } from './render-verdict.ts';

type StoredVerifierParts = Pick<HttpDependencies, 'requests' | 'clientOf' | 'verification'> & {
  readonly findAtExplorer: ImportFromExplorer;
};

type StoredRoute = (typeof storedRoutes)[number]['verify'];

const MATCH = {
  ...{ message: 'OK', status: 'SUCCESS' as const },
  ...{ extraData: null, postActionResponses: null },
};

/**
 * Adds the routes to which Blockscout's verifier forwards contracts on a chain, either as metadata and
 * sources or as an import from another explorer. Each request runs one job, waits for it and stores its
 * match.
 */
export function addStoredVerifier(routes: OpenAPIHono, parts: StoredVerifierParts): void {
  for (const { verify, takeOver } of storedRoutes) {
    routes.openapi({ ...verify, request: {} }, async (c) =>
      answerEnd(parts, c, verify, await submitFiles(parts, c)),
    );
    routes.openapi({ ...takeOver, request: {} }, async (c) =>
      answerEnd(parts, c, takeOver, await submitPlace(parts, c)),
    );
  }
}

/**
 * A submitted verification. It does not keep the sources: a request that waits for a verification holds only
 * its id.
 */
interface Submission {
  readonly chainId: number;
  readonly address: Hex;
  /** Absent if the contract already has a full match. */
  readonly id?: string;
}

async function submitFiles(
  parts: StoredVerifierParts,
  c: Context,
): Promise<Submission | { readonly choices: readonly ContractChoice[] }> {
  const read = await parts.requests.read(c, { kind: 'v1', contentType: 'application/json' });
  if ('choices' in read) return read;
  return submit(parts, c, read.request);
}

async function submitPlace(parts: StoredVerifierParts, c: Context): Promise<Submission> {
  const { place } = await parts.requests.read(c, { kind: 'place' });
  const client = parts.clientOf(c);
  return submit(parts, c, await parts.findAtExplorer({ ...place, client }));
}

async function submit(
  { clientOf, verification }: StoredVerifierParts,
  c: Context,
  request: PackedRequest,
): Promise<Submission> {
  const { chainId, address } = request;
  try {
    const id = await submitOrJoin(verification, request, clientOf(c));
    return { chainId, address, id };
  } catch (error) {
    if (error instanceof FullmatchError && error.code === 'already_verified') {
      return { chainId, address };
    }
    throw error;
  }
}

async function answerEnd(
  { clientOf, verification }: StoredVerifierParts,
  c: Context,
  route: StoredRoute,
  submission: Awaited<ReturnType<typeof submitFiles>>,
): Promise<Answer> {
  const fail = (message: string): Answer => respondJson(route, failureBody(message), NOT_STORED);
  if ('choices' in submission) {
    const names = submission.choices.map(({ name, path }, place) => `${place}: ${path}:${name}`);
    return fail(`chosenContract is expected, the number of one of: ${names.join(', ')}.`);
  }
  const { chainId, address, id } = submission;
  const client = clientOf(c);
  return withClientSignal(c, async (signal) => {
    if (id !== undefined) {
      const job = await verification.waitForJob(id, { client, signal });
      if (job === undefined) throw jobNotFound(id);
      if (job.failure !== undefined) return fail(job.failure.message);
    }
    const stored = await verification.knownCodes.readStored(chainId, address, { client, signal });
    // Withdrawn since, or larger than the limit of a search result.
    if (stored === undefined) return fail('The match cannot be shown here.');
    return respondJson(route, { ...MATCH, source: renderStored(stored) }, NOT_STORED);
  });
}
