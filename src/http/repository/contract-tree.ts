import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';

import { FullmatchError } from '../../errors.ts';
import { checksumAddress } from '../../lib/hex.ts';
import { type ContractMatch } from '../../repository/contract-match.ts';
import {
  type Answer,
  answerJsonText,
  BASE_HEADERS,
  JSON_TYPE,
  makeAnswer,
  REVALIDATED,
  TEXT_TYPE,
} from '../answer.ts';
import { contractParameters } from '../contract-parameters.ts';
import { entityTags, findHeldCoding } from '../entity-tag.ts';
import { type HttpDependencies } from '../host-dependencies.ts';
import { problemResponse } from '../problem-schema.ts';
import { encodePath, folderPath, MATCH_FOLDERS } from '../tree-path.ts';

/** A source may be called x.html: whatever a browser makes of a file, it runs nothing and loads nothing. */
const SANDBOX = "default-src 'none'; sandbox";
/** The files that this service writes as JSON itself. Sources are text, whatever they are called. */
const JSON_FILE = /^[a-z-]+\.json$/;

const treeParameters = contractParameters.extend({
  matchFolder: z.enum([MATCH_FOLDERS.full, MATCH_FOLDERS.partial]),
});
const notFound = problemResponse(
  'No such match (`contract_not_found`), or no such file (`file_not_found`)',
);
const invalid = problemResponse('No path of the tree (`invalid_parameter`)');
const tags = ['repository'];

/** GET /contracts/{matchFolder}/{chainId}/{address}: the files of a contract. */
export const folderRoute = createRoute({
  method: 'get',
  path: '/contracts/{matchFolder}/{chainId}/{address}',
  summary: 'The files of a verified contract',
  description: 'An address is in one of the two folders, that of its match.',
  tags,
  request: { params: treeParameters },
  responses: {
    200: {
      description: 'Their paths',
      content: {
        'application/json': {
          schema: z
            .strictObject({
              match: z.enum(['full', 'partial']),
              chainId: z.int(),
              address: z.string(),
              files: z.array(
                z.strictObject({
                  path: z.string().describe('Below this folder'),
                  url: z.string().describe('From the root of this host'),
                }),
              ),
            })
            .meta({ id: 'ContractFolder', description: 'The files of a verified contract' }),
        },
      },
    },
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
    'metadata.json, sources/…, and where they are known creator-tx-hash.txt, constructor-args.txt, library-map.json, immutable-references.json; path-translation.json says which sources stand at other paths than their names. A source is also found by its name, and by its name with _ in place of @ and :, where that means one source only.',
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
    304: { description: 'The client holds this content already' },
    400: invalid,
    404: notFound,
  },
});

/** The published tree of contracts, made from the store. */
export function addContractTree(
  routes: OpenAPIHono,
  { contracts }: Pick<HttpDependencies, 'contracts'>,
): void {
  routes.openapi(folderRoute, async (c) => {
    const place = c.req.valid('param');
    const found = await contracts.readFiles(place.chainId, place.address);
    const { match, files } = inFolder(found, place);
    const folder = folderPath(match);
    const listing = {
      match: match.match,
      chainId: match.chainId,
      address: checksumAddress(match.address),
      files: files.map(({ path }) => ({ path, url: `/${folder}/${encodePath(path)}` })),
    };
    return answerJsonText(JSON.stringify(listing), REVALIDATED);
  });
  // A template of OpenAPI has no word for "all that follows", line breaks too, so this route is checked by hand.
  routes.get('/contracts/:matchFolder/:chainId/:address/:path{[^]+}', async (c) => {
    const place = parsePlace(c.req.param());
    const { path } = place;
    const found = await contracts.readFile(place.chainId, place.address, path);
    const { match, content } = inFolder(found, place);
    if (content !== undefined) return answerFile(path, content, c.req.header('if-none-match'));
    throw new FullmatchError(
      'file_not_found',
      `The contract has no such file; /${folderPath(match)} lists those it has.`,
    );
  });
}

type Place = z.output<typeof treeParameters>;

function parsePlace(parameters: Record<string, string>): Place & { readonly path: string } {
  const parsed = fileRoute.request.params.safeParse(parameters);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new FullmatchError(
    'invalid_parameter',
    `Parameter ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not of the expected form'}.`,
  );
}

/** What was found, when its match is that of the folder. */
function inFolder<Found extends { readonly match: ContractMatch }>(
  found: Found | undefined,
  { matchFolder, chainId, address }: Place,
): Found {
  if (found !== undefined && MATCH_FOLDERS[found.match.match] === matchFolder) return found;
  const other = found === undefined ? '' : `; it is in ${MATCH_FOLDERS[found.match.match]}`;
  throw new FullmatchError(
    'contract_not_found',
    `No contract ${checksumAddress(address)} of chain ${chainId} is in ${matchFolder}${other}.`,
  );
}

function answerFile(path: string, content: string, ifNoneMatch: string | undefined): Answer {
  const bytes = Buffer.from(content, 'utf8');
  const tags = entityTags(bytes);
  const headers = { ...BASE_HEADERS, etag: tags.identity, 'cache-control': REVALIDATED };
  if (ifNoneMatch !== undefined && findHeldCoding(ifNoneMatch, tags, 'identity') !== undefined) {
    return makeAnswer(null, { status: 304, headers });
  }
  return makeAnswer(bytes, {
    status: 200,
    headers: {
      ...headers,
      'content-type': JSON_FILE.test(path) ? JSON_TYPE : TEXT_TYPE,
      'content-length': String(bytes.byteLength),
      'content-security-policy': SANDBOX,
    },
  });
}
