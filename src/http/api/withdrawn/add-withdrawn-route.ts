import { type OpenAPIHono } from '@hono/zod-openapi';

import { FullmatchError } from '../../../errors.ts';
import { checksumAddress } from '../../../lib/hex.ts';
import { respondJson, REVALIDATED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { renderSourcePage, toSourceQuery } from '../evidence/source-page.ts';
import { LANGUAGE_NAMES } from '../v2/render-contract.ts';
import { withdrawnRoute } from './withdrawn-route.ts';

/** Adds the route that shows what was withdrawn of a contract. No other route serves it. */
export function addWithdrawnRoute(
  routes: OpenAPIHono,
  { contracts, answers }: Pick<HttpDependencies, 'contracts' | 'answers'>,
): void {
  routes.openapi(withdrawnRoute, async (c) => {
    const { chainId, address } = c.req.valid('param');
    const query = toSourceQuery(c.req.valid('query'));
    const read = query && (await contracts.readWithdrawnMatch(chainId, address));
    if (query === undefined || read === undefined) {
      throw new FullmatchError(
        'contract_not_found',
        `No match of ${checksumAddress(address)} on chain ${chainId} was withdrawn.`,
        { details: { chainId, address } },
      );
    }
    const page = await answers.admit(c, () =>
      contracts.readWithdrawnSourcePage(chainId, address, query),
    );
    const { withdrawnAt, reason, match, origin, compilation } = read;
    const answer = {
      ...{ chainId, address: checksumAddress(address), reason, match, origin },
      withdrawnAt: withdrawnAt.toISOString(),
      compilation: compilation
        ? {
            ...compilation,
            language: LANGUAGE_NAMES[compilation.language] ?? compilation.language,
          }
        : null,
      sources: page ? renderSourcePage(page) : null,
    };
    return respondJson(withdrawnRoute, answer, REVALIDATED);
  });
}
