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

/** A contract on chain. Each part is read once, when it is first asked for. */
export interface ContractReading {
  readonly deployed: () => Promise<DeployedCode>;
  /** See {@link searchCreation}. */
  readonly creation: () => Promise<CreationSearch>;
  /** Ends what is still under way. */
  readonly stop: () => void;
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

/** Reads a contract on chain, see {@link ContractReading}. @param known its running code, where somebody read it a moment ago */
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
  // Endpoints that cannot even give the code are not asked for more.
  const creation = once(async () =>
    searchCreation(parts, chain, deployment, await deployed(), options),
  );
  return { deployed, creation, stop: () => stopped.abort() };
}

/** Reads when it is first asked. Who asked may fail before it waits for the answer. */
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
