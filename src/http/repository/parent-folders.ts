import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';

import { Admission } from '../../lib/admission.ts';
import { checksumAddress } from '../../lib/hex.ts';
import { type Match } from '../../repository/repository.ts';
import { respondJson, REVALIDATED } from '../answer.ts';
import { chainIdParameter } from '../contract-parameters.ts';
import { currentSnapshot, type HttpDependencies } from '../http-dependencies.ts';
import { jsonResponse } from '../json-response.ts';
import { afterMatch, pageLimit } from '../page-parameters.ts';
import { problemResponse } from '../problem-schema.ts';
import { overloadResponses } from '../records/record-responses.ts';
import { folderPath, MATCH_FOLDERS } from '../tree-path.ts';

const DEFAULT_PAGE = 200;
const PAGE_MAX = 500;
/** Lists made at once: each reads a page of an index and joins the names of its contracts. */
const LISTS = { total: 2, waiting: 256, waitingPerClient: 32 };

const count = z.int().min(0);
const match = z.enum(['full', 'partial']);
const url = z.string().describe('Path from the root of this host');
const matchFolder = z.enum([MATCH_FOLDERS.full, MATCH_FOLDERS.partial]);
const tags = ['Repository'];
const notReady = problemResponse('The service is still loading its data (`not_ready`)');
const invalid = problemResponse('Not a path of the tree, or not a page (`invalid_parameter`)');

const rootFolderSchema = z
  .strictObject({ folders: z.array(z.strictObject({ match, contracts: count, url })) })
  .meta({ id: 'RootFolder', description: 'The folders of full and partial matches' });
const matchFolderSchema = z
  .strictObject({
    match,
    chains: z
      .array(z.strictObject({ chainId: z.int(), name: z.string(), contracts: count, url }))
      .describe('Ascending chainId: those with such a match'),
  })
  .meta({ id: 'MatchFolder', description: 'The chains with matches of a kind' });
const chainFolderSchema = z
  .strictObject({
    match,
    chainId: z.int(),
    name: z.string(),
    total: count.describe('Contracts of this folder, on all pages'),
    contracts: z
      .array(z.strictObject({ address: z.string(), name: z.string().nullable(), url }))
      .describe('Newest match first'),
    next: z.string().nullable().describe('The `after` of the next page; null on the last one'),
  })
  .meta({ id: 'ChainFolder', description: 'The contracts of a chain, in pages' });

/** GET /contracts. */
const rootFolderRoute = createRoute({
  method: 'get',
  path: '/contracts',
  summary: 'The folders of full and partial matches',
  description: 'With the counts of stats.json.',
  tags,
  responses: { 200: jsonResponse('The folders', rootFolderSchema), 503: notReady },
});

/** GET /contracts/{matchFolder}. */
const matchFolderRoute = createRoute({
  method: 'get',
  path: '/contracts/{matchFolder}',
  summary: 'The chains with full or partial matches',
  description: 'With the counts of stats.json.',
  tags,
  request: { params: z.object({ matchFolder }) },
  responses: { 200: jsonResponse('The chains', matchFolderSchema), 400: invalid, 503: notReady },
});

/** GET /contracts/{matchFolder}/{chainId}. */
const chainFolderRoute = createRoute({
  method: 'get',
  path: '/contracts/{matchFolder}/{chainId}',
  summary: 'The contracts of a chain with full or partial matches, in pages',
  description: 'Newest match first.',
  tags,
  request: {
    params: z.object({ matchFolder, chainId: chainIdParameter }),
    query: z.object({
      after: afterMatch,
      limit: pageLimit({ what: 'Contracts', most: PAGE_MAX, usual: DEFAULT_PAGE }),
    }),
  },
  responses: {
    200: jsonResponse('The page', chainFolderSchema),
    400: invalid,
    ...overloadResponses(problemResponse),
  },
});

/** The folders above those of contracts. */
export const parentFolderRoutes = [rootFolderRoute, matchFolderRoute, chainFolderRoute] as const;

const MATCHES = Object.keys(MATCH_FOLDERS) as readonly Match[];
const MATCH_OF = { full_match: 'full', partial_match: 'partial' } as const;

/** Adds the folders above those of contracts. Their counts are those of the published statistics. */
export function addParentFolders(
  routes: OpenAPIHono,
  parts: Pick<HttpDependencies, 'answers' | 'contractLists' | 'documents' | 'registry'>,
): void {
  const lists = new Admission(LISTS);
  routes.openapi(rootFolderRoute, () => {
    const counts = readCounts(parts.documents);
    const folders = MATCHES.map((match) => ({
      match,
      contracts: counts.reduce((sum, chain) => sum + chain[match], 0),
      url: `/contracts/${MATCH_FOLDERS[match]}/`,
    }));
    return respondJson(rootFolderRoute, { folders }, REVALIDATED);
  });
  routes.openapi(matchFolderRoute, (c) => {
    const { matchFolder: folder } = c.req.valid('param');
    const match = MATCH_OF[folder];
    const names = new Map(
      parts.registry().chains.map(({ record }) => [record.chainId, record.name]),
    );
    const chains = readCounts(parts.documents)
      .filter((chain) => chain[match] > 0)
      .map(({ chainId, ...chain }) => ({
        chainId,
        name: names.get(chainId) ?? unnamed(chainId),
        contracts: chain[match],
        url: `/contracts/${folder}/${chainId}/`,
      }));
    return respondJson(matchFolderRoute, { match, chains }, REVALIDATED);
  });
  routes.openapi(chainFolderRoute, async (c) => {
    const { matchFolder: folder, chainId } = c.req.valid('param');
    const { after, limit = DEFAULT_PAGE } = c.req.valid('query');
    const match = MATCH_OF[folder];
    const question = { chainId, match, limit, ...(after !== undefined && { after }) };
    const found = await parts.answers.admit(
      c,
      () => parts.contractLists.listNewest(question),
      lists,
    );
    const chain = parts.registry().chains.find(({ record }) => record.chainId === chainId);
    const counted = readCounts(parts.documents).find((each) => each.chainId === chainId);
    const body = {
      ...{ match, chainId, name: chain?.record.name ?? unnamed(chainId) },
      total: counted?.[match] ?? 0,
      contracts: found.results.map(({ address, name }) => ({
        ...{ address: checksumAddress(address), name },
        url: `/${folderPath({ match, chainId, address })}/`,
      })),
      next: found.next ?? null,
    };
    return respondJson(chainFolderRoute, body, REVALIDATED);
  });
}

const unnamed = (chainId: number): string => `Chain ${chainId}`;

type ChainCounts = Readonly<Record<Match | 'chainId', number>>;

/** Parsed once for each version of the statistics. */
const parsed = new WeakMap<object, readonly ChainCounts[]>();

/** @throws FullmatchError `not_ready` before the statistics have been published */
function readCounts(documents: HttpDependencies['documents']): readonly ChainCounts[] {
  const { bodies } = currentSnapshot(documents, 'statistics');
  const known = parsed.get(bodies);
  if (known !== undefined) return known;
  const counts = JSON.parse(bodies.identity.toString()) as Record<
    string,
    { readonly full_match: number; readonly partial_match: number }
  >;
  // An object lists large ids in the order of the document, but small ones first.
  const chains = Object.entries(counts)
    .map(([id, { full_match: full, partial_match: partial }]) => ({
      ...{ chainId: Number(id), full, partial },
    }))
    .sort((left, right) => left.chainId - right.chainId);
  parsed.set(bodies, chains);
  return chains;
}
