import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';

import {
  type SubmittedCodeMatch,
  type SubmittedCodeRequest,
} from '../../../verification/submitted-codes/submitted-codes.ts';
import { VerificationFailure } from '../../../verification/verification-failure.ts';
import { respondJson, NOT_STORED, REVALIDATED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { withClientSignal } from '../../records/request-connection.ts';
import { failureBody } from './blockscout-error.ts';
import {
  batchRoutes,
  blockscoutHealthRoute,
  methodsRoutes,
  verdictRoutes,
  versionsRoutes,
} from './blockscout-routes.ts';
import { METHODS_BYTES } from './methods-body.ts';
import { renderBatch, renderVerdict } from './render-verdict.ts';

type BlockscoutParts = Pick<
  HttpDependencies,
  'compilers' | 'requests' | 'clientOf' | 'verification'
>;

const NOT_VERIFIED = 'No contract could be verified with provided data';

/**
 * Adds the Blockscout verifier. Bytecode comes with the request, so no chain is read and nothing is stored.
 * The client waits for the verdict.
 */
export function addBlockscoutRoutes(routes: OpenAPIHono, parts: BlockscoutParts): void {
  routes.openapi(blockscoutHealthRoute, () =>
    respondJson(blockscoutHealthRoute, { status: 'SERVING' }, NOT_STORED),
  );
  for (const { language, route } of versionsRoutes) {
    routes.openapi(route, async () => {
      const usable = await parts.compilers.listUsable();
      const compiler = language === 'vyper' ? 'vyper' : 'solc';
      const versions = usable.filter((each) => each.compiler === compiler);
      const compilerVersions = versions.map(({ longVersion }) => `v${longVersion}`);
      return respondJson(route, { compilerVersions }, REVALIDATED);
    });
  }
  for (const route of methodsRoutes) {
    // The worker thread that reads the body does the lookup.
    routes.openapi({ ...route, request: {} }, async (c) => {
      const { methods } = await parts.requests.read(c, { kind: 'methods' }, METHODS_BYTES);
      return respondJson(route, { methods }, NOT_STORED);
    });
  }
  for (const { form, route } of verdictRoutes) {
    // A worker thread reads and validates the body.
    routes.openapi({ ...route, request: {} }, async (c) => {
      const { given, wantsMethods } = await parts.requests.read(c, form);
      const found = await verify(parts, c, given);
      if (found instanceof VerificationFailure) {
        return respondJson(route, failureBody(found.message), NOT_STORED);
      }
      const [match] = found;
      const verdict =
        match === undefined ? failureBody(NOT_VERIFIED) : renderVerdict(match, wantsMethods);
      return respondJson(route, verdict, NOT_STORED);
    });
  }
  for (const { form, route } of batchRoutes) {
    routes.openapi({ ...route, request: {} }, async (c) => {
      const { given } = await parts.requests.read(c, form);
      const found = await verify(parts, c, given);
      const answer =
        found instanceof VerificationFailure
          ? { compilationFailure: { message: found.message } }
          : renderBatch(found);
      return respondJson(route, answer, NOT_STORED);
    });
  }
}

/** Returns the match of each contract, or why the compilation gives none. Aborts when the client disconnects. */
async function verify(
  { verification, clientOf }: BlockscoutParts,
  c: Context,
  given: SubmittedCodeRequest,
): Promise<readonly (SubmittedCodeMatch | undefined)[] | VerificationFailure> {
  const client = clientOf(c);
  try {
    return await withClientSignal(c, (signal) =>
      verification.verifyGiven(given, { client, signal }),
    );
  } catch (error) {
    if (error instanceof VerificationFailure) return error;
    throw error;
  }
}
