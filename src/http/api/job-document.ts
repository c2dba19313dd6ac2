import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';

import { FullmatchError } from '../../errors.ts';
import { toProblem } from '../error-response.ts';
import { respondInShape } from '../error-format.ts';
import { type HttpDependencies } from '../http-dependencies.ts';
import { jsonResponse } from '../json-response.ts';
import { problemResponse } from '../problem-schema.ts';
import { overloadResponses } from '../records/record-responses.ts';
import { answerJob } from './v2/add-verify-routes.ts';
import { v2ErrorResponse, v2ErrorShape } from './v2/v2-error.ts';
import { jobSchema } from './v2/verify-routes.ts';

/** GET /job/{id}: the link that tools print for a verification. */
export const jobDocumentRoute = createRoute({
  method: 'get',
  path: '/job/{id}',
  summary: 'A verification job at the URL of its page',
  description:
    'A client that prefers text/html gets the page; any other gets the response of /v2/verify/{verificationId}.',
  tags: ['Verify'],
  request: { params: z.object({ id: z.string() }) },
  responses: {
    200: jsonResponse('The job', jobSchema),
    404: v2ErrorResponse('The job does not exist (`job_not_found`)'),
    ...overloadResponses(problemResponse),
  },
});

/** Adds the JSON at the URL of a job's page. The route of the page precedes it, and decides who gets which. */
export function addJobDocument(
  routes: OpenAPIHono,
  parts: Pick<HttpDependencies, 'contracts' | 'clientOf' | 'verification' | 'log'>,
): void {
  routes.openapi(jobDocumentRoute, async (c) => {
    try {
      return await answerJob(parts, c, c.req.valid('param').id);
    } catch (error) {
      // Programs that follow a job expect the errors of the API v2.
      if (!(error instanceof FullmatchError) || error.code !== 'job_not_found') throw error;
      return respondInShape(toProblem(error, parts.log), v2ErrorShape);
    }
  });
}
