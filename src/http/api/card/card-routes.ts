import { createRoute, z } from '@hono/zod-openapi';

import { addressParameter, chainIdParameter } from '../../contract-parameters.ts';
import { problemResponse } from '../../problem-schema.ts';
import { overloadResponses } from '../../records/record-responses.ts';

const pictureResponses = {
  200: {
    description: 'The image, 1200 × 630 pixels',
    content: { 'image/png': { schema: z.string() } },
  },
  304: { description: 'The client already has this content' },
  400: problemResponse('A parameter is invalid (`invalid_parameter`)'),
  ...overloadResponses(problemResponse),
};

/** Name of an image whose stem another schema validates. */
const pngOf = <Stem extends z.ZodType>(stem: Stem, description: string, example: string) =>
  z
    .string()
    .regex(/^[^.]{1,60}\.png$/, 'a name that ends in .png is expected')
    .transform((name) => name.slice(0, -'.png'.length))
    .pipe(stem as z.ZodType<z.output<Stem>, string>)
    .openapi({ param: { description }, example });

/** GET /card/{chainId}/{file}: the preview image of a contract. */
export const contractCardRoute = createRoute({
  method: 'get',
  path: '/card/{chainId}/{file}',
  summary: 'The preview image of shared links to a contract',
  description: 'Unverified addresses have an image too.',
  tags: ['Contracts'],
  request: {
    params: z.object({
      chainId: chainIdParameter,
      file: pngOf(
        addressParameter,
        'The address, and .png',
        '0x00000000219ab540356cBB839Cbe05303d7705Fa.png',
      ),
    }),
  },
  responses: pictureResponses,
});

/** GET /card/{file}: the preview image of a chain or of the service. */
export const cardRoute = createRoute({
  method: 'get',
  path: '/card/{file}',
  summary: 'The preview image for links to a chain or to this service',
  tags: ['Chains'],
  request: {
    params: z.object({
      file: pngOf(
        z.union([z.literal('fullmatch'), chainIdParameter]),
        'The id of a chain, or fullmatch, and .png',
        '1.png',
      ),
    }),
  },
  responses: { ...pictureResponses, 404: problemResponse('No such chain (`chain_not_found`)') },
});
