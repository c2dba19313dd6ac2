import { z } from '@hono/zod-openapi';

import { type ErrorShape } from '../../error-shape.ts';

/** The body of an error of the verification API v1. */
export const v1ErrorSchema = z
  .strictObject({ error: z.string().describe('What is wrong here, and what to do') })
  .meta({ id: 'V1Error', description: 'An error of the verification API v1' });

/** How the verification API v1 says errors. */
export const v1ErrorShape: ErrorShape = {
  covers: (path) => /^\/(?:check-all-by-addresses|check-by-addresses|files)(?:\/|$)/.test(path),
  body: ({ detail }) => ({ error: detail }),
};

/** A route's answer that is an error of the verification API v1. */
export function v1ErrorResponse(description: string): {
  description: string;
  content: { 'application/json': { schema: typeof v1ErrorSchema } };
} {
  return { description, content: { 'application/json': { schema: v1ErrorSchema } } };
}
