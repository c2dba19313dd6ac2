import { createRoute, z } from '@hono/zod-openapi';

import { problemResponse } from '../../problem-schema.ts';
import { BLOCKSCOUT_BASE_PATHS } from './base-paths.ts';
import { sourceSchema } from './blockscout-routes.ts';
import { jsonResponse } from '../../json-response.ts';
import { JSON_BODY } from '../../json-body.ts';

const tags = ['Verify'];

const sources = z.array(sourceSchema);
const sourcesSchema = z
  .strictObject({ sources })
  .meta({ id: 'FoundSources', description: 'The verified contracts that produce a bytecode' });
const allSourcesSchema = z
  .strictObject({
    ethBytecodeDbSources: sources,
    sourcifySources: sources,
    allianceSources: sources,
  })
  .meta({
    id: 'AllFoundSources',
    description:
      'The verified contracts that produce a bytecode; all results are in the first list',
  });
const descriptionsSchema = z
  .strictObject({
    eventDescriptions: z.array(
      z.strictObject({
        type: z.literal('event'),
        name: z.string(),
        inputs: z.string().describe('JSON, as in the ABI'),
      }),
    ),
  })
  .meta({ id: 'EventDescriptions', description: 'An event as verified contracts declare it' });
const statsSchema = z
  .strictObject({
    totalContracts: z.int().min(0),
    contractsPerProvider: z.record(z.string(), z.int().min(0)),
  })
  .meta({ id: 'AllianceStats', description: 'The number of contracts verified here' });

const answering = <Schema extends z.ZodType>(schema: Schema) => ({
  200: jsonResponse('The known signatures', schema),
  400: problemResponse('The request is invalid (`invalid_parameter`, `invalid_json`)'),
  413: problemResponse('The body is too large (`request_too_large`)'),
  429: problemResponse('Too many searches are waiting (`queue_full`)'),
  503: problemResponse('The database cannot be reached (`database_unreachable`)'),
});

function searchRoute<Schema extends z.ZodType>(path: string, summary: string, schema: Schema) {
  return createRoute({
    method: 'post',
    path,
    summary: `Blockscout bytecode database: ${summary}`,
    tags,
    request: { body: JSON_BODY },
    responses: answering(schema),
  });
}

/** Creates the routes of the bytecode database at a base. */
function codeDatabaseRoutesAt(base: string) {
  const at = `${base}/api/v2`;
  const searching = `${at}/bytecodes/sources:search`;
  const describing = `${at}/event-descriptions`;
  const byPlace = 'the contract verified at an address';
  return {
    search: searchRoute(searching, 'sources that produce bytecode', sourcesSchema),
    searchSourcify: searchRoute(`${searching}-sourcify`, byPlace, sourcesSchema),
    searchAlliance: searchRoute(`${searching}-alliance`, byPlace, sourcesSchema),
    searchAll: searchRoute(
      `${searching}-all`,
      'sources that produce the bytecode of an address',
      allSourcesSchema,
    ),
    describeEvent: searchRoute(`${describing}:search`, 'an event by its hash', descriptionsSchema),
    describeEvents: searchRoute(
      `${describing}:batch-search`,
      'events by their hashes',
      z.strictObject({ responses: z.array(descriptionsSchema) }),
    ),
    stats: createRoute({
      method: 'get',
      path: `${at}/alliance/stats`,
      summary: 'Blockscout bytecode database: number of contracts verified here',
      tags,
      responses: {
        200: jsonResponse('The counts', statsSchema),
        503: problemResponse('The database cannot be reached (`database_unreachable`)'),
      },
    }),
  };
}

/** Routes of the bytecode database, at each base. */
export const bytecodeDatabaseRoutes = BLOCKSCOUT_BASE_PATHS.map(codeDatabaseRoutesAt);
