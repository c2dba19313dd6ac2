import { problemResponse } from './problem-schema.ts';

/** What a published document may answer besides its 200. */
export const documentResponses = {
  304: { description: 'The client holds this content already' },
  406: problemResponse('Accept-Encoding refuses every coding (`not_acceptable`)'),
  503: problemResponse('The service has not read its data yet (`not_ready`)'),
} as const;
