import { FullmatchError } from '../../errors.ts';
import { type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { type Hex } from '../../lib/hex.ts';
import { type Creation, type CreationRefusal, readCreation } from '../rpc/creation.ts';
import { type RunningCode } from '../rpc/creation-proof.ts';
import { type Quorum } from '../rpc/endpoint-order.ts';
import { type RpcClient } from '../rpc/rpc-client.ts';
import { reasonOf } from '../rpc/rpc-faults.ts';
import { findContractCreator } from './contract-creator.ts';
import {
  CREATION_METHODS,
  type CreationMethod,
  type CreationSearch,
  type MethodResult,
  type MethodRecord,
} from './creation-search.ts';
import { queryExplorer } from './explorer-hits.ts';
import {
  type ArchiveCapability,
  type MethodDependencies,
  type SearchedChain,
} from './method-parts.ts';
import { limitRequests, RequestLimitReached } from './request-limit.ts';
import { searchBlocks } from './search-blocks.ts';

/** Outgoing connections of the search. */
export interface CreationSearchDependencies {
  readonly rpc: RpcClient;
  readonly fetch: GuardedFetch;
  /** Without it, the capabilities of endpoints are unknown. */
  readonly archive?: ArchiveCapability;
}

/** Limits of one method. */
export interface MethodLimit {
  readonly timeMs: number;
  /** Requests to endpoints, including those of the check on chain. */
  readonly requests: number;
}

export interface FindCreationOptions {
  /** A transaction hash given by the client. */
  readonly submitted?: Hex;
  /** How many operators must agree on the creation; as for reading code. */
  readonly quorum?: Quorum;
  /** As `asksAll` of reading a creation: for a denial that withdraws a match. */
  readonly asksAll?: boolean;
  /** The runtime bytecode, if known already: the creation must have deployed it. */
  readonly running?: RunningCode;
  readonly signal?: AbortSignal;
  /** Only these methods, in the order of {@link CREATION_METHODS}; all by default. */
  readonly methods?: readonly CreationMethod[];
  /** Overrides {@link METHOD_LIMITS}. */
  readonly limits?: Partial<Record<CreationMethod, MethodLimit>>;
  readonly now?: () => number;
}

/**
 * A search without result ends within half a minute. A submitted transaction has the deadline of reading the
 * code, since the client asked for nothing else.
 */
const METHOD_LIMITS: Readonly<Record<CreationMethod, MethodLimit>> = {
  submitted_hash: { timeMs: 60_000, requests: 192 },
  contract_creator: { timeMs: 8_000, requests: 128 },
  binary_search: { timeMs: 12_000, requests: 320 },
  explorer_page: { timeMs: 10_000, requests: 192 },
};

const METHODS: Readonly<
  Record<CreationMethod, (parts: MethodDependencies) => Promise<MethodResult>>
> = {
  submitted_hash: async ({ submitted, propose }) => ({
    outcome: submitted === undefined ? 'not_given' : await propose(submitted),
  }),
  contract_creator: findContractCreator,
  binary_search: searchBlocks,
  explorer_page: queryExplorer,
};

/** State shared by the methods of a search. */
interface Search {
  readonly parts: CreationSearchDependencies;
  readonly chain: SearchedChain;
  readonly address: Hex;
  readonly options: FindCreationOptions;
  /** Refusals by transaction, so that none is checked twice. */
  readonly refused: Map<Hex, CreationRefusal>;
  readonly denied: Map<Hex, CreationRefusal>;
  creation: Creation | undefined;
}

/**
 * Finds the transaction that created a contract with the first successful method. A named transaction counts
 * only after the chain confirmed that it created this address; otherwise the search continues. Addresses and
 * hashes may be in any case.
 * @throws only the reason of `signal`
 */
export async function findCreationTransaction(
  parts: CreationSearchDependencies,
  chain: SearchedChain,
  address: Hex,
  options: FindCreationOptions = {},
): Promise<CreationSearch> {
  const lower = address.toLowerCase() as Hex;
  const refused = new Map<Hex, CreationRefusal>();
  const denied = new Map<Hex, CreationRefusal>();
  const search: Search = {
    ...{ parts, chain, address: lower, options, refused, denied },
    creation: undefined,
  };
  const methods: MethodRecord[] = [];
  const wanted = CREATION_METHODS.filter((method) => options.methods?.includes(method) ?? true);
  for (const method of wanted) {
    methods.push(
      search.creation === undefined
        ? await runMethod(search, method)
        : { method, outcome: 'not_needed', durationMs: 0 },
    );
  }
  return { ...(search.creation && { creation: search.creation }), denied, methods };
}

/** Runs one method within its limits. Every failure of an endpoint becomes an outcome. */
async function runMethod(search: Search, method: CreationMethod): Promise<MethodRecord> {
  const { parts, chain, address, options } = search;
  const { timeMs, requests } = options.limits?.[method] ?? METHOD_LIMITS[method];
  const now = options.now ?? ((): number => performance.now());
  const ending = AbortSignal.timeout(timeMs);
  const signal = options.signal ? AbortSignal.any([options.signal, ending]) : ending;
  const rpc = limitRequests(parts.rpc, requests);
  let transactionHash: Hex | undefined;
  const methodParts: MethodDependencies = {
    rpc,
    fetch: parts.fetch,
    archive: parts.archive ?? ((): 'unknown' => 'unknown'),
    chain,
    address,
    ...(options.submitted && { submitted: options.submitted.toLowerCase() as Hex }),
    signal,
    propose: (hash) => {
      transactionHash = hash;
      return checkOnChain(search, hash, rpc, signal);
    },
  };
  const startedAt = now();
  const end = await endMethod(() => METHODS[method](methodParts), ending, options.signal);
  const durationMs = Math.round(now() - startedAt);
  return { method, ...end, durationMs, ...(transactionHash && { transactionHash }) };
}

async function endMethod(
  run: () => Promise<MethodResult>,
  ending: AbortSignal,
  caller: AbortSignal | undefined,
): Promise<MethodResult> {
  try {
    return await run();
  } catch (error) {
    caller?.throwIfAborted();
    if (ending.aborted) return { outcome: 'deadline_exceeded' };
    if (error instanceof RequestLimitReached) return { outcome: 'request_limit' };
    if (!(error instanceof FullmatchError)) throw error;
    return { outcome: 'cannot_fetch', detail: reasonOf(error) };
  }
}

async function checkOnChain(
  search: Search,
  transactionHash: Hex,
  rpc: RpcClient,
  signal: AbortSignal,
): Promise<'found' | CreationRefusal> {
  const { chain, address, options, refused } = search;
  const known = refused.get(transactionHash);
  if (known !== undefined) return known;
  const { quorum, running, asksAll } = options;
  const reading = await readCreation(rpc, chain, address, transactionHash, {
    signal,
    asksAll,
    ...(quorum && { quorum }),
    ...(running && { running }),
  });
  if (reading.creation === undefined) {
    refused.set(transactionHash, reading.reason);
    if (reading.isAgreed) search.denied.set(transactionHash, reading.reason);
    return reading.reason;
  }
  search.creation = reading.creation;
  return 'found';
}
