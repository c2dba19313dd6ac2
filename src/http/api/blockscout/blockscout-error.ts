import { type ErrorCode } from '../../../errors.ts';
import { type ErrorShape } from '../../error-shape.ts';

const SINGLE = /^(?:\/blockscout)?\/api\/v2\/verifier\/[a-z]+\/sources:verify/;
const VERIFIER = /^(?:\/blockscout)?\/api\/v2\/verifier(?!\/solidity\/methods:lookup$)(?:\/|$)/;
const EXPLORER = /^\/evm\/[^/]+\/blockscout\/api\/v2(?:\/|$)/;
const BATCH = /^(?:\/blockscout)?\/api\/v2\/verifier\/[a-z]+\/sources:batch/;

/** What the API of a Blockscout says in two words. */
const NOT_FOUND: ReadonlySet<string> = new Set([
  'contract_not_found',
  'route_not_found',
] satisfies ErrorCode[]);

/** The response of the verifier when nothing was verified. */
export function failureOf(message: string) {
  return {
    ...{ message, status: 'FAILURE' as const },
    ...{ source: null, extraData: null, postActionResponses: null },
  };
}

/**
 * Blockscout reads only the body of a response, never its status, and shows a body that it does not know as the error. So
 * what is not found below the verifier has the same shape.
 */
export const blockscoutErrorShapes: readonly ErrorShape[] = [
  {
    covers: (method, path) => method === 'POST' && BATCH.test(path),
    body: ({ detail }) => ({ compilationFailure: { message: detail } }),
    status: 200,
  },
  {
    covers: (method, path) => method === 'POST' && SINGLE.test(path),
    body: ({ detail }) => failureOf(detail),
    status: 200,
  },
  {
    covers: (_method, path) => EXPLORER.test(path),
    body: ({ code, detail }) => ({ message: NOT_FOUND.has(code) ? 'Not found' : detail }),
  },
  {
    covers: (_method, path) => VERIFIER.test(path),
    body: ({ detail }) => failureOf(detail),
  },
];
