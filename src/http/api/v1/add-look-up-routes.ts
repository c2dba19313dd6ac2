import { type OpenAPIHono } from '@hono/zod-openapi';

import { FullmatchError } from '../../../errors.ts';
import { checksumAddress, type Hex } from '../../../lib/hex.ts';
import {
  type ContractMatch,
  FILE_SECTIONS,
  FILE_PATH_SECTIONS,
} from '../../../repository/repository.ts';
import { answerJson, REVALIDATED } from '../../answer.ts';
import { contractNotFound } from '../../contract-not-found.ts';
import { type HttpParts } from '../../http-parts.ts';
import { answerRecord } from '../../records/answer-record.ts';
import {
  checkAllRoute,
  checkFullRoute,
  CONTRACTS_MAX,
  fileContractsRoute,
  filesRoute,
  fileTreeRoute,
} from './look-up-routes.ts';

/** The wire names of a match in the verification API v1. */
const STATUS = { full: 'perfect', partial: 'partial' } as const;

/** The routes of the verification API v1 that read contracts. */
export function addLookUpRoutes(
  routes: OpenAPIHono,
  { contracts, answers, urls }: Pick<HttpParts, 'contracts' | 'answers' | 'urls'>,
): void {
  routes.openapi(checkAllRoute, async (c) => {
    const { addresses, chainIds } = c.req.valid('query');
    const found = await contracts.findOnChains(addresses, chainIds);
    const entries = entriesOf(addresses, found, (matches) => ({
      chainIds: matches.map(({ chainId, match }) => ({
        chainId: String(chainId),
        status: STATUS[match],
      })),
    }));
    return answerJson(checkAllRoute, entries, REVALIDATED);
  });
  routes.openapi(checkFullRoute, async (c) => {
    const { addresses, chainIds } = c.req.valid('query');
    const found = await contracts.findOnChains(addresses, chainIds);
    const full = found.filter(({ match }) => match === 'full');
    const entries = entriesOf(addresses, full, (matches) => ({
      status: STATUS.full,
      chainIds: matches.map(({ chainId }) => String(chainId)),
    }));
    return answerJson(checkFullRoute, entries, REVALIDATED);
  });
  routes.openapi(filesRoute, async (c) => {
    const place = c.req.valid('param');
    const view = { form: { kind: 'files' }, parts: FILE_SECTIONS } as const;
    const answered = await answerRecord(c, { contracts, answers }, place, () => view);
    if (answered === undefined) throw contractNotFound(place.chainId, place.address);
    return answered;
  });
  routes.openapi(fileTreeRoute, async (c) => {
    const place = c.req.valid('param');
    const base = (urls().repository ?? '').replace(/\/$/, '');
    const view = {
      form: { kind: 'file_urls', base },
      key: base,
      parts: FILE_PATH_SECTIONS,
    } as const;
    const answered = await answerRecord(c, { contracts, answers }, place, () => view);
    if (answered === undefined) throw contractNotFound(place.chainId, place.address);
    return answered;
  });
  routes.openapi(fileContractsRoute, async (c) => {
    const { chainId } = c.req.valid('param');
    const page = { order: 'ascending', limit: CONTRACTS_MAX + 1 } as const;
    const list = await contracts.listContracts(chainId, page);
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
    return answerJson(fileContractsRoute, lists, REVALIDATED);
  });
}

/** An entry for each address that was asked for: what its matches give, or that there are none. */
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
