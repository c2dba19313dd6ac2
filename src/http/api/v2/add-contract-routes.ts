import { type OpenAPIHono } from '@hono/zod-openapi';

import { type StoredContract } from '../../../repository/read-contract.ts';
import {
  answer,
  type Answer,
  answerJsonText,
  JSON_TYPE,
  NOT_STORED,
  REVALIDATED,
} from '../../answer.ts';
import { type HttpDependencies } from '../../host-dependencies.ts';
import { CONTRACT_FIELDS, type FieldSelection, parseSelection } from './contract-fields.ts';
import { allChainsRoute, contractRoute, contractsRoute, DEFAULT_PAGE } from './contract-routes.ts';
import { renderMinimal, renderUnverified } from './render-contract.ts';

/** The routes of the verification API v2 that read contracts. */
export function addContractRoutes(
  routes: OpenAPIHono,
  { contracts }: Pick<HttpDependencies, 'contracts'>,
): void {
  routes.openapi(allChainsRoute, async (c) => {
    const found = await contracts.findOnChains([c.req.valid('param').address]);
    const list = { results: found.map(renderMinimal) };
    return found.length === 0 ? answerNotFound(list) : answerValue(list);
  });
  routes.openapi(contractRoute, async (c) => {
    const { chainId, address } = c.req.valid('param');
    const selection = parseSelection(c.req.valid('query'));
    const contract = await contracts.readContract(chainId, address, selection.parts);
    return contract === undefined
      ? answerNotFound(renderUnverified(chainId, address))
      : answerValue(renderContract(contract, selection));
  });
  routes.openapi(contractsRoute, async (c) => {
    const { chainId } = c.req.valid('param');
    const { sort, limit = DEFAULT_PAGE, afterMatchId } = c.req.valid('query');
    const page = await contracts.listContracts(chainId, {
      order: sort === 'asc' ? 'ascending' : 'descending',
      limit,
      ...(afterMatchId !== undefined && { afterMatchId }),
    });
    return answerValue({ results: page.map(renderMinimal) });
  });
}

function answerValue(value: object): Answer {
  return answerJsonText(JSON.stringify(value), REVALIDATED);
}

function answerNotFound(value: object): Answer {
  return answer(JSON.stringify(value), { status: 404, type: JSON_TYPE, cacheControl: NOT_STORED });
}

function renderContract(
  { match, parts }: StoredContract,
  { chosen, omitted }: FieldSelection,
): object {
  const usual = Object.entries(renderMinimal(match)).filter(([name]) => !omitted.has(name));
  const fields = [...chosen].map(([name, members]) => {
    const value = CONTRACT_FIELDS.get(name)?.render(parts) ?? null;
    return [name, members === undefined ? value : pick(value, members)] as const;
  });
  return Object.fromEntries([...usual, ...fields]);
}

function pick(value: unknown, members: ReadonlySet<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => members.has(name)));
}
