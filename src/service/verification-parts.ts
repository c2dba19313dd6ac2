import { findCreationTransaction } from '../chains/creation/find-creation-transaction.ts';
import { type ChainHealth } from '../chains/health/chain-health.ts';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import { readDeployedCode } from '../chains/rpc/deployed-code.ts';
import { type RpcClient } from '../chains/rpc/rpc-client.ts';
import { type CompilerSources } from '../compilers/compiler-finder.ts';
import { type Compilers, createCompilers } from '../compilers/compilers.ts';
import { type Config } from '../config/config.ts';
import { type GuardedFetch } from '../lib/guarded-fetch.ts';
import { type Logger } from '../log.ts';
import { createJobReader } from '../verification/job-reader.ts';
import { type VerificationParts } from '../verification/verify-contract.ts';

/** Where compilers come from: the folder, installed packages, and the mirror if one is configured. */
export function compilerSourcesOf(
  { compilers: { folder, downloadUrl } }: Config,
  fetch: GuardedFetch,
): CompilerSources {
  return {
    directory: folder,
    ...(downloadUrl !== undefined && {
      download: { baseUrl: downloadUrl, directory: folder, fetch },
    }),
  };
}

/** What a verification knows of chains, and the way out to them. */
/** What gives access to chains. */
export interface ChainParts {
  readonly registry: () => ChainRegistry;
  readonly quorumOf: (chainId: number) => 1 | 2 | undefined;
  readonly fetch: GuardedFetch;
  readonly rpc: RpcClient;
  /** Which endpoints know the state of old blocks. */
  readonly archive?: ChainHealth['archive'];
}

/** What a verification is made of: chain access, compilers, and the chains of the registry. */
export async function openVerificationParts(
  config: Config,
  { registry, quorumOf, fetch, rpc, archive }: ChainParts,
  log: Logger,
): Promise<VerificationParts & { readonly compilers: Compilers; close(): Promise<void> }> {
  const { timeoutMs, memoryBytes } = config.compilers;
  const compilers = await createCompilers(
    {
      sources: compilerSourcesOf(config, fetch),
      limits: { wallTimeMs: timeoutMs, memoryBytes },
      workers: Math.max(1, config.verification.workers),
    },
    log,
  );
  const reader = createJobReader();
  return {
    compilers,
    reader,
    sourceBytes: config.limits.sourceBytes,
    readDeployedCode: (chain, address, options) => readDeployedCode(rpc, chain, address, options),
    findCreation: (chain, address, options) =>
      findCreationTransaction({ rpc, fetch, ...(archive && { archive }) }, chain, address, options),
    findSupportedChain: (chainId) =>
      registry().chains.find(({ record }) => record.chainId === chainId && record.supported),
    quorumOf,
    close: async () => {
      await Promise.all([compilers.close(), reader.close()]);
    },
  };
}
