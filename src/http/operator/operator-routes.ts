import { createRoute, z } from '@hono/zod-openapi';
import { healthReportSchema } from '../health-schema.ts';
import { problemResponse } from '../problem-schema.ts';
import { jsonResponse } from '../json-response.ts';

/** URL of the operator's page in the committed document; the page is reachable only on the service's own machine. */
export const OPERATOR_URL = 'http://127.0.0.1:5557';

const count = z.int().min(0);
const chainId = z.int().min(1);

export const operatorStateSchema = z
  .strictObject({
    health: healthReportSchema,
    roles: z.strictObject({
      hosts: z.array(z.enum(['api', 'repository'])),
      workers: count.describe('Verifications that this process runs at once'),
      monitor: z.boolean(),
      database: z.enum(['embedded', 'external']),
    }),
    disk: z
      .strictObject({ freeBytes: count, totalBytes: count })
      .optional()
      .describe('The file system of the data directory; absent if there is none'),
    databaseBytes: count,
    feed: z
      .array(z.strictObject({ name: z.string(), behind: count }))
      .describe('How many events each table is behind the feed'),
    jobs: z.array(
      z.strictObject({
        id: z.uuid(),
        state: z.string(),
        chainId,
        address: z.string(),
        createdAt: z.iso.datetime(),
      }),
    ),
    failures: z
      .array(
        z.strictObject({
          code: z.string(),
          jobs: count,
          retriable: count.describe('Jobs among them whose request is kept'),
          lastJob: z.uuid(),
          lastAt: z.iso.datetime(),
        }),
      )
      .describe('Jobs that failed in the last 24 hours'),
    chains: z.array(
      z.strictObject({
        chainId,
        name: z.string(),
        state: z.string(),
        endpoints: count,
        up: count,
        reason: z.string().optional().describe('The most severe'),
      }),
    ),
    monitors: z.array(
      z.strictObject({
        chainId,
        name: z.string(),
        status: z.string(),
        lagBlocks: count,
        found: count,
        waiting: count,
        givenUp: count,
      }),
    ),
  })
  .meta({ id: 'OperatorState', description: 'The operator’s page' });

const tags = ['Operations'];
const sent = { 303: { description: 'Redirects to the page, which shows the result' } };
const refused = {
  403: problemResponse('The request comes from another site or host name (`not_on_this_machine`)'),
};

/** GET /state. */
export const operatorStateRoute = createRoute({
  method: 'get',
  path: '/state',
  summary: 'The operator’s page',
  tags,
  responses: {
    200: jsonResponse('The state', operatorStateSchema),
    ...refused,
    503: problemResponse('The database cannot be reached (`database_unreachable`)'),
  },
});

/** POST /jobs/{id}/cancel. */
export const operatorCancelRoute = createRoute({
  method: 'post',
  path: '/jobs/{id}/cancel',
  summary: 'End a verification job',
  tags,
  request: { params: z.object({ id: z.string() }) },
  responses: { ...sent, ...refused },
});

/** POST /failures/{code}/retry. */
export const operatorRetryFailuresRoute = createRoute({
  method: 'post',
  path: '/failures/{code}/retry',
  summary: 'Retry the jobs that failed with a code, as new jobs',
  description:
    'Jobs that could not check their contract keep their request for a week, the newest 1,000 of them.',
  tags,
  request: { params: z.object({ code: z.string() }) },
  responses: { ...sent, ...refused },
});

/** POST /monitors/{chainId}/retry. */
export const operatorRetryRoute = createRoute({
  method: 'post',
  path: '/monitors/{chainId}/retry',
  summary: 'Retry everything the monitor of a chain found, including what was given up',
  tags,
  request: { params: z.object({ chainId: z.coerce.number().int().min(1) }) },
  responses: { ...sent, ...refused },
});

/** Routes of the operator's page. */
export const operatorRoutes = [
  operatorStateRoute,
  operatorCancelRoute,
  operatorRetryFailuresRoute,
  operatorRetryRoute,
] as const;
