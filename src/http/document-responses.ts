import { problemResponse } from './problem-schema.ts';

/** Responses of a published document other than 200. */
export const documentResponses = {
  304: { description: 'The client already has this content' },
  406: problemResponse('Accept-Encoding rejects every encoding (`not_acceptable`)'),
  503: problemResponse('The service is still loading its data (`not_ready`)'),
} as const;
