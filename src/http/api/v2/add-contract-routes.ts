import { type OpenAPIHono } from '@hono/zod-openapi';

import { type Hex } from '../../../lib/hex.ts';
import { type Answer, respondJson, NOT_STORED, REVALIDATED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { respondWithRecord } from '../../records/respond-with-record.ts';
import { requireKnownChain } from '../../require-known-chain.ts';
import { type FieldSelection, parseSelection } from './contract-fields.ts';
import { allChainsRoute, contractRoute, contractsRoute, DEFAULT_PAGE } from './contract-routes.ts';
import { renderDefaultMembers } from './contract-text.ts';
import { resolveProxy } from './proxy-resolution.ts';
import { renderMinimal, renderUnverified } from './render-contract.ts';

/** Field that is read from the chain for each response. */
const PROXY_FIELD = 'proxyResolution';

/** Adds the routes of the verification API v2 that read contracts. */
export function addContractRoutes(
  routes: OpenAPIHono,
  parts: Pick<HttpDependencies, 'contracts' | 'answers' | 'proxies' | 'registry' | 'clientOf'>,
): void {
  const { contracts, answers, registry } = parts;
  const answerUnverified = (chainId: number, address: Hex): Answer => {
    requireKnownChain(registry(), chainId);
    return respondJson(contractRoute, renderUnverified(chainId, address), NOT_STORED, 404);
  };
  routes.openapi(allChainsRoute, async (c) => {
    const found = await contracts.findOnChains([c.req.valid('param').address]);
    const list = { results: found.map(renderMinimal) };
    return found.length === 0
      ? respondJson(allChainsRoute, list, NOT_STORED, 404)
      : respondJson(allChainsRoute, list, REVALIDATED);
  });
  routes.openapi(contractRoute, async (c) => {
    const { chainId, address } = c.req.valid('param');
    const { parts: sections, ...selection } = parseSelection(c.req.valid('query'));
    if (selection.chosen.size === 0) {
      // Reads a single row, so it needs no admission to record reads.
      const match = await contracts.readContract(chainId, address);
      return match === undefined
        ? answerUnverified(chainId, address)
        : respondJson(contractRoute, renderDefaultMembers(match, selection.omitted), REVALIDATED);
    }
    const live: Record<string, unknown> = {};
    if (selection.chosen.has(PROXY_FIELD)) {
      // The chain is not read for a contract without a match.
      const match = await contracts.readContract(chainId, address);
      if (match === undefined) return answerUnverified(chainId, address);
      const client = parts.clientOf(c);
      live[PROXY_FIELD] = await resolveProxy(parts, { chainId, address, client });
    }
    const answered = await respondWithRecord(
      c,
      { contracts, answers },
      { chainId, address },
      () => ({
        form: { kind: 'fields', selection, live },
        key: [describeSelection(selection), live],
        parts: sections,
      }),
    );
    return answered ?? answerUnverified(chainId, address);
  });
  routes.openapi(contractsRoute, async (c) => {
    const { chainId } = c.req.valid('param');
    const { sort, limit = DEFAULT_PAGE, afterMatchId } = c.req.valid('query');
    const read = () =>
      contracts.listContracts(chainId, {
        order: sort === 'asc' ? 'ascending' : 'descending',
        limit,
        ...(afterMatchId !== undefined && { afterMatchId }),
      });
    const page = await answers.admit(c, read);
    if (page.length === 0) requireKnownChain(registry(), chainId);
    return respondJson(contractsRoute, { results: page.map(renderMinimal) }, REVALIDATED);
  });
}

/** Returns a selection as JSON-serializable data. */
function describeSelection({ chosen, omitted }: Omit<FieldSelection, 'parts'>): unknown {
  const fields = [...chosen].map(([name, members]) => [name, members && [...members]]);
  return [fields, [...omitted]];
}
