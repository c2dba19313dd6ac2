import { type CreationSearch } from '../../chains/creation/creation-search.ts';
import { type RegisteredChain } from '../../chains/registry/registered-chain.ts';
import { type DeployedCode } from '../../chains/rpc/deployed-code.ts';
import { readingOptions, type ReadingParts, searchCreation } from '../read-on-chain.ts';
import { type Deployment } from '../verification-request.ts';

/** What is read of a contract: its code, and its creation when it is first asked for. */
export interface KnownReading {
  readonly chain: RegisteredChain;
  readonly deployed: DeployedCode;
  creation(): Promise<CreationSearch>;
  /** The parts of a verification that reads the same again without asking the chain. */
  again<Parts extends ReadingParts>(parts: Parts): Parts;
  /** Ends what is still under way. */
  stop(): void;
}

/**
 * Reads the code of a contract. Its creation costs endpoints and explorers more, and is looked for only where a known code
 * is that of the contract.
 * @throws FullmatchError as reading code does
 */
export async function readLazily(
  parts: ReadingParts,
  chain: RegisteredChain,
  deployment: Deployment,
  signal: AbortSignal,
): Promise<KnownReading> {
  const stopped = new AbortController();
  const ending = AbortSignal.any([signal, stopped.signal]);
  const options = readingOptions(parts, deployment.chainId, ending);
  const deployed = await parts.readDeployedCode(chain, deployment.address, options);
  let searched: Promise<CreationSearch> | undefined;
  let isSearching = false;
  const search = async (): Promise<CreationSearch> => {
    isSearching = true;
    const found = await searchCreation(parts, chain, deployment, deployed, options);
    isSearching = false;
    return found;
  };
  const creation = (): Promise<CreationSearch> => (searched ??= search());
  return {
    chain,
    deployed,
    creation,
    again: (others) => ({
      ...others,
      readDeployedCode: async (asked, address, how) =>
        address === deployment.address ? deployed : others.readDeployedCode(asked, address, how),
      findCreation: creation,
    }),
    stop: () => {
      if (isSearching) stopped.abort();
    },
  };
}
