import { type z } from '@hono/zod-openapi';

/** Declares a route's JSON response by its schema or by a reference to it. */
export const jsonResponse = <Schema extends z.ZodType | { readonly $ref: string }>(
  description: string,
  schema: Schema,
): {
  description: string;
  content: { 'application/json': { schema: Schema } };
} => ({ description, content: { 'application/json': { schema } } });
