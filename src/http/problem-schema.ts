import { z } from '@hono/zod-openapi';

import { PROBLEM_TYPE } from './error-response.ts';

/** Body of every error: RFC 9457 with a stable code and the error's details as further members. */
export const problemSchema = z
  .looseObject({
    type: z.string().describe('urn:fullmatch:error: and the code'),
    title: z.string().describe('What the code means'),
    status: z.int().min(400).max(599),
    code: z.string().describe('Stable; programs branch on it. docs/errors.md lists all of them'),
    detail: z.string().describe('What happened, and what to do'),
    instance: z.string().optional().describe('Identifies this occurrence'),
  })
  .meta({ id: 'Problem', description: 'An error, by RFC 9457' });

/** Declares a problem as a response of a route. */
export function problemResponse(description: string): {
  description: string;
  content: Record<typeof PROBLEM_TYPE, { schema: typeof problemSchema }>;
} {
  return { description, content: { [PROBLEM_TYPE]: { schema: problemSchema } } };
}
