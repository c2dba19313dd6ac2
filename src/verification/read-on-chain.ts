import { type CreationSearch } from '../chains/creation/creation-search.ts';
import { type FindCreationOptions } from '../chains/creation/find-creation-transaction.ts';
import { type RegisteredChain } from '../chains/registry/registered-chain.ts';
import { type DeployedCode, type ReadCodeOptions } from '../chains/rpc/deployed-code.ts';
import { type Hex } from '../lib/hex.ts';
import { type Deployment } from './verification-request.ts';

/** What reading a contract on chain needs. */
export interface ReadingParts {
  /** The code of a contract, on which enough independent endpoints agree. */
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
  /** How many independent endpoints of a chain have to agree, where the operator says it. */
  readonly quorumOf: (chainId: number) => 1 | 2 | undefined;
}

/** What is being read of a contract: what runs, and what created it. */
export interface ChainReading {
  readonly deployed: Promise<DeployedCode>;
  readonly creation: Promise<CreationSearch>;
  /** Ends what is still under way. */
  stop(): void;
}

/** What to ask endpoints for: the quorum of the chain, and until when. */
export function readingOptions(
  { quorumOf }: Pick<ReadingParts, 'quorumOf'>,
  chainId: number,
  signal: AbortSignal,
): { readonly signal: AbortSignal; readonly quorum?: 1 | 2 } {
  const quorum = quorumOf(chainId);
  return { signal, ...(quorum !== undefined && { quorum }) };
}

/**
 * Looks for the creation of a contract whose code was read. If the client names a creation transaction, only that one is
 * checked, and it is ignored where it did not create the contract or nobody can say. If the client names none, every
 * search method is tried.
 */
export function searchCreation(
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

/** Begins to read both codes of a contract, so that the compiler can work meanwhile. See {@link searchCreation}. */
export function startReading(
  parts: ReadingParts,
  chain: RegisteredChain,
  deployment: Deployment,
  signal: AbortSignal,
): ChainReading {
  const stopped = new AbortController();
  const ending = AbortSignal.any([signal, stopped.signal]);
  const options = readingOptions(parts, deployment.chainId, ending);
  const deployed = parts.readDeployedCode(chain, deployment.address, options);
  // Endpoints that cannot even give the code are not asked for more.
  const creation = deployed.then((running) =>
    searchCreation(parts, chain, deployment, running, options),
  );
  // The caller may fail before it waits for the second.
  for (const reading of [deployed, creation]) reading.catch(() => undefined);
  return { deployed, creation, stop: () => stopped.abort() };
}
