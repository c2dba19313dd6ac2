import { createRoute, z } from '@hono/zod-openapi';

import { overloadResponses } from '../../records/record-responses.ts';
import { problemResponse } from '../../problem-schema.ts';
import { jsonResponse } from '../../json-response.ts';
import { matchSchema, originSchema } from '../../match-schema.ts';

const tags = ['Statistics'];
const count = z.int().min(0);
const bothCounts = z.strictObject({ full: count, partial: count });
/** How many of `full` and `partial` are claims. */
const claimed = bothCounts.describe(
  'Those of them that other services claim: imported, and not verified here',
);
const counts = { full: count, partial: count, claimed };
const changedCounts = { full: z.int(), partial: z.int() };
const changed = z.strictObject({ ...changedCounts, claimed: z.strictObject(changedCounts) });
const fallen = { full: z.int().max(0), partial: z.int().max(0) };
const time = z.iso.datetime();
const day = z.iso.date();
const position = z
  .string()
  .regex(/^[0-9]+$/)
  .describe('The position in the event feed up to which everything is counted, in decimal digits');

/** Most points of a history. */
export const POINTS_MAX = 4000;

/** The body of GET /v1/statistics. */
export const overviewSchema = z
  .strictObject({
    asOf: time.describe('The time of the statistics, which follow events within a second'),
    eventNumber: z.string().describe('The newest counted event, in decimal digits'),
    position,
    totals: z.strictObject({
      ...counts,
      chains: count.describe('Chains with contracts'),
      uniqueCodes: count.describe(
        'Unique runtime bytecodes ever verified, as far as the bytecode is known',
      ),
    }),
    changes: z
      .strictObject({ day: changed, week: changed })
      .describe('Changes in the last 24 hours and 7 days, by whole hours'),
    chains: z
      .array(
        z.strictObject({
          chainId: z.int().min(1),
          name: z.string(),
          ...counts,
          share: z.number().min(0).max(1).nullable().describe('full / (full + partial)'),
          firstVerifiedAt: time.nullable(),
          lastVerifiedAt: time.nullable(),
        }),
      )
      .describe('Every chain that ever had a verified contract, ordered by chainId'),
    origins: z
      .strictObject({ verified: bothCounts, imported: bothCounts, monitored: bothCounts })
      .describe('By the origin of the current match'),
    trusts: z
      .strictObject({
        claimed: bothCounts,
        rechecked: bothCounts,
        recompiled: bothCounts,
        verified: bothCounts,
      })
      .describe('By how far this service checked the current match'),
    compilers: z
      .array(z.strictObject({ language: z.string(), version: z.string(), ...counts }))
      .describe('Those with the most contracts first'),
  })
  .meta({ id: 'StatisticsOverview', description: 'All counts at one position of the feed' });

/** The body of GET /v1/statistics/history. */
export const historySchema = z
  .strictObject({
    interval: z.enum(['day', 'week', 'month']),
    from: day,
    to: day,
    position,
    chains: z.array(z.int().min(1)).nullable().describe('null: all chains together'),
    points: z
      .array(z.strictObject({ date: day, ...counts }))
      .describe('The counts at the end of each interval, without gaps; `date` is its last day'),
    withdrawals: z
      .array(
        z.strictObject({
          date: day,
          chainId: z.int().min(1),
          ...fallen,
          claimed: z.strictObject(fallen),
          reason: z.string(),
        }),
      )
      .describe('Withdrawals on a chain on one day for one reason'),
  })
  .meta({ id: 'StatisticsHistory', description: 'The counts over time, by day in UTC' });

/** GET /v1/statistics. */
export const overviewRoute = createRoute({
  method: 'get',
  path: '/v1/statistics',
  summary: 'All counts: by chain, origin and compiler, and their changes',
  description: 'All from one position of the event feed; computed once after a change.',
  tags,
  responses: {
    200: jsonResponse('The statistics', overviewSchema),
    304: { description: 'The client already has these statistics' },
    406: problemResponse('`Accept-Encoding` rejects every encoding (`not_acceptable`)'),
    503: problemResponse('The database cannot be reached (`database_unreachable`)'),
  },
});

/** A history of this many chains takes tens of milliseconds to read. */
const CHAINS_MAX = 500;
const CHAINS = /^[1-9][0-9]{0,15}$/;
const dayParameter = (description: string) =>
  z.iso
    .date('a day such as 2026-02-03 is expected')
    .refine((text) => text >= '1970-01-01', 'a day since 1970 is expected')
    .optional()
    .openapi({ param: { description }, example: '2026-02-03' });

/** GET /v1/statistics/history. */
export const historyRoute = createRoute({
  method: 'get',
  path: '/v1/statistics/history',
  summary: 'The counts over time, and the reasons for withdrawals',
  description: `From daily sums of the event log, in UTC. At most ${POINTS_MAX} points.`,
  tags,
  request: {
    query: z.object({
      chain: z
        .union([z.string(), z.array(z.string())])
        .transform((value) => [value].flat())
        .refine(
          (ids) => ids.every((id) => CHAINS.test(id) && Number.isSafeInteger(Number(id))),
          'a chain id in decimal digits is expected',
        )
        .transform((ids) => [...new Set(ids.map(Number))].sort((left, right) => left - right))
        .refine((ids) => ids.length <= CHAINS_MAX, `at most ${CHAINS_MAX} chains are expected`)
        .optional()
        .openapi({
          type: 'array',
          items: { type: 'string' },
          param: {
            description: `Chain id; can be repeated up to ${CHAINS_MAX} times. All chains by default`,
          },
        }),
      from: dayParameter('The first day; by default 90 days before the last'),
      to: dayParameter('The last day; today by default, and at the latest'),
      interval: z
        .enum(['day', 'week', 'month'])
        .optional()
        .openapi({ param: { description: 'The interval between the points (day)' } }),
    }),
  },
  responses: {
    200: jsonResponse('The history', historySchema),
    304: { description: 'The client already has this history' },
    400: problemResponse('A parameter is invalid (`invalid_parameter`)'),
    ...overloadResponses(problemResponse),
  },
});

/** Schemas of the event data of {@link eventsRoute}, by event type. */
export const eventDataSchemas = {
  match: z
    .strictObject({
      eventNumber: z.string().describe('Decimal digits; identifies the event'),
      kind: z.enum(['stored', 'upgraded', 'withdrawn']),
      chainId: z.int().min(1),
      address: z.string().describe('With its EIP-55 checksum'),
      match: matchSchema.nullable().describe('null after a withdrawal'),
      name: z.string().nullable().describe('null if the evidence is unknown'),
      origin: originSchema.nullable().describe('Who judged the match; null after a withdrawal'),
      at: time,
    })
    .meta({
      id: 'MatchEvent',
      description: 'A match that was stored, upgraded from partial to full, or withdrawn',
    }),
  registry: z
    .strictObject({
      sha256: z.string().describe('Of the bytes of GET /chains'),
      chains: count,
    })
    .meta({ id: 'RegistryEvent', description: 'The chain registry changed' }),
  reset: z.strictObject({}).meta({
    id: 'ResetEvent',
    description: 'Events may have been missed that the service no longer has',
  }),
} as const;

/** A cursor of the feed: the position, and a mark derived from the event there. */
export const FEED_CURSOR = /^([1-9][0-9]{0,17})-([0-9a-z]{1,32})$/;
const FEED_CURSOR_HINT = 'the `next` of a page is expected';

/** GET /v1/feed. */
export const feedRoute = createRoute({
  method: 'get',
  path: '/v1/feed',
  summary: 'All changes of matches, oldest first, in pages',
  description:
    'The events of /v1/events from the first one on, up to 1,000 in a page. To follow a service, keep `next` and send it as `after` later: it also continues behind the last event. `fullmatch import --from` reads this.',
  tags: ['Events'],
  request: {
    query: z.object({
      after: z
        .string()
        .regex(FEED_CURSOR, FEED_CURSOR_HINT)
        .optional()
        .openapi({ param: { description: 'The `next` of an earlier page' }, example: '1-abc' }),
    }),
  },
  responses: {
    200: jsonResponse(
      'The page',
      z
        .strictObject({
          results: z.array(eventDataSchemas.match),
          next: z
            .string()
            .nullable()
            .describe('The `after` of the next request; null while the feed is empty'),
          hasMore: z.boolean().describe('Whether there are more events already'),
        })
        .meta({ id: 'FeedPage', description: 'Events of the feed, oldest first' }),
    ),
    400: problemResponse('A parameter is invalid (`invalid_parameter`)'),
    410: problemResponse(
      'The feed does not have this position, because the service was restored from a backup or is another one (`feed_position_unknown`)',
    ),
    ...overloadResponses(problemResponse),
  },
});

/** GET /v1/events. */
export const eventsRoute = createRoute({
  method: 'get',
  path: '/v1/events',
  summary: 'Matches and registry changes as they happen, as Server-Sent Events',
  description:
    'The data of `event: match` is a MatchEvent, that of `event: registry` a RegistryEvent. The `id` begins with the position of the event in the feed: sent back as `Last-Event-ID`, to whatever process of the service, it brings every later event once, and the registry where that is another one. `event: reset` says that they are not known any more, or that the feed was restored from a backup. A comment comes every 15 seconds.',
  tags: ['Events'],
  request: {
    headers: z.object({
      'last-event-id': z
        .string()
        .optional()
        .openapi({
          param: {
            description:
              'The last `id` of the stream; a plain number requests the events with higher positions',
          },
        }),
    }),
  },
  responses: {
    200: {
      description: 'The stream; it ends when the service stops',
      content: { 'text/event-stream': { schema: { type: 'string' as const } } },
    },
    503: problemResponse(
      'Too many clients are connected (`too_many_clients`), or the service is shutting down (`shutting_down`)',
    ),
  },
});
