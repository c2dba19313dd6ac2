import { z } from '@hono/zod-openapi';

/** A body that is any JSON object to its route: the thread that reads it checks the members. */
export const JSON_BODY = {
  required: true,
  content: { 'application/json': { schema: z.looseObject({}) } },
} as const;
