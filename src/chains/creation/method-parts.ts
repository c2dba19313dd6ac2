import { type Hex } from '../../lib/hex.ts';
import { FullmatchError } from '../../errors.ts';
import { type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { type Endpoint, type RegisteredChain } from '../registry/registered-chain.ts';
import { type CreationRefusal } from '../rpc/creation.ts';
import { orderEndpoints } from '../rpc/endpoint-order.ts';
import { type RpcClient } from '../rpc/rpc-client.ts';
import { reasonOf } from '../rpc/rpc-faults.ts';
import { type CreationOutcome, type MethodResult } from './creation-search.ts';

/** A chain as the search needs it; every {@link RegisteredChain} is one. */
export type SearchedChain = Pick<RegisteredChain, 'endpoints' | 'local'> & {
  readonly record: Pick<RegisteredChain['record'], 'chainId' | 'contractFetchAddress' | 'txRegex'>;
};

/** Whether an endpoint is known to keep the states of all blocks. */
export type ArchiveCapability = (chainId: number, endpoint: Endpoint) => 'yes' | 'no' | 'unknown';

/** Dependencies of a search method, within its own limits of time and requests. */
export interface MethodDependencies {
  readonly rpc: RpcClient;
  readonly fetch: GuardedFetch;
  readonly archive: ArchiveCapability;
  readonly chain: SearchedChain;
  /** Lower-case hex. */
  readonly address: Hex;
  readonly submitted?: Hex;
  readonly signal: AbortSignal;
  /** Checks a transaction on chain: returns the creation, or the reason for rejecting it. */
  readonly propose: (transactionHash: Hex) => Promise<'found' | CreationRefusal>;
}

/** Outcomes by how much they say about the contract, most informative first. */
const TELLING: readonly CreationOutcome[] = [
  'found',
  'at_genesis',
  'no_code',
  'created_nothing_here',
  'transaction_failed',
  'left_other_code',
  'no_code_after',
  'created_again',
  'code_was_there_before',
  'code_too_large',
  'endpoints_disagree',
  'not_confirmed',
  'not_proven',
  'traces_unavailable',
  'not_in_block',
  'reorganised',
  'transaction_not_found',
  'no_archive',
  'not_known',
  'cannot_fetch',
];

function rankOf({ outcome }: MethodResult): number {
  const rank = TELLING.indexOf(outcome);
  return rank === -1 ? TELLING.length : rank;
}

/** The endpoints of the chain in the client's order of preference. */
export function endpointsOf({ chain, rpc }: MethodDependencies): readonly Endpoint[] {
  return orderEndpoints(chain, rpc.preference);
}

/**
 * Queries endpoints in sequence until one leads to the creation.
 * @returns the most informative outcome; its detail lists the outcome of each endpoint
 * @throws errors that no endpoint caused
 */
export async function queryInSequence(
  endpoints: readonly Endpoint[],
  ask: (endpoint: Endpoint) => Promise<MethodResult>,
): Promise<MethodResult> {
  const ends: MethodResult[] = [];
  const details: string[] = [];
  for (const endpoint of endpoints) {
    const end = await askOne(endpoint, ask);
    ends.push(end);
    details.push(`${endpoint.label}: ${end.detail ?? end.outcome}`);
    if (end.outcome === 'found') break;
  }
  const [best] = ends.sort((left, right) => rankOf(left) - rankOf(right));
  return best === undefined
    ? { outcome: 'not_configured', detail: 'no endpoint that can be asked' }
    : { outcome: best.outcome, detail: details.join(', ') };
}

async function askOne(
  endpoint: Endpoint,
  ask: (endpoint: Endpoint) => Promise<MethodResult>,
): Promise<MethodResult> {
  try {
    return await ask(endpoint);
  } catch (error) {
    if (!(error instanceof FullmatchError)) throw error;
    return { outcome: 'cannot_fetch', detail: reasonOf(error) };
  }
}
