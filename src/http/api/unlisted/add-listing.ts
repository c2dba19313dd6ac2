import { type OpenAPIHono } from '@hono/zod-openapi';
import { FullmatchError } from '../../../errors.ts';
import { checksumAddress } from '../../../lib/hex.ts';
import { respondJson, NOT_STORED } from '../../answer.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';
import { listingRoute } from './listing-route.ts';

/** How an unlisted contract was compiled, as its record states. */
interface Compiled {
  readonly stdJsonInput: object;
  readonly compilation: { readonly compilerVersion: string; readonly fullyQualifiedName: string };
  readonly deployment: { readonly transactionHash: string | null };
}

/**
 * Adds the route that publishes an unlisted contract. The contract is verified again against its current
 * bytecode on chain, because nothing is published from a store that the public cannot inspect.
 */
export function addListing(
  routes: OpenAPIHono,
  parts: Pick<HttpDependencies, 'access' | 'requests' | 'clientOf' | 'verification'>,
  unlisted: NonNullable<HttpDependencies['unlistedHost']>,
): void {
  routes.openapi(listingRoute, async (c) => {
    parts.access.requireToken(c.req.raw);
    parts.access.admit(c);
    const { chainId, address } = c.req.valid('param');
    const client = parts.clientOf(c);
    const fields = 'stdJsonInput,compilation,deployment';
    const found = await unlisted.request(
      `/v2/contract/${chainId}/${address}?fields=${fields}`,
      {},
      { askedFor: client },
    );
    if (!found.ok) {
      throw new FullmatchError(
        'contract_not_found',
        `No unlisted contract of chain ${chainId} has the address ${checksumAddress(address)}.`,
      );
    }
    const { stdJsonInput, compilation, deployment } = (await found.json()) as Compiled;
    const body = {
      stdJsonInput,
      compilerVersion: compilation.compilerVersion,
      contractIdentifier: compilation.fullyQualifiedName,
      ...(deployment.transactionHash !== null && {
        creationTransactionHash: deployment.transactionHash,
      }),
    };
    const form = { kind: 'standard_json', chainId, address } as const;
    const bytes = Buffer.from(JSON.stringify(body));
    const { request } = await parts.requests.readFetched(bytes, form, client);
    const verificationId = await parts.verification.submit(request, client);
    return respondJson(listingRoute, { verificationId }, NOT_STORED, 202);
  });
}
