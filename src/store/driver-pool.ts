import { Client, type ClientConfig, Pool, type PoolClient } from 'pg';
import { type ConnectionTarget } from './connection-target.ts';
import { isTransient, mapDatabaseError } from './sqlstate.ts';
import { wait } from './wait.ts';

/** How long a statement waits for a free connection before it fails as `database_unreachable`. */
const ACQUIRE_TIMEOUT_MS = 15_000;
/** How long a statement waits for a server that has just gone away; a restart takes less. */
const RESTART_TIMEOUT_MS = 3_000;
const FIRST_DELAY_MS = 25;
const LONGEST_DELAY_MS = 250;

interface Tried {
  readonly tried: ClientConfig;
}

/**
 * Creates the driver's pool.
 * @param turned collects the errors after which another server is tried at once
 * @param onBroken called when a connection broke
 */
export function openDriverPool(
  target: ConnectionTarget,
  size: number,
  turned: WeakSet<object>,
  onBroken: () => void,
): Pool {
  const note = (config: ClientConfig, error: Error): void => {
    if (target.turnFrom?.(config, error) === true) turned.add(error);
  };
  const pool = new Pool({
    max: size,
    connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS,
    // Asks the target for the configuration of each connection, regardless of the pool's own.
    Client: class extends Client {
      readonly tried: ClientConfig;

      constructor() {
        const config = target.clientConfig();
        super(config);
        this.tried = config;
      }

      override connect(): Promise<this>;
      override connect(callback: (error: Error) => void): void;
      override connect(callback?: (error: Error) => void): Promise<this> | void {
        if (callback === undefined) return super.connect().then(() => this);
        super.connect((error: Error) => {
          // The driver passes no client if it could not connect.
          if (error as Error | null) note(this.tried, error);
          callback(error);
        });
      }
    },
    // The driver awaits the promise, although its types do not say so.
    onConnect: (client): unknown =>
      (target.greet?.(client) ?? Promise.resolve()).catch((error: unknown) => {
        note((client as Partial<Tried>).tried ?? {}, error as Error);
        throw error;
      }),
  });
  pool.on('connect', (client) => {
    // The pool does not listen to a client while it is checked out, and an unhandled 'error' ends the
    // process.
    client.on('error', onBroken);
  });
  pool.on('error', () => undefined);
  return pool;
}

/**
 * Checks out a connection; waits if the server has just gone away.
 * @param onAway called after each failed connection
 * @throws as {@link mapDatabaseError}
 */
export async function acquireFrom(
  pool: Pool,
  {
    target,
    turned,
    closing,
    onAway,
  }: {
    readonly target: ConnectionTarget;
    readonly turned: WeakSet<object>;
    readonly closing: AbortController;
    readonly onAway: () => void;
  },
): Promise<PoolClient> {
  const giveUpAt = Date.now() + RESTART_TIMEOUT_MS;
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(2 * delay, LONGEST_DELAY_MS)) {
    try {
      return await pool.connect();
    } catch (error) {
      const mayPass = isTransient(error) || hasTurned(turned, error);
      const goOn = mayPass && !closing.signal.aborted && Date.now() + delay < giveUpAt;
      onAway();
      if (!goOn) throw mapDatabaseError(error, { server: target.describe() });
      await wait(delay, closing.signal);
    }
  }
}

/** Whether to try another server after the error, which the driver may have wrapped. */
function hasTurned(turned: WeakSet<object>, error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return turned.has(error) || (error.cause instanceof Error && turned.has(error.cause));
}
