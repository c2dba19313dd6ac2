import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';

import { type ErrorFormat } from '../../error-format.ts';
import { jsonResponse } from '../../json-response.ts';

/** The body of an error of the verification API v2. */
export const v2ErrorSchema = z
  .strictObject({
    customCode: z.string().describe('Stable; programs branch on it'),
    message: z.string().describe('What happened, and what to do'),
    errorId: z.uuid().describe('Identifies this occurrence'),
  })
  .meta({ id: 'V2Error', description: 'An error of the verification API v2' });

/** The error format of the verification API v2. */
export const v2ErrorShape: ErrorFormat = {
  covers: (_method, path) => path === '/v2' || path.startsWith('/v2/'),
  body: ({ code, detail, errorId }) => ({
    customCode: code,
    message: detail,
    errorId: typeof errorId === 'string' ? errorId : randomUUID(),
  }),
};

/** Describes a response that is an error of the verification API v2. */
export const v2ErrorResponse = (description: string) => jsonResponse(description, v2ErrorSchema);
