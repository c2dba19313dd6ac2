import { z } from '@hono/zod-openapi';

import { type ErrorFormat } from '../../error-format.ts';
import { jsonResponse } from '../../json-response.ts';

/** The body of an error of the verification API v1. */
export const v1ErrorSchema = z
  .strictObject({ error: z.string().describe('What happened, and what to do') })
  .meta({ id: 'V1Error', description: 'An error of the verification API v1' });

const V1_PATHS =
  /^\/(?:check-all-by-addresses|check-by-addresses|checkAllByAddresses|checkByAddresses|files|verify)(?:\/|$)/;

/** The error format of the verification API v1. */
export const v1ErrorShape: ErrorFormat = {
  // At the root only POST belongs to this API: GET is a page.
  covers: (method, path) => V1_PATHS.test(path) || (method === 'POST' && path === '/'),
  body: ({ detail }) => ({ error: detail }),
};

/** Describes a response that is an error of the verification API v1. */
export const v1ErrorResponse = (description: string) => jsonResponse(description, v1ErrorSchema);
