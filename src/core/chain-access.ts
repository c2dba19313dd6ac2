import { findExplorerHosts } from '../chains/creation/explorer-hits.ts';
import { findCreationTransaction } from '../chains/creation/find-creation-transaction.ts';
import { type ChainHealth, watchEndpoints } from '../chains/health/chain-health.ts';
import { isUrlSource } from '../chains/list/source-name.ts';
import {
  type ExplorerTarget,
  type ExplorerVerifier,
  EXPLORERS,
  openExplorerVerifier,
} from '../chains/explorer/explorer-verifier.ts';
import { type ExplorerSources, openExplorerSources } from '../chains/explorer/explorer-sources.ts';
import { type FoundLogs, type LogQuery, readLogs } from '../chains/logs/read-logs.ts';
import { createProxyLookup, type ProxyLookup } from '../chains/proxy/proxy-lookup.ts';
import { readProxy } from '../chains/proxy/read-proxy.ts';
import { type RegisteredChain } from '../chains/registry/registered-chain.ts';
import { type ChainRegistry } from '../chains/registry/registry.ts';
import { type ChainLookup, createChainLookup } from '../chains/rpc/chain-lookup.ts';
import { type Creation } from '../chains/rpc/creation.ts';
import { findOperatorHosts } from '../chains/rpc/rpc-chain.ts';
import { readDeployedCode } from '../chains/rpc/deployed-code.ts';
import { type RpcClient } from '../chains/rpc/rpc-client.ts';
import { type Config } from '../config/config.ts';
import { hostPortOf } from '../lib/address-guard.ts';
import { createGuardedFetch, type GuardedFetch } from '../lib/guarded-fetch.ts';
import { type Hex } from '../lib/hex.ts';
import { readPackageVersion } from '../lib/package-version.ts';
import { type Logger } from '../log.ts';
import type { Publication } from '../publication/publication.ts';
import type { VerificationParts } from '../verification/verify-contract.ts';

const MAX_BYTES = 1_000_000;
const DEADLINE_MS = 30_000;
const MAX_REDIRECTS = 3;
/** Retry policy of reads that a client waits for. */
const LOOKUP_DEADLINE_MS = 20_000;
const lookupDeadline = (): AbortSignal => AbortSignal.timeout(LOOKUP_DEADLINE_MS);
/** Concurrent reads of creations and events, each of which takes up to several hundred requests to endpoints. */
const LOOKUP_LIMITS = {
  atOnce: { total: 4, perClient: 2, waiting: 32, waitingPerClient: 8, waitMs: 10_000 },
  ...{ keptMs: 5_000, failureKeptMs: 5_000, mostKept: 200 },
};

/** The current registry and its inputs; may change between calls. */
export type CurrentRegistry = Pick<Publication, 'registry' | 'inputs'>;

/** Access to chains: what to read, and how. */
export interface ChainAccess extends Pick<
  VerificationParts,
  'readDeployedCode' | 'findCreation' | 'findSupportedChain' | 'quorumOf'
> {
  /** Guarded fetch for every outgoing request. Each caller has its own deadline and size limit. */
  readonly fetch: GuardedFetch;
  readonly rpc: RpcClient;
  /** Detects proxies, bounded for callers that serve requests. */
  readonly proxies: ProxyLookup;
  /** The creation of any contract, verified or not; undefined if it is not found. */
  readonly creations: ChainLookup<Hex, Creation | undefined>;
  /** The first events of a contract. */
  readonly logs: ChainLookup<LogQuery, FoundLogs>;
  /** Matches of another explorer. */
  readonly explorer: ExplorerSources;
  /** Explorers that receive matches verified here; absent if none is configured. */
  readonly explorerVerifier?: ExplorerVerifier;
  /** State of the endpoints, if they are watched. */
  readonly health: ChainHealth;
}

/** Hosts that may have private addresses: those the operator names may be on the operator's own network. */
export function findPrivateHosts(
  {
    compilers: { downloadUrl, vyperDownloadUrl },
    etherscan,
    externalVerifications: external,
    registry: { sync },
    monitor,
  }: Config,
  registry: ChainRegistry,
  configured: Config['chains'],
): readonly string[] {
  const gateways = [
    ...monitor.gateways,
    ...monitor.swarmGateways,
    ...[...configured.values()].flatMap((chain) => chain.monitor?.gateways ?? []),
  ];
  return [
    ...findOperatorHosts(registry.chains),
    ...findExplorerHosts(registry.chains),
    ...[
      ...[downloadUrl, vyperDownloadUrl, etherscan.url, etherscan.clientKeyUrl],
      ...EXPLORERS.map((name) => external[name].url),
    ]
      .filter((url) => url !== 'off')
      .map((url) => hostPortOf(new URL(url))),
    ...[...sync.urls.filter(isUrlSource), ...gateways].map((url) => hostPortOf(new URL(url))),
  ];
}

/** Opens access to the chains of a registry, and watches their endpoints if configured. */
export function openChainAccess(
  config: Config,
  inForce: CurrentRegistry,
  watches: boolean,
  log: Logger,
): ChainAccess {
  const fetch = createGuardedFetch({
    allowPrivate: findPrivateHosts(config, inForce.registry, config.chains),
    maxBytes: MAX_BYTES,
    deadlineMs: DEADLINE_MS,
    maxRedirects: MAX_REDIRECTS,
    userAgent: `fullmatch/${readPackageVersion()}`,
  });
  const sources = { registry: () => inForce.registry, inputs: () => inForce.inputs };
  const probing = { ...config.health, enabled: watches && config.health.enabled };
  const health = watchEndpoints(fetch, sources, probing, log);
  const { rpc, archive } = health;
  const findSupportedChain: ChainAccess['findSupportedChain'] = (chainId) =>
    inForce.registry.chains.find(({ record }) => record.chainId === chainId && record.supported);
  const quorumOf: ChainAccess['quorumOf'] = (chainId) =>
    inForce.inputs.configured.get(chainId)?.quorum;
  const searchCreation = async (
    chain: RegisteredChain,
    address: Hex,
    signal: AbortSignal,
  ): Promise<Creation | undefined> => {
    const quorum = quorumOf(chain.record.chainId);
    const options = { signal, ...(quorum !== undefined && { quorum }) };
    return (await findCreationTransaction({ rpc, fetch, archive }, chain, address, options))
      .creation;
  };
  return {
    ...{ fetch, rpc, health, findSupportedChain, quorumOf },
    proxies: createProxyLookup({
      readProxy: (chain, address, options) => readProxy(rpc, chain, address, options),
      ...{ findSupportedChain, quorumOf },
    }),
    creations: createChainLookup({
      ...{ findSupportedChain, limits: LOOKUP_LIMITS },
      read: (chain, address: Hex) => searchCreation(chain, address, lookupDeadline()),
    }),
    logs: createChainLookup({
      ...{ findSupportedChain, limits: LOOKUP_LIMITS },
      read: (chain, query: LogQuery) => {
        const signal = lookupDeadline();
        const findCreationBlock = async () =>
          (await searchCreation(chain, query.address, signal))?.blockNumber;
        return readLogs(rpc, chain, query, findCreationBlock, signal);
      },
    }),
    explorer: openExplorerSources({ ...withoutOff(config.etherscan), fetch }),
    ...openExplorers(config, fetch),
    readDeployedCode: (chain, address, options) => readDeployedCode(rpc, chain, address, options),
    findCreation: (chain, address, options) =>
      findCreationTransaction({ rpc, fetch, archive }, chain, address, options),
  };
}

/** The explorer to import contracts from, without disabled URLs. */
function withoutOff({ url, clientKeyUrl, apiKey }: Config['etherscan']) {
  return {
    ...(url !== 'off' && { url }),
    ...(clientKeyUrl !== 'off' && { clientKeyUrl }),
    ...(apiKey && { apiKey }),
  };
}

/** The explorers that the operator configured to receive matches. */
function openExplorers(
  { externalVerifications: external }: Config,
  fetch: GuardedFetch,
): Pick<ChainAccess, 'explorerVerifier'> {
  const targets = EXPLORERS.flatMap((name): readonly (readonly [string, ExplorerTarget])[] => {
    const { url, apiKey } = external[name];
    return url === 'off' ? [] : [[name, { url, ...(apiKey && { apiKey }) }]];
  });
  if (targets.length === 0) return {};
  const chains = new Set(external.chains.map(Number));
  return { explorerVerifier: openExplorerVerifier(Object.fromEntries(targets), chains, fetch) };
}
