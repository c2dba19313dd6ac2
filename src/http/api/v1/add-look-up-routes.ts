import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';

import { FullmatchError } from '../../../errors.ts';
import { checksumAddress, type Hex } from '../../../lib/hex.ts';
import {
  type ContractMatch,
  FILE_SECTIONS,
  FILE_PATH_SECTIONS,
} from '../../../repository/repository.ts';
import { respondJson, REVALIDATED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { addTreeFiles, apiFileRoute } from '../../repository/contract-tree.ts';
import { requireKnownChain } from '../../require-known-chain.ts';
import { respondWithRecord, type RecordView } from '../../records/respond-with-record.ts';
import { resolveProxy } from '../v2/proxy-resolution.ts';
import {
  addressPageRoute,
  checkAllOldRoute,
  checkAllRoute,
  checkFullOldRoute,
  checkFullRoute,
  CONTRACTS_MAX,
  fileContractsRoute,
  filesRoute,
  fileTreeRoute,
  fullFilesRoute,
  fullFileTreeRoute,
  PAGED_CONTRACTS_MAX,
  RESOLVED_MAX,
} from './look-up-routes.ts';
import { type ContractReference } from '../../contract-reference.ts';
import { V1_STATUS } from './verify-routes.ts';

/** Adds the routes of the verification API v1 that read contracts. */
export function addLookUpRoutes(
  routes: OpenAPIHono,
  parts: Pick<
    HttpDependencies,
    'contracts' | 'answers' | 'proxies' | 'urls' | 'registry' | 'clientOf'
  >,
): void {
  const { contracts, answers, urls, registry } = parts;
  for (const route of [checkAllRoute, checkAllOldRoute]) {
    routes.openapi(route, async (c) => {
      const { addresses, chainIds, resolveProxies } = c.req.valid('query');
      const found = await contracts.findOnChains(addresses, chainIds);
      const client = parts.clientOf(c);
      const resolved =
        resolveProxies === 'true' ? await resolveAll(parts, found, client) : undefined;
      const entries = entriesOf(addresses, found, (matches) => ({
        chainIds: matches.map((each) => ({
          chainId: String(each.chainId),
          status: V1_STATUS[each.match],
          ...resolved?.get(each),
        })),
      }));
      return respondJson(route, entries, REVALIDATED);
    });
  }
  for (const route of [checkFullRoute, checkFullOldRoute]) {
    routes.openapi(route, async (c) => {
      const { addresses, chainIds } = c.req.valid('query');
      const found = await contracts.findOnChains(addresses, chainIds);
      const full = found.filter(({ match }) => match === 'full');
      const entries = entriesOf(addresses, full, (matches) => ({
        status: V1_STATUS.full,
        chainIds: matches.map(({ chainId }) => String(chainId)),
      }));
      return respondJson(route, entries, REVALIDATED);
    });
  }
  const answerFiles = async (c: Context, place: ContractReference, view: FilesView) => {
    const { form, key, parts, needsFull } = view;
    const answered = await respondWithRecord(c, { contracts, answers }, place, ({ match }) => {
      if (needsFull && match !== 'full') throw filesNotFound();
      return { form, parts, ...(key !== undefined && { key }) };
    });
    if (answered !== undefined) return answered;
    requireKnownChain(registry(), place.chainId);
    throw filesNotFound();
  };
  const files = { parts: FILE_SECTIONS } as const;
  const urlsOf = <Kind extends 'file_urls' | 'bare_file_urls'>(kind: Kind) => {
    const base = (urls().repository ?? '').replace(/\/$/, '');
    return { form: { kind, base }, key: base, parts: FILE_PATH_SECTIONS } as const;
  };
  routes.openapi(filesRoute, (c) =>
    answerFiles(c, c.req.valid('param'), { ...files, form: { kind: 'files' }, needsFull: false }),
  );
  routes.openapi(fileTreeRoute, (c) =>
    answerFiles(c, c.req.valid('param'), { ...urlsOf('file_urls'), needsFull: false }),
  );
  routes.openapi(fullFileTreeRoute, (c) =>
    answerFiles(c, c.req.valid('param'), { ...urlsOf('bare_file_urls'), needsFull: true }),
  );
  addListRoutes(routes, { contracts, registry });
  addTreeFiles(routes, { contracts, answers }, apiFileRoute);
  // Registered after the routes whose first segment it would read as a chain.
  routes.openapi(fullFilesRoute, (c) =>
    answerFiles(c, c.req.valid('param'), {
      ...files,
      form: { kind: 'bare_files' },
      needsFull: true,
    }),
  );
}

/**
 * Reads the proxy resolution of each contract, or why its chain could not be read, in the form of the API v1.
 * @throws FullmatchError invalid_parameter
 */
async function resolveAll(
  parts: Parameters<typeof resolveProxy>[0],
  found: readonly ContractMatch[],
  client: string,
) {
  if (found.length > RESOLVED_MAX) {
    throw new FullmatchError(
      'invalid_parameter',
      `resolveProxies reads at most ${RESOLVED_MAX} contracts at once, and ${found.length} are verified; ask for fewer addresses or chains.`,
    );
  }
  const resolve = async (match: ContractMatch) => {
    const { proxyResolutionError, ...resolution } = await resolveProxy(parts, { ...match, client });
    const failure = proxyResolutionError && { proxyResolutionError: proxyResolutionError.message };
    return [match, { ...resolution, ...failure }] as const;
  };
  return new Map(await Promise.all(found.map(resolve)));
}

/** Adds the routes that list the contracts of a chain. */
function addListRoutes(
  routes: OpenAPIHono,
  { contracts, registry }: Pick<HttpDependencies, 'contracts' | 'registry'>,
): void {
  routes.openapi(fileContractsRoute, async (c) => {
    const { chainId } = c.req.valid('param');
    const page = { order: 'ascending', limit: CONTRACTS_MAX + 1 } as const;
    const list = await contracts.listContracts(chainId, page);
    if (list.length === 0) requireKnownChain(registry(), chainId);
    if (list.length > CONTRACTS_MAX) {
      throw new FullmatchError(
        'invalid_parameter',
        `Chain ${chainId} has more than the ${CONTRACTS_MAX} contracts that this list holds; page through /v2/contracts/${chainId}.`,
        { details: { chainId } },
      );
    }
    const addressesOf = (wanted: ContractMatch['match']): Hex[] =>
      list.filter(({ match }) => match === wanted).map(({ address }) => checksumAddress(address));
    const lists = { full: addressesOf('full'), partial: addressesOf('partial') };
    return respondJson(fileContractsRoute, lists, REVALIDATED);
  });
  routes.openapi(addressPageRoute, async (c) => {
    const { match, chainId } = c.req.valid('param');
    const { page, limit, order } = c.req.valid('query');
    const offset = page * limit;
    if (offset > PAGED_CONTRACTS_MAX) {
      throw new FullmatchError(
        'invalid_parameter',
        `Pages reach ${PAGED_CONTRACTS_MAX} contracts deep; page through /v2/contracts/${chainId}.`,
        { details: { chainId } },
      );
    }
    const { addresses, total } = await contracts.listAddresses(chainId, {
      matches: match === 'any' ? ['full', 'partial'] : [match],
      order: order === 'desc' ? 'descending' : 'ascending',
      offset,
      limit,
    });
    if (total === 0) requireKnownChain(registry(), chainId);
    const totalPages = Math.ceil(total / limit);
    const answer = {
      results: addresses.map(checksumAddress),
      pagination: {
        currentPage: page,
        totalPages,
        resultsPerPage: limit,
        resultsCurrentPage: addresses.length,
        totalResults: total,
        hasNextPage: page + 1 < totalPages,
        hasPreviousPage: page > 0,
      },
    };
    return respondJson(addressPageRoute, answer, REVALIDATED);
  });
}

/** The files of a contract to show, and their format. */
interface FilesView extends RecordView {
  readonly needsFull: boolean;
}

/** Remix compares this text to distinguish an unverified contract from an error. */
function filesNotFound(): FullmatchError {
  return new FullmatchError('contract_not_found', 'Files have not been found!');
}

/** Returns an entry for each requested address: the facts of its matches, or that there are none. */
function entriesOf<Facts extends object>(
  addresses: readonly Hex[],
  found: readonly ContractMatch[],
  render: (matches: readonly ContractMatch[]) => Facts,
): readonly ({ readonly address: Hex } & (Facts | { readonly status: 'false' }))[] {
  return [...new Set(addresses)].map((address) => {
    const matches = found.filter((each) => each.address === address);
    const facts = matches.length === 0 ? ({ status: 'false' } as const) : render(matches);
    return { address: checksumAddress(address), ...facts };
  });
}
