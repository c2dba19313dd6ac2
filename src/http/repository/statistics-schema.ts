import { z } from '@hono/zod-openapi';

const count = z.int().min(0);

/** Counts of one chain: each contract counts once, at its best match. */
const chainStatisticsSchema = z
  .strictObject({
    full_match: count.describe('Contracts whose runtime or creation match is full'),
    partial_match: count.describe('Contracts whose best match is partial'),
  })
  .describe('The counts of one chain. A contract counts once, at its best match');

/** A decimal chain id as a key of stats.json. */
const chainIdKey = z.string().regex(/^[1-9][0-9]{0,15}$/);

/** The body of `GET /stats.json` (SPEC §2): counts by decimal chain id, ascending. */
export const statisticsSchema = z
  .record(chainIdKey, chainStatisticsSchema)
  .describe('Counts of verified contracts by chain id, for every chain that ever had one');

/** The published JSON Schema (draft 2020-12) of the body of `GET /stats.json`. */
export const statisticsJsonSchema: Readonly<Record<string, unknown>> = {
  title: 'Statistics',
  ...z.toJSONSchema(statisticsSchema, { target: 'draft-2020-12' }),
};

/** The body of `GET /manifest.json`: the time of the counts. */
export const manifestSchema = z
  .strictObject({
    timestamp: z.int().min(0).describe('When the counts last changed, in milliseconds since 1970'),
    dateString: z.iso.datetime().describe('The same moment, ISO 8601 in UTC'),
    version: z.string().describe('Version of the service'),
  })
  .meta({ id: 'Manifest', description: 'The state of the repository' });

/** Name of {@link statisticsJsonSchema} among the components of the OpenAPI document. */
export const STATISTICS_COMPONENT = 'Statistics';

// The generator drops the key pattern of a record, so the document gets the JSON Schema as is.
export const statisticsReference = {
  $ref: `#/components/schemas/${STATISTICS_COMPONENT}`,
} as const;
