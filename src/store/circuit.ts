import { setMaxListeners } from 'node:events';
import { type ClientConfig } from 'pg';
import { cancelThroughPooler } from './cancel-request.ts';
import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import { connectClient, type ConnectionTarget } from './connection-target.ts';
import { mapDatabaseError, SQLSTATE, sqlstateOf } from './sqlstate.ts';
import { wait } from './wait.ts';

const PROBE_EVERY_MS = 500;
/** Connecting and one statement together take less than half of the time that a request has for the database. */
const PROBE_TIMEOUTS: ClientConfig = { connectionTimeoutMillis: 900, query_timeout: 900 };

/**
 * Distinguishes a database that is down or hangs from a slow statement, by a connection of its own. While the
 * database does not respond, statements with a timeout fail at once, and the circuit probes until it
 * responds.
 */
export class Circuit {
  readonly #target: ConnectionTarget;
  readonly #log: Logger;
  readonly #closing: AbortSignal;
  #probing = false;
  #answeredAt = -Infinity;
  #hung = manyListeners(new AbortController());
  #openSince: Date | undefined;

  constructor(target: ConnectionTarget, log: Logger, closing: AbortSignal) {
    this.#target = target;
    this.#log = log;
    this.#closing = closing;
  }

  /** Time since which the database has not responded; undefined while it does. */
  get openSince(): Date | undefined {
    return this.#openSince;
  }

  /** Aborted with the error when the database is found not to respond, for waiting callers. */
  get hung(): AbortSignal {
    return this.#hung.signal;
  }

  /**
   * Checks whether the database responds, because a caller has waited for long or a connection broke. Never
   * rejects.
   */
  async suspect(): Promise<void> {
    if (this.#probing) return;
    this.#probing = true;
    try {
      // A busy database has many slow statements, and must not get a probe for each of them.
      const pauseMs = this.#answeredAt + PROBE_EVERY_MS - performance.now();
      if (pauseMs > 0) await wait(pauseMs, this.#closing);
      for (let probes = 1; !this.#closing.aborted; probes += 1) {
        const state = await this.#probe();
        if (state === 'answers') {
          this.#answeredAt = performance.now();
          break;
        }
        // A restarting server is away for a moment; a hanging one has already had its time.
        if (this.#openSince === undefined && (state === 'hangs' || probes > 1)) {
          this.#openSince = new Date();
          this.#hung.abort(databaseNotResponding(this.#target));
          this.#log.error({ event: 'database_hangs' }, 'the database does not answer');
        }
        await wait(PROBE_EVERY_MS, this.#closing);
      }
      if (this.#openSince !== undefined && !this.#closing.aborted)
        this.#log.info({ event: 'database_answers' }, 'the database answers again');
    } finally {
      this.#openSince = undefined;
      if (this.#hung.signal.aborted) this.#hung = manyListeners(new AbortController());
      this.#probing = false;
    }
  }

  /** Cancels what the server was doing for an abandoned connection. Never rejects. */
  async cancelStatement(connection: object): Promise<void> {
    if (this.#target.isPooled === true) {
      await cancelThroughPooler(connection);
      return;
    }
    // The driver stores the server's process id there, but omits it from its types.
    const { processID } = connection as { readonly processID?: number };
    try {
      const client = await connectClient(this.#target, PROBE_TIMEOUTS);
      await client
        .query('SELECT pg_cancel_backend($1)', [processID])
        .finally(() => void client.end().catch(() => undefined));
    } catch {
      // It ends at its own timeout or with its server.
    }
  }

  async #probe(): Promise<'answers' | 'hangs' | 'is_away'> {
    try {
      const client = await connectClient(this.#target, PROBE_TIMEOUTS);
      try {
        await client.query('SELECT 1');
        return 'answers';
      } finally {
        // A hanging server does not close connections either.
        void client.end().catch(() => undefined);
      }
    } catch (error) {
      if (isTimeout(error)) return 'hangs';
      // A rejected password, or too many connections, is a response: callers receive that error themselves.
      const { code } = mapDatabaseError(error, {});
      const isAnswer =
        code !== 'database_unreachable' || sqlstateOf(error) === SQLSTATE.tooManyConnections;
      return isAnswer ? 'answers' : 'is_away';
    }
  }
}

/** Error of a statement that timed out. */
export function databaseNotResponding(target: ConnectionTarget): FullmatchError {
  return new FullmatchError(
    'database_unreachable',
    `PostgreSQL at ${target.describe()} does not respond in time; the service continues as soon as it does.`,
    { details: { server: target.describe() } },
  );
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && /timeout/i.test(error.message);
}

/** Each use of the database adds a listener while it lasts; Node warns above ten. */
function manyListeners(controller: AbortController): AbortController {
  setMaxListeners(0, controller.signal);
  return controller;
}
