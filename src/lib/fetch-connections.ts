import { type Agent, type buildConnector } from 'undici';
import { normalizeHostPort } from './address-guard.ts';
import { type Resolve } from './guarded-connector.ts';

const DEFAULT_STEP_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 4000;
const CONNECTIONS_PER_HOST = 8;
const CLOSED = { code: 'CLOSED' };

/** Connection options, apart from the list of hosts. */
export interface ConnectionOptions {
  /**
   * Timeout of each step in milliseconds: connecting, waiting for headers, waiting for the next bytes.
   * Default 10,000.
   */
  readonly stepTimeoutMs?: number;
  /** PEM; replaces Node's trusted certificate authorities. */
  readonly certificateAuthorities?: string;
  /** Resolves a host name; the system's resolver by default. */
  readonly resolve?: Resolve;
}

interface Opened {
  readonly connect: buildConnector.connector;
  readonly agent: Agent;
}

/**
 * The outgoing connections of a guarded fetch with one list of allowed private hosts. The first request loads
 * undici.
 */
export class OutgoingConnections {
  readonly #options: ConnectionOptions;
  #opened: Promise<Opened> | undefined;
  #destroyed = false;
  readonly allowed: ReadonlySet<string>;

  /** @throws TypeError if an entry is not `host:port` */
  constructor(options: ConnectionOptions, hostPorts: readonly string[]) {
    this.#options = options;
    this.allowed = new Set(hostPorts.map(normalizeHostPort));
  }

  /** Not async: who asks first continues first, so a request begun before {@link close} is sent. */
  open(): Promise<Opened> {
    if (this.#destroyed) return Promise.reject(Object.assign(new Error('closed'), CLOSED));
    return (this.#opened ??= this.#open());
  }

  /** Closes the connections when their requests have finished. */
  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.agent.close();
  }

  /** Closes all connections; running requests fail, and so do later ones. */
  async destroy(): Promise<void> {
    this.#destroyed = true;
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.agent.destroy();
  }

  async #open(): Promise<Opened> {
    try {
      return await openAgent(this.#options, this.allowed);
    } catch (error) {
      // The next request tries again, for example after there were too many open files.
      this.#opened = undefined;
      throw error;
    }
  }
}

async function openAgent(
  options: ConnectionOptions,
  allowed: ReadonlySet<string>,
): Promise<Opened> {
  const [{ Agent }, { createGuardedConnector }] = await Promise.all([
    import('undici'),
    import('./guarded-connector.ts'),
  ]);
  const { resolve, certificateAuthorities } = options;
  const stepTimeoutMs = options.stepTimeoutMs ?? DEFAULT_STEP_TIMEOUT_MS;
  const connect = createGuardedConnector({
    allowed,
    connectTimeoutMs: stepTimeoutMs,
    ...(resolve === undefined ? {} : { resolve }),
    ...(certificateAuthorities === undefined ? {} : { certificateAuthorities }),
  });
  const agent = new Agent({
    connections: CONNECTIONS_PER_HOST,
    pipelining: 1,
    headersTimeout: stepTimeoutMs,
    bodyTimeout: stepTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect,
  });
  return { connect, agent };
}
