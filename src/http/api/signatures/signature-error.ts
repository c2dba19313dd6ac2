import { z } from '@hono/zod-openapi';

import { type ErrorFormat } from '../../error-format.ts';
import { jsonResponse } from '../../json-response.ts';

/** The body of an error of the signature database. */
export const signatureErrorSchema = z
  .strictObject({
    ok: z.literal(false),
    error: z.string().describe('What happened, and what to do'),
    code: z.string().describe('A stable code'),
  })
  .meta({ id: 'SignatureError', description: 'An error of the signature database' });

const PATHS = /^\/signature-database\/v1\/(?:lookup|search|import|stats)$/;

/** The error format of the signature database. */
export const signatureErrorShape: ErrorFormat = {
  covers: (_method, path) => PATHS.test(path),
  body: ({ detail, code }) => ({ ok: false, error: detail, code }),
};

/** Describes a response that is an error of the signature database. */
export const signatureErrorResponse = (description: string) =>
  jsonResponse(description, signatureErrorSchema);
