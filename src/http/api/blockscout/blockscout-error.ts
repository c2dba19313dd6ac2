import { type ErrorCode } from '../../../errors.ts';
import { type ErrorFormat } from '../../error-format.ts';

const SINGLE = /^(?:\/blockscout)?\/api\/v2\/verifier\/[a-z]+\/sources:verify/;
const VERIFIER = /^(?:\/blockscout)?\/api\/v2\/verifier(?!\/solidity\/methods:lookup$)(?:\/|$)/;
const EXPLORER = /^\/evm\/[^/]+\/blockscout\/api\/v2(?:\/|$)/;
const BATCH = /^(?:\/blockscout)?\/api\/v2\/verifier\/[a-z]+\/sources:batch/;

/** Errors that the Blockscout API reports as just "Not found". */
const NOT_FOUND: ReadonlySet<string> = new Set([
  'contract_not_found',
  'route_not_found',
] satisfies ErrorCode[]);

/** Returns the verifier's response for a request that verified nothing. */
export function failureBody(message: string) {
  return {
    ...{ message, status: 'FAILURE' as const },
    ...{ source: null, extraData: null, postActionResponses: null },
  };
}

/**
 * Blockscout reads only the body of a response, never the status, and shows an unknown body as the error. So
 * unknown routes below the verifier have the same error format.
 */
export const blockscoutErrorShapes: readonly ErrorFormat[] = [
  {
    covers: (method, path) => method === 'POST' && BATCH.test(path),
    body: ({ detail }) => ({ compilationFailure: { message: detail } }),
    status: 200,
  },
  {
    covers: (method, path) => method === 'POST' && SINGLE.test(path),
    body: ({ detail }) => failureBody(detail),
    status: 200,
  },
  {
    covers: (_method, path) => EXPLORER.test(path),
    body: ({ code, detail }) => ({ message: NOT_FOUND.has(code) ? 'Not found' : detail }),
  },
  {
    covers: (_method, path) => VERIFIER.test(path),
    body: ({ detail }) => failureBody(detail),
  },
];
