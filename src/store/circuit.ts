import { setMaxListeners } from 'node:events';
import { type ClientConfig } from 'pg';
import { cancelThroughPooler } from './cancel-request.ts';
import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import { connectClient, type ConnectionTarget } from './connection-target.ts';
import { mapDatabaseError, SQLSTATE, sqlstateOf } from './sqlstate.ts';
import { wait } from './wait.ts';

const PROBE_EVERY_MS = 500;
/** Connecting and a statement together stay below the half of the time that a request has for the database. */
const PROBE_TIMEOUTS: ClientConfig = { connectionTimeoutMillis: 900, query_timeout: 900 };

/**
 * Tells a database that is down or hangs from a statement that is slow, through a connection of its own. While the
 * database does not answer, statements with a time limit fail at once, and the circuit keeps probing until it does.
 */
export class Circuit {
  readonly #target: ConnectionTarget;
  readonly #log: Logger;
  readonly #closing: AbortSignal;
  #probing = false;
  #hung = manyListeners(new AbortController());
  #openSince: Date | undefined;

  constructor(target: ConnectionTarget, log: Logger, closing: AbortSignal) {
    this.#target = target;
    this.#log = log;
    this.#closing = closing;
  }

  /** Since when the database has not answered; undefined while it does. */
  get openSince(): Date | undefined {
    return this.#openSince;
  }

  /** Aborted with the error, for those who wait, when the database is found not to answer. */
  get hung(): AbortSignal {
    return this.#hung.signal;
  }

  /** Checks whether the database answers, because somebody has waited for long or a connection broke. Never rejects. */
  async suspect(): Promise<void> {
    if (this.#probing) return;
    this.#probing = true;
    try {
      for (let probes = 1; !this.#closing.aborted; probes += 1) {
        const state = await this.#probe();
        if (state === 'answers') break;
        // A server that restarts is away for a moment; one that hangs has been given its time.
        if (this.#openSince === undefined && (state === 'hangs' || probes > 1)) {
          this.#openSince = new Date();
          this.#hung.abort(notAnswering(this.#target));
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

  /** Has the server end what a connection that was given up was doing. Never rejects. */
  async cancelStatement(connection: object): Promise<void> {
    if (this.#target.isPooled === true) {
      await cancelThroughPooler(connection);
      return;
    }
    // The driver keeps the server's process id there, and its types leave it out.
    const { processID } = connection as { readonly processID?: number };
    try {
      const client = await connectClient(this.#target, PROBE_TIMEOUTS);
      await client
        .query('SELECT pg_cancel_backend($1)', [processID])
        .finally(() => void client.end().catch(() => undefined));
    } catch {
      // It ends by its own limit, or with its server.
    }
  }

  async #probe(): Promise<'answers' | 'hangs' | 'is_away'> {
    try {
      const client = await connectClient(this.#target, PROBE_TIMEOUTS);
      try {
        await client.query('SELECT 1');
        return 'answers';
      } finally {
        // A server that hangs does not take leave either.
        void client.end().catch(() => undefined);
      }
    } catch (error) {
      if (isTimeout(error)) return 'hangs';
      // A password that is refused, or too many connections, is an answer: callers get it themselves.
      const { code } = mapDatabaseError(error, {});
      const isAnswer =
        code !== 'database_unreachable' || sqlstateOf(error) === SQLSTATE.tooManyConnections;
      return isAnswer ? 'answers' : 'is_away';
    }
  }
}

/** The error of a statement whose time is over. */
export function notAnswering(target: ConnectionTarget): FullmatchError {
  return new FullmatchError(
    'database_unreachable',
    `PostgreSQL at ${target.describe()} does not respond in time; the service continues as soon as it does.`,
    { details: { server: target.describe() } },
  );
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && /timeout/i.test(error.message);
}

/** Each use of the database listens while it lasts, and Node warns of more than ten. */
function manyListeners(controller: AbortController): AbortController {
  setMaxListeners(0, controller.signal);
  return controller;
}
