import { type CreationSearch } from '../chains/creation/creation-search.ts';
import { type FindCreationOptions } from '../chains/creation/find-creation-transaction.ts';
import { type RegisteredChain } from '../chains/registry/registered-chain.ts';
import { type Creation } from '../chains/rpc/creation.ts';
import { type DeployedCode, type ReadCodeOptions } from '../chains/rpc/deployed-code.ts';
import { type Hex } from '../lib/hex.ts';
import { type Deployment } from './verification-request.ts';

/** Dependencies of reading a contract on chain. */
export interface ReadingParts {
  /** Reads the bytecode of a contract; enough independent endpoints must agree on it. */
  readonly readDeployedCode: (
    chain: RegisteredChain,
    address: Hex,
    options: ReadCodeOptions,
  ) => Promise<DeployedCode>;
  /** Looks for the transaction that created a contract. */
  readonly findCreation: (
    chain: RegisteredChain,
    address: Hex,
    options: FindCreationOptions,
  ) => Promise<CreationSearch>;
  /** Number of independent endpoints of a chain that must agree, if the operator configured it. */
  readonly quorumOf: (chainId: number) => 1 | 2 | undefined;
}

/** A contract on chain. Each part is read once, on first use. */
export interface ContractReading {
  readonly deployed: () => Promise<DeployedCode>;
  /** See {@link searchCreation}. */
  readonly creation: () => Promise<CreationSearch>;
  /** Aborts pending reads. */
  readonly stop: () => void;
}

/** Data read from the chain: the runtime bytecode, the creation if known, and the steps of the creation search. */
export interface OnChain {
  readonly deployed: DeployedCode;
  readonly creation: Creation | undefined;
  readonly methods: CreationSearch['methods'];
}

/** Returns the read options of a chain: its quorum and the abort signal. */
export function readingOptions(
  { quorumOf }: Pick<ReadingParts, 'quorumOf'>,
  chainId: number,
  signal: AbortSignal,
): { readonly signal: AbortSignal; readonly quorum?: 1 | 2 } {
  const quorum = quorumOf(chainId);
  return { signal, ...(quorum !== undefined && { quorum }) };
}

/**
 * Searches the creation of a contract whose code was read. If the client names a creation transaction, only
 * that one is checked; it is ignored if it did not create the contract or if that cannot be determined. If
 * the client names none, every search method is tried.
 */
function searchCreation(
  { findCreation }: Pick<ReadingParts, 'findCreation'>,
  chain: RegisteredChain,
  { address, creationTransactionHash: submitted }: Deployment,
  running: DeployedCode,
  options: ReadCodeOptions,
): Promise<CreationSearch> {
  return findCreation(chain, address, {
    ...options,
    running,
    ...(submitted !== undefined && { submitted, methods: ['submitted_hash'] }),
  });
}

/**
 * Reads a contract on chain; see {@link ContractReading}.
 * @param known its runtime bytecode, if it was just read
 */
export function readContract(
  parts: ReadingParts,
  chain: RegisteredChain,
  deployment: Deployment,
  signal: AbortSignal,
  known?: DeployedCode,
): ContractReading {
  const stopped = new AbortController();
  const ending = AbortSignal.any([signal, stopped.signal]);
  const options = readingOptions(parts, deployment.chainId, ending);
  const deployed = once(
    async () => known ?? parts.readDeployedCode(chain, deployment.address, options),
  );
  // Endpoints that cannot return the bytecode are not asked for the creation.
  const creation = once(async () =>
    searchCreation(parts, chain, deployment, await deployed(), options),
  );
  return { deployed, creation, stop: () => stopped.abort() };
}

/**
 * Returns a function that reads on the first call and caches the promise. A rejection is not reported as
 * unhandled, even if no caller awaits it.
 */
export function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    if (reading === undefined) {
      reading = read();
      reading.catch(() => undefined);
    }
    return reading;
  };
}
