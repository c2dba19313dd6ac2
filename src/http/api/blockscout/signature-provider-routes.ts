import { createRoute, z } from '@hono/zod-openapi';

import { problemResponse } from '../../problem-schema.ts';
import { BLOCKSCOUT_BASE_PATHS } from './base-paths.ts';
import { hexData, logEntry } from './signature-provider-body.ts';
import { jsonResponse } from '../../json-response.ts';
import { signatureImportResponses } from '../submission-responses.ts';
import { JSON_BODY } from '../../json-body.ts';

const tags = ['Signatures'];

interface WireArgument {
  readonly name: string;
  readonly type: string;
  readonly components: readonly WireArgument[];
  readonly indexed?: boolean | undefined;
  readonly value: string;
}

const argumentSchema: z.ZodType<WireArgument> = z
  .strictObject({
    name: z.string(),
    type: z.string(),
    components: z.array(z.lazy(() => argumentSchema)).readonly(),
    indexed: z.boolean().optional(),
    value: z.string().describe('Hexadecimal digits without 0x, text as it is'),
  })
  .meta({ id: 'DecodedArgument', description: 'An argument of a call or an event' });
const abiSchema = z.array(z.strictObject({ name: z.string(), inputs: z.array(argumentSchema) }));

const answering = <Schema extends z.ZodType>(schema: Schema) => ({
  200: jsonResponse('The possible signatures, or an empty list', schema),
  400: problemResponse('The request is invalid (`invalid_parameter`, `invalid_json`)'),
  413: problemResponse('Too much to decode at once (`request_too_complex`, `request_too_large`)'),
  503: problemResponse('The database cannot be reached (`database_unreachable`)'),
});

/** Creates the routes of the signature provider at a base. */
function providerRoutesAt(base: string) {
  return {
    signatures: createRoute({
      method: 'post',
      path: `${base}/api/v1/signatures`,
      summary: 'Blockscout signature provider: import the signatures of an ABI',
      tags,
      request: { body: JSON_BODY },
      responses: {
        ...answering(z.strictObject({})),
        ...signatureImportResponses(problemResponse),
      },
    }),
    call: createRoute({
      method: 'get',
      path: `${base}/api/v1/abi/function`,
      summary: 'Blockscout signature provider: decode the input of a transaction',
      tags,
      request: { query: z.object({ txInput: hexData }) },
      responses: answering(abiSchema),
    }),
    event: createRoute({
      method: 'get',
      path: `${base}/api/v1/abi/event`,
      summary: 'Blockscout signature provider: decode a log entry',
      tags,
      request: { query: z.object({ data: logEntry.shape.data, topics: logEntry.shape.topics }) },
      responses: answering(abiSchema),
    }),
    events: createRoute({
      method: 'post',
      path: `${base}/api/v1/abi/events:batch-get`,
      summary: 'Blockscout signature provider: decode several log entries',
      tags,
      request: { body: JSON_BODY },
      responses: answering(z.array(z.strictObject({ abi: abiSchema }))),
    }),
  };
}

/** Routes of the signature provider, at each base. */
export const providerRoutes = BLOCKSCOUT_BASE_PATHS.map(providerRoutesAt);
