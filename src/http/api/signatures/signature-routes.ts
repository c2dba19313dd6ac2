import { createRoute, z } from '@hono/zod-openapi';

import { signatureErrorResponse } from './signature-error.ts';
import { importBodySchema } from './signatures-body.ts';
import { jsonResponse } from '../../json-response.ts';
import { signatureImportResponses } from '../submission-responses.ts';

const tags = ['Signatures'];
const BASE = '/signature-database/v1';

const nameSchema = z.strictObject({
  name: z.string().describe('transfer(address,uint256)'),
  filtered: z.boolean().describe('Whether filter=true hides it'),
  hasVerifiedContract: z.boolean().describe('Whether a currently verified contract has it'),
});
const foundSchema = z
  .strictObject({
    ok: z.literal(true),
    result: z.strictObject({
      function: z.record(z.string(), z.array(nameSchema).nullable()),
      event: z.record(z.string(), z.array(nameSchema)),
    }),
  })
  .meta({ id: 'FoundSignatures', description: 'Signatures by their hashes' });
const hashes = z.record(z.string(), z.string());
const importedSchema = z
  .strictObject({
    imported: hashes.describe('Signature to hash: those that are new'),
    duplicated: hashes.describe('Those already known'),
    invalid: z.array(z.string()).describe('Texts that are not canonical signatures'),
  })
  .meta({ id: 'ImportedSignatures', description: 'The result of an import' });
const count = z.int().min(0);

const filter = z
  .enum(['true', 'false'], 'true or false is expected')
  .default('true')
  .openapi({
    param: {
      description:
        'Whether to hide names if another one with the same hash is in ten times as many compilations of verified contracts',
    },
  });
const invalid = (what: string) => ({
  400: signatureErrorResponse(what),
  503: signatureErrorResponse('The database cannot be reached (`database_unreachable`)'),
});
const found = jsonResponse('The known signatures', foundSchema);

/** GET /signature-database/v1/lookup. */
export const lookupRoute = createRoute({
  method: 'get',
  path: `${BASE}/lookup`,
  summary: 'The signatures of selectors and topics',
  description:
    'For an unknown hash it returns null for a function and an empty list for an event. Errors have selectors like functions.',
  tags,
  request: {
    query: z.object({
      function: z
        .string()
        .optional()
        .openapi({
          param: { description: 'Selectors of functions and errors, with commas between them' },
          example: '0xa9059cbb',
        }),
      event: z
        .string()
        .optional()
        .openapi({ param: { description: 'Hashes of events, with commas between them' } }),
      filter,
    }),
  },
  responses: { 200: found, ...invalid('Not hashes (`invalid_parameter`)') },
});

/** GET /signature-database/v1/search. */
export const searchRoute = createRoute({
  method: 'get',
  path: `${BASE}/search`,
  summary: 'Signatures by text',
  description:
    'The first hundred in alphabetical order. `*` matches any characters and `?` matches one, both after the beginning of a name; case-sensitive.',
  tags,
  request: {
    query: z.object({
      query: z.string().openapi({ param: { description: 'A pattern' }, example: 'transfer*' }),
      filter,
    }),
  },
  responses: {
    200: found,
    ...invalid(
      'Not a valid pattern (`invalid_parameter`), or too many names match its beginning (`search_too_broad`)',
    ),
    429: signatureErrorResponse('Too many searches are waiting (`too_many_waiters`)'),
  },
});

/** POST /signature-database/v1/import. */
export const importRoute = createRoute({
  method: 'post',
  path: `${BASE}/import`,
  summary: 'Adds signatures',
  description:
    'Anyone can add signatures. Each is hashed here and ranked after those of verified contracts. The body can have up to 102,400 bytes.',
  tags,
  request: {
    body: { required: true, content: { 'application/json': { schema: importBodySchema } } },
  },
  responses: {
    200: jsonResponse(
      'The result of the import',
      z
        .strictObject({
          ok: z.literal(true),
          result: z.strictObject({ function: importedSchema, event: importedSchema }),
        })
        .meta({ id: 'SignatureImportAnswer', description: 'The result of an import' }),
    ),
    400: signatureErrorResponse('The body is invalid (`invalid_json`, `invalid_parameter`)'),
    ...signatureImportResponses(signatureErrorResponse),
    413: signatureErrorResponse('The body is too large (`request_too_large`)'),
    503: signatureErrorResponse('The database cannot be reached (`database_unreachable`)'),
  },
});

/** GET /signature-database/v1/stats. */
export const statsRoute = createRoute({
  method: 'get',
  path: `${BASE}/stats`,
  summary: 'The number of signatures',
  tags,
  responses: {
    200: jsonResponse(
      'The counts',
      z
        .strictObject({
          ok: z.literal(true),
          result: z.strictObject({
            count: z.strictObject({
              function: count,
              event: count,
              error: count,
              unknown: count.describe('Those without a verified contract'),
              total: count,
            }),
            metadata: z.strictObject({
              refreshed_at: z.iso.datetime().describe('The time of the counts'),
            }),
          }),
        })
        .meta({ id: 'SignatureStats', description: 'The number of signatures' }),
    ),
    503: signatureErrorResponse('The database cannot be reached (`database_unreachable`)'),
  },
});

/** The routes of the signature database. */
export const signatureRoutes = [lookupRoute, searchRoute, importRoute, statsRoute] as const;
