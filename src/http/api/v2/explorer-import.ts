import { createHash } from 'node:crypto';

import { type ExplorerSources } from '../../../chains/explorer/explorer-sources.ts';
import { type RegisteredChain } from '../../../chains/registry/registered-chain.ts';
import { CachedLookup } from '../../../chains/rpc/cached-lookup.ts';
import { FullmatchError } from '../../../errors.ts';
import { type Hex } from '../../../lib/hex.ts';
import { Secret } from '../../../lib/secret.ts';
import { type PackedRequest } from '../../../verification/verification-request.ts';
import { type HttpParts } from '../../http-parts.ts';

/** Which contract another explorer is asked about, for whom, and with which key. */
interface ExplorerQuestion {
  readonly chainId: number;
  readonly address: Hex;
  readonly client: string;
  /** The client's own key. */
  readonly apiKey?: string | undefined;
}

/** Asks another explorer for what it has verified, and makes a request of it. */
export type FindAtExplorer = (asked: ExplorerQuestion) => Promise<PackedRequest>;

/** What anybody's requests may cost the operator's account with the other explorer, and memory here: each answer has megabytes. */
const LIMITS = {
  atOnce: { total: 4, perClient: 2, waiting: 32, waitingPerClient: 8, waitMs: 20_000 },
  ...{ keptMs: 30_000, failureKeptMs: 5_000, mostKept: 8 },
};

/** Asks another explorer for what it has verified, and makes requests of it. */
export function createExplorerImport({
  explorer,
  registry,
  requests,
}: Pick<HttpParts, 'explorer' | 'registry' | 'requests'>): FindAtExplorer {
  const looks = new CachedLookup<PackedRequest>(LIMITS);
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
    const look = async (): Promise<PackedRequest> => {
      const bytes = await explorer.read(
        chainId,
        address,
        apiKey === undefined ? undefined : new Secret(apiKey),
      );
      const form = { kind: 'explorer_record', chainId, address } as const;
      const read = await requests.readFetched(bytes, form, client);
      if (!('request' in read)) throw new Error('the record of a contract names one contract');
      return read.request;
    };
    // An answer to a wrong key is of nobody else's concern.
    const keyHash = createHash('sha256')
      .update(apiKey ?? '')
      .digest('base64');
    return looks.ask(`${chainId} ${address} ${keyHash}`, client, look);
  };
}

/** Why no explorer can be queried about a chain, and what to do. */
function whyNotAsked(explorer: ExplorerSources, chain: RegisteredChain, hasKey: boolean): string {
  if (!hasKey && explorer.canQuery(chain, true)) {
    return 'This service has no explorer configured; send your own Etherscan API key as apiKey.';
  }
  return 'No explorer is configured for this chain; the operator can set etherscan.url.';
}

function notTakenOver(chainId: number, why: string): FullmatchError {
  return new FullmatchError('unsupported_chain', why, { details: { chainId } });
}
