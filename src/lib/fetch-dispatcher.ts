import { Agent, type buildConnector } from 'undici';
import { normalizeHostPort } from './address-guard.ts';
import { createGuardedConnector, type Resolve } from './guarded-connector.ts';

const DEFAULT_STEP_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 4000;

/** Connection options, apart from the list of hosts. */
export interface DispatcherOptions {
  /**
   * Timeout of each step in milliseconds: connecting, waiting for headers, waiting for the next bytes.
   * Default 10,000.
   */
  readonly stepTimeoutMs?: number;
  /** Maximum number of connections to one host. Default 8. */
  readonly connectionsPerHost?: number;
  /** PEM; replaces Node's trusted certificate authorities. */
  readonly certificateAuthorities?: string;
  /** Resolves a host name; the system's resolver by default. */
  readonly resolve?: Resolve;
}

/** Connections with one list of allowed private hosts. */
export interface Dispatcher {
  readonly allowed: ReadonlySet<string>;
  readonly connect: buildConnector.connector;
  readonly agent: Agent;
}

/**
 * Creates the connections of a guarded fetch.
 * @throws TypeError if an entry is not `host:port`
 */
export function openDispatcher(
  options: DispatcherOptions,
  hostPorts: readonly string[],
): Dispatcher {
  const { resolve, certificateAuthorities } = options;
  const stepTimeoutMs = options.stepTimeoutMs ?? DEFAULT_STEP_TIMEOUT_MS;
  const allowed = new Set(hostPorts.map(normalizeHostPort));
  const connect = createGuardedConnector({
    allowed,
    connectTimeoutMs: stepTimeoutMs,
    ...(resolve === undefined ? {} : { resolve }),
    ...(certificateAuthorities === undefined ? {} : { certificateAuthorities }),
  });
  const agent = new Agent({
    connections: options.connectionsPerHost ?? 8,
    pipelining: 1,
    headersTimeout: stepTimeoutMs,
    bodyTimeout: stepTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect,
  });
  return { allowed, connect, agent };
}
