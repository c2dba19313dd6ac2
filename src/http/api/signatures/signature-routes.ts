import { createRoute, z } from '@hono/zod-openapi';

import { signatureErrorResponse } from './signature-error.ts';
import { importBodySchema } from './signatures-body.ts';
import { jsonResponse } from '../../json-response.ts';

const tags = ['Signatures'];
const BASE = '/signature-database/v1';

const nameSchema = z.strictObject({
  name: z.string().describe('transfer(address,uint256)'),
  filtered: z.boolean().describe('Whether filter=true hides it'),
  hasVerifiedContract: z.boolean().describe('Whether a contract that is verified now has it'),
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
    duplicated: hashes.describe('Those that were here before'),
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
const found = jsonResponse('What is known', foundSchema);

/** GET /signature-database/v1/lookup. */
export const lookupRoute = createRoute({
  method: 'get',
  path: `${BASE}/lookup`,
  summary: 'The signatures of selectors and of topics',
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
  summary: 'Signatures by their text',
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
      'No pattern (`invalid_parameter`), or too many names begin as it does (`search_too_broad`)',
    ),
    429: signatureErrorResponse('Too many searches wait (`too_many_waiters`)'),
  },
});

/** POST /signature-database/v1/import. */
export const importRoute = createRoute({
  method: 'post',
  path: `${BASE}/import`,
  summary: 'Adds signatures',
  description:
    'Anyone may add signatures: each is hashed here, and ranked after those of verified contracts. Bodies have at most 102,400 bytes.',
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
    400: signatureErrorResponse('Not such a body (`invalid_json`, `invalid_parameter`)'),
    401: signatureErrorResponse(
      'A token is needed (`token_required`), or this one is unknown (`token_unknown`)',
    ),
    403: signatureErrorResponse(
      'Nothing is imported here (`signature_import_refused`, `verification_off`), or there is no place for more (`signature_budget_spent`)',
    ),
    413: signatureErrorResponse('The body is too large (`request_too_large`)'),
    429: signatureErrorResponse('Too many imports wait (`too_many_waiters`)'),
    503: signatureErrorResponse('The database cannot be reached (`database_unreachable`)'),
  },
});

/** GET /signature-database/v1/stats. */
export const statsRoute = createRoute({
  method: 'get',
  path: `${BASE}/stats`,
  summary: 'How many signatures there are',
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
              unknown: count.describe('Those that no verified contract has'),
              total: count,
            }),
            metadata: z.strictObject({
              refreshed_at: z.iso.datetime().describe('When that was true'),
            }),
          }),
        })
        .meta({ id: 'SignatureStats', description: 'How many signatures there are' }),
    ),
    503: signatureErrorResponse('The database cannot be reached (`database_unreachable`)'),
  },
});

/** The routes of the signature database. */
export const signatureRoutes = [lookupRoute, searchRoute, importRoute, statsRoute] as const;
