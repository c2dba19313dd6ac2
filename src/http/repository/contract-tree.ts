import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';

import { FullmatchError } from '../../errors.ts';
import { checksumAddress } from '../../lib/hex.ts';
import { type ContractMatch, FILE_PATH_SECTIONS, type Match } from '../../repository/repository.ts';
import { JSON_TYPE, TEXT_TYPE } from '../answer.ts';
import { contractParameters } from '../contract-parameters.ts';
import { type HttpDependencies } from '../http-dependencies.ts';
import { problemResponse } from '../problem-schema.ts';
import { respondWithFile, respondWithRecord } from '../records/respond-with-record.ts';
import { folderPath, MATCH_FOLDERS } from '../tree-path.ts';
import { folderSchema } from './repository-routes.ts';
import { jsonResponse } from '../json-response.ts';

/** A source may be named x.html: however a browser interprets a file, it runs and loads nothing. */
const SANDBOX = "default-src 'none'; sandbox";
/** Files that this service writes as JSON itself. Sources are text, whatever their names. */
const JSON_FILE = /^[a-z-]+\.json$/;

const treeParameters = contractParameters.extend({
  matchFolder: z.enum([MATCH_FOLDERS.full, MATCH_FOLDERS.partial]),
});
const notFound = problemResponse(
  'No such match (`contract_not_found`), or no such file (`file_not_found`)',
);
const invalid = problemResponse('Not a path of the tree (`invalid_parameter`)');
const tags = ['Repository'];

/** GET /contracts/{matchFolder}/{chainId}/{address}: the files of a contract. */
export const folderRoute = createRoute({
  method: 'get',
  path: '/contracts/{matchFolder}/{chainId}/{address}',
  summary: 'The files of a verified contract',
  description: 'An address is in the folder of its match.',
  tags,
  request: { params: treeParameters },
  responses: {
    200: jsonResponse('Their paths', folderSchema),
    400: invalid,
    404: notFound,
  },
});

/** GET /contracts/{matchFolder}/{chainId}/{address}/{path}: one file. */
export const fileRoute = createRoute({
  method: 'get',
  path: '/contracts/{matchFolder}/{chainId}/{address}/{path}',
  summary: 'A file of a verified contract',
  description:
    'metadata.json (compilation.json in the same format if the compiler writes no metadata), sources/…, and if known creator-tx-hash.txt, constructor-args.txt, library-map.json, immutable-references.json; path-translation.json lists sources whose paths differ from their names. A source is also found by its name, and by its name with _ instead of @ and :, if that is unambiguous.',
  tags,
  request: { params: treeParameters.extend({ path: z.string() }) },
  responses: {
    200: {
      description: 'The file; sources are always text',
      content: {
        'text/plain': { schema: z.string() },
        'application/json': { schema: z.unknown() },
      },
    },
    304: { description: 'The client already has this content' },
    400: invalid,
    404: notFound,
  },
});

/** GET /repository/contracts/… of the API host, where clients of the API v1 expect the files. */
export const apiFileRoute = createRoute({
  ...fileRoute,
  path: `/repository${fileRoute.path}`,
  summary: 'A file of a verified contract, as published on the repository host (API v1)',
});

/** Adds the published tree of contracts, generated from the database. */
export function addContractTree(
  routes: OpenAPIHono,
  { contracts, answers }: Pick<HttpDependencies, 'contracts' | 'answers'>,
): void {
  routes.openapi(folderRoute, async (c) => {
    const place = c.req.valid('param');
    const answered = await respondWithRecord(c, { contracts, answers }, place, (match) => {
      requireFolder(match, place);
      return { form: { kind: 'folder' }, parts: FILE_PATH_SECTIONS };
    });
    return answered ?? throwNotInFolder(undefined, place);
  });
  addTreeFiles(routes, { contracts, answers }, fileRoute);
}

/** Adds the files of the published tree, at one of two routes. */
export function addTreeFiles(
  routes: OpenAPIHono,
  { contracts, answers }: Pick<HttpDependencies, 'contracts' | 'answers'>,
  route: typeof fileRoute | typeof apiFileRoute,
): void {
  // OpenAPI templates cannot express "the rest of the path", including line breaks.
  routes.openapi({ ...route, path: `${route.path}{[^]+}` }, async (c) => {
    const place = c.req.valid('param');
    const answered = await respondWithFile(c, { contracts, answers }, place, (match) => {
      requireFolder(match, place);
      return {
        type: JSON_FILE.test(place.path) ? JSON_TYPE : TEXT_TYPE,
        headers: { 'content-security-policy': SANDBOX },
        missing: () =>
          new FullmatchError(
            'file_not_found',
            `The contract has no such file; /${folderPath(match)} lists those it has.`,
          ),
      };
    });
    return answered ?? throwNotInFolder(undefined, place);
  });
}

type Place = z.output<typeof treeParameters>;

/** @throws FullmatchError contract_not_found for a match in the other folder */
function requireFolder({ match }: ContractMatch, place: Place): void {
  if (MATCH_FOLDERS[match] !== place.matchFolder) throwNotInFolder(match, place);
}

function throwNotInFolder(match: Match | undefined, place: Place): never {
  const { matchFolder, chainId, address } = place;
  const other = match === undefined ? '' : `; it is in ${MATCH_FOLDERS[match]}`;
  throw new FullmatchError(
    'contract_not_found',
    `No contract ${checksumAddress(address)} of chain ${chainId} is in ${matchFolder}${other}.`,
  );
}
