// Tracks which endpoints of a chain respond, and how well, within a daily budget of requests.
import { type GuardedFetch } from '../../lib/guarded-fetch.ts';
import { type Logger, silentLogger } from '../../log.ts';
import { localServiceChains } from '../registry/default-service-chains.ts';
import { type Endpoint, type RegisteredChain } from '../registry/registered-chain.ts';
import { type ChainRegistry } from '../registry/registry.ts';
import { createRpcClient, type EndpointProber, type RpcClient } from '../rpc/rpc-client.ts';
import { type ChainState } from './chain-state.ts';
import { HealthBook, probedEndpoints } from './health-book.ts';
import {
  type ChainHealthReport,
  type HealthSummary,
  reportChain,
  reportUnprobed,
  summariseReports,
} from './health-report.ts';
import { type Capability } from './probe-endpoint.ts';
import { DailyBudget } from './probe-schedule.ts';
import { Prober, type ProberOptions } from './prober.ts';

/** Source of the chains to probe. */
export interface HealthDependencies {
  readonly registry: () => ChainRegistry;
  /** Inputs of the registry. */
  readonly inputs: () => {
    readonly configured: ReadonlyMap<number, unknown>;
    readonly options: { readonly localChains: boolean };
  };
}

/** Health of chains and their endpoints, as seen by this process. */
export interface ChainHealth {
  /** Health report of a chain; state `not_probed` with the reason if it is not probed. */
  report(chain: RegisteredChain): ChainHealthReport;
  /** Reports of every chain that the operator chose to watch, ascending by id. */
  reports(): readonly ChainHealthReport[];
  /** Number of these chains in each state. */
  summary(): HealthSummary;
  /** States of all probed chains by id, including lightly probed ones. */
  states(): ReadonlyMap<number, ChainState>;
  /** An RPC client that tries endpoints known to be down last. */
  readonly rpc: RpcClient;
  /** Whether an endpoint keeps the states of old blocks. */
  readonly archive: (chainId: number, endpoint: Endpoint) => Capability;
  /** Takes one request from the host's daily probe budget; returns false if it is used up. */
  takeRequest(host: string): boolean;
  /** Ends running probes. */
  close(): Promise<void>;
}

export interface ChainHealthOptions extends Omit<ProberOptions, 'everyMs'> {
  /** Whether to probe at all. */
  readonly enabled: boolean;
  /** Whether to probe supported chains that are not configured, lightly. */
  readonly supportedChains: boolean;
  /** Mean seconds between two probes of an endpoint. */
  readonly everySeconds: number;
}

/** Chains that the operator chose to watch: configured chains, and the local chains if enabled. */
export function findWatchedChains({
  registry,
  inputs,
}: HealthDependencies): readonly RegisteredChain[] {
  return registry().chains.filter((chain) => isWatched(chain, inputs()));
}

function isWatched(
  { record: { chainId } }: RegisteredChain,
  { configured, options }: ReturnType<HealthDependencies['inputs']>,
): boolean {
  return configured.has(chainId) || (options.localChains && localServiceChains.has(chainId));
}

/** Creates the RPC client of a fetch, and watches the endpoints of the probed chains with it until it is closed. */
export function watchEndpoints(
  fetch: GuardedFetch,
  parts: HealthDependencies,
  options: ChainHealthOptions,
  log: Logger,
): ChainHealth {
  const { enabled, everySeconds, supportedChains } = options;
  const book = new HealthBook((chain) => !isWatched(chain, parts.inputs()));
  const isProbed = (chain: RegisteredChain): boolean =>
    (supportedChains && chain.record.supported) || isWatched(chain, parts.inputs());
  const rpc = createRpcClient({
    fetch,
    preference: (chainId, endpoint) => book.rank(chainId, endpoint),
  });
  const { now = Date.now } = options;
  const budget = new DailyBudget(options.dailyBudget);
  const prober = new Prober(
    {
      ...{ rpc, book, budget },
      chains: () =>
        parts.registry().chains.filter((chain) => isProbed(chain) && hasEndpoints(chain)),
      configuration: () => parts.inputs().configured,
    },
    { ...options, everyMs: everySeconds * 1000 },
    log,
  );
  if (enabled) prober.start();
  const report = (chain: RegisteredChain): ChainHealthReport => {
    if (!enabled) return reportUnprobed(chain, 'probing_disabled');
    prober.refreshChains();
    const tracked = book.chain(chain.record.chainId);
    if (tracked !== undefined) return reportChain(tracked);
    if (isProbed(chain)) return reportUnprobed(chain, 'no_endpoints');
    return reportUnprobed(chain, supportedChains ? 'not_supported' : 'not_configured');
  };
  const reports = (): readonly ChainHealthReport[] =>
    book.chains.filter(({ isLight }) => !isLight).map(reportChain);
  return {
    report,
    reports,
    summary: () => summariseReports(reports()),
    states: () => new Map(book.chains.map(({ chain, state }) => [chain.record.chainId, state])),
    rpc,
    archive: (chainId, endpoint) => book.find(chainId, endpoint)?.archive ?? 'unknown',
    takeRequest: (host) => budget.take(host, now()),
    close: () => prober.close(),
  };
}

function hasEndpoints(chain: RegisteredChain): boolean {
  return probedEndpoints(chain).length > 0;
}

/** Probes chains at once until the state of each endpoint is settled, and returns the reports. */
export async function probeChains(
  rpc: EndpointProber,
  chains: readonly RegisteredChain[],
  options: { readonly deadlineMs?: number; readonly signal?: AbortSignal },
): Promise<readonly ChainHealthReport[]> {
  const book = new HealthBook();
  const asked = chains.filter(hasEndpoints);
  const { deadlineMs, signal } = options;
  const prober = new Prober(
    { rpc, chains: () => asked, configuration: () => undefined, book },
    { everyMs: 0, dailyBudget: Infinity, ...(deadlineMs === undefined ? {} : { deadlineMs }) },
    // Its reports are the result.
    silentLogger,
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
