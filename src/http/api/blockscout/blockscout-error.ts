import { type ErrorShape } from '../../error-shape.ts';

const SINGLE = /^(?:\/blockscout)?\/api\/v2\/verifier\/[a-z]+\/sources:verify/;
const BATCH = /^(?:\/blockscout)?\/api\/v2\/verifier\/[a-z]+\/sources:batch/;

/** How the verifier says that nothing was verified. */
export function failureOf(message: string) {
  return {
    ...{ message, status: 'FAILURE' as const },
    ...{ source: null, extraData: null, postActionResponses: null },
  };
}

/** Blockscout looks into bodies alone, never at a status, and takes a body that it does not know for the fault. */
export const blockscoutErrorShapes: readonly ErrorShape[] = [
  {
    covers: (method, path) => method === 'POST' && SINGLE.test(path),
    body: ({ detail }) => failureOf(detail),
    status: 200,
  },
  {
    covers: (method, path) => method === 'POST' && BATCH.test(path),
    body: ({ detail }) => ({ compilationFailure: { message: detail } }),
    status: 200,
  },
];
