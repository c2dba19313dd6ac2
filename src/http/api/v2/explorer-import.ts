import { createHash } from 'node:crypto';

import { type ExplorerSources } from '../../../chains/explorer/explorer-sources.ts';
import { type RegisteredChain } from '../../../chains/registry/registered-chain.ts';
import { CachedLookup } from '../../../chains/rpc/cached-lookup.ts';
import { FullmatchError } from '../../../errors.ts';
import { type Hex } from '../../../lib/hex.ts';
import { Secret } from '../../../lib/secret.ts';
import { type PackedRequest } from '../../../verification/verification-request.ts';
import { type HttpDependencies } from '../../http-dependencies.ts';

/** A contract to request from another explorer, with the client and the key to use. */
interface ExplorerImport {
  readonly chainId: number;
  readonly address: Hex;
  readonly client: string;
  /** The client's own API key. */
  readonly apiKey?: string | undefined;
}

/** Fetches a verified contract from another explorer and builds a verification request from it. */
export type ImportFromExplorer = (asked: ExplorerImport) => Promise<PackedRequest>;

/**
 * Limits on the load that client requests put on the operator's explorer account and on memory: each response
 * has megabytes.
 */
const LIMITS = {
  atOnce: { total: 4, perClient: 2, waiting: 32, waitingPerClient: 8, waitMs: 20_000 },
  ...{ keptMs: 30_000, failureKeptMs: 5_000, mostKept: 8 },
};

/** Creates a function that imports verified contracts from another explorer. */
export function createExplorerImport({
  explorer,
  registry,
  requests,
}: Pick<HttpDependencies, 'explorer' | 'registry' | 'requests'>): ImportFromExplorer {
  const lookups = new CachedLookup<PackedRequest>(LIMITS);
  return async ({ chainId, address, client, apiKey }) => {
    const chain = registry().chains.find(
      ({ record }) => record.chainId === chainId && record.supported,
    );
    if (chain === undefined) {
      throw notTakenOver(chainId, `Contracts of chain ${chainId} cannot be verified here.`);
    }
    if (!explorer.canQuery(chain, apiKey !== undefined)) {
      throw notTakenOver(chainId, whyNotAsked(explorer, chain, apiKey !== undefined));
    }
    const fetchRequest = async (): Promise<PackedRequest> => {
      const bytes = await explorer.read(
        chainId,
        address,
        apiKey === undefined ? undefined : new Secret(apiKey),
      );
      const form = { kind: 'explorer_record', chainId, address } as const;
      return (await requests.readFetched(bytes, form, client)).request;
    };
    // The key is part of the cache key: a response to a wrong key must not reach other clients.
    const keyHash = createHash('sha256')
      .update(apiKey ?? '')
      .digest('base64');
    return lookups.ask(`${chainId} ${address} ${keyHash}`, client, fetchRequest);
  };
}

/** Returns why no explorer can be queried about a chain, and what to do. */
function whyNotAsked(explorer: ExplorerSources, chain: RegisteredChain, hasKey: boolean): string {
  if (!hasKey && explorer.canQuery(chain, true)) {
    return 'This service has no explorer configured; send your own Etherscan API key as apiKey.';
  }
  return 'No explorer is configured for this chain; the operator can set etherscan.url.';
}

function notTakenOver(chainId: number, why: string): FullmatchError {
  return new FullmatchError('unsupported_chain', why, { details: { chainId } });
}
