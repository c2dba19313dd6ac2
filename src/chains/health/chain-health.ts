import { type Logger } from '../../log.ts';
import { localServiceChains } from '../default-service-chains.ts';
import { type RegisteredChain } from '../registered-chain.ts';
import { type ChainRegistry } from '../registry.ts';
import { type EndpointPreference } from '../rpc/endpoint-order.ts';
import { type EndpointProber } from '../rpc/rpc-client.ts';
import { HealthBook, probedEndpoints } from './health-book.ts';
import { type ChainHealthReport, reportChain, reportUnprobed } from './health-report.ts';
import { Prober, type ProberOptions } from './prober.ts';

/** Where the chains come from that are probed. */
export interface ProbedSources {
  readonly registry: () => ChainRegistry;
  /** What the registry is made of. */
  readonly inputs: () => {
    readonly configured: ReadonlyMap<number, unknown>;
    readonly options: { readonly localChains: boolean };
  };
}

/** The health of chains and their endpoints, as this process sees it. */
export interface ChainHealth {
  /** What is known of a chain; the state `not_probed`, with the reason, where it is not probed. */
  report(chain: RegisteredChain): ChainHealthReport;
  /** What is known of every probed chain, ascending by id. */
  reports(): readonly ChainHealthReport[];
  /** Puts endpoints that are known to be down last. */
  readonly preference: EndpointPreference;
  /** Begins to probe. */
  start(rpc: EndpointProber): void;
  /** Ends the probes under way. */
  close(): Promise<void>;
}

export interface ChainHealthOptions extends ProberOptions {
  /** Whether anything is probed. */
  readonly enabled: boolean;
}

/**
 * The chains that are probed: those that the operator configured, and the local chains where they are enabled. All
 * others have the endpoints of strangers, which are asked only when somebody verifies there.
 */
export function findProbedChains({ registry, inputs }: ProbedSources): readonly RegisteredChain[] {
  const { configured, options } = inputs();
  return registry().chains.filter(({ record: { chainId } }) => {
    return configured.has(chainId) || (options.localChains && localServiceChains.has(chainId));
  });
}

/** Watches the endpoints of the probed chains, once it is started. */
export function createChainHealth(
  sources: ProbedSources,
  options: ChainHealthOptions,
  log: Logger,
): ChainHealth {
  const book = new HealthBook();
  let prober: Prober | undefined;
  const chains = (): readonly RegisteredChain[] =>
    findProbedChains(sources).filter((chain) => probedEndpoints(chain).length > 0);
  const report = (chain: RegisteredChain): ChainHealthReport => {
    if (!options.enabled) return reportUnprobed(chain, 'probing_disabled');
    prober?.look();
    const tracked = book.chain(chain.record.chainId);
    if (tracked !== undefined) return reportChain(tracked);
    return reportUnprobed(
      chain,
      findProbedChains(sources).includes(chain) ? 'no_endpoints' : 'not_configured',
    );
  };
  return {
    report,
    reports: () => book.chains.map(reportChain),
    preference: (chainId, endpoint) => book.rank(chainId, endpoint),
    start(rpc) {
      if (!options.enabled) return;
      const configuration = (): unknown => sources.inputs().configured;
      prober = new Prober({ rpc, chains, configuration, book }, options, log);
      prober.start();
    },
    close: async () => prober?.close(),
  };
}

/** Probes chains at once until the state of each endpoint is settled, and tells what was found. */
export async function probeChains(
  rpc: EndpointProber,
  chains: readonly RegisteredChain[],
  options: { readonly deadlineMs?: number; readonly signal?: AbortSignal },
  log: Logger,
): Promise<readonly ChainHealthReport[]> {
  const book = new HealthBook();
  const asked = chains.filter((chain) => probedEndpoints(chain).length > 0);
  const { deadlineMs, signal } = options;
  const prober = new Prober(
    { rpc, chains: () => asked, configuration: () => undefined, book },
    { everyMs: 0, dailyBudget: Infinity, ...(deadlineMs === undefined ? {} : { deadlineMs }) },
    log,
  );
  const end = (): void => void prober.close();
  signal?.addEventListener('abort', end, { once: true });
  try {
    await prober.settle();
  } finally {
    signal?.removeEventListener('abort', end);
  }
  signal?.throwIfAborted();
  return chains.map((chain) => {
    const tracked = book.chain(chain.record.chainId);
    return tracked === undefined ? reportUnprobed(chain, 'no_endpoints') : reportChain(tracked);
  });
}
