import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';

import { FullmatchError } from '../errors.ts';
import { respondWithProblem, problemFromError } from './error-response.ts';
import { readinessSchema } from './health-schema.ts';
import { readinessOf } from './health.ts';
import { type HttpDependencies } from './http-dependencies.ts';
import { problemResponse } from './problem-schema.ts';
import { answer, respondJson, NOT_STORED, TEXT_TYPE } from './answer.ts';
import { jsonResponse } from './json-response.ts';

/** GET /healthz. */
export const livenessRoute = createRoute({
  method: 'get',
  path: '/healthz',
  summary: 'Whether the process responds',
  description: 'Returns the text ok, whatever the state of the service. For liveness probes.',
  tags: ['Operations'],
  responses: {
    200: {
      description: 'It responds',
      content: { 'text/plain': { schema: { type: 'string', const: 'ok' } } },
    },
  },
});

/** GET /readyz. */
export const readinessRoute = createRoute({
  method: 'get',
  path: '/readyz',
  summary: 'Whether the service is ready for requests',
  description: 'For load balancers. A service with a stale chain list is ready, and says so.',
  tags: ['Operations'],
  responses: {
    200: jsonResponse('Ready', readinessSchema),
    503: problemResponse(
      'Not ready (`not_ready`, `shutting_down`); with the members of the 200 response',
    ),
  },
});

/** Adds the liveness and readiness routes of both hosts. */
export function addHealthRoutes(
  routes: OpenAPIHono,
  parts: Pick<HttpDependencies, 'health'>,
): void {
  routes.openapi(livenessRoute, () => answer('ok', { type: TEXT_TYPE, cacheControl: NOT_STORED }));
  routes.openapi(readinessRoute, () => {
    const readiness = readinessOf(parts.health());
    if (readiness.ready) return respondJson(readinessRoute, readiness, NOT_STORED);
    const blocking = readiness.reasons.filter((reason) => reason.blocking);
    const code = blocking.some((reason) => reason.code === 'stopping')
      ? 'shutting_down'
      : 'not_ready';
    const detail = blocking.map((reason) => reason.detail).join(' ');
    return respondWithProblem(
      problemFromError(new FullmatchError(code, detail, { details: { ...readiness } })),
    );
  });
}
