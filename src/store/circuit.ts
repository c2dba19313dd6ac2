import { setMaxListeners } from 'node:events';
import { type ClientConfig } from 'pg';
import { cancelThroughPooler } from './cancel-request.ts';
import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import { connectClient, type ConnectionTarget } from './connection-target.ts';
import { wait } from './wait.ts';

const PROBE_EVERY_MS = 500;
/** Connecting and a statement together stay below the half of the time that a request has for the database. */
const PROBE_TIMEOUTS: ClientConfig = { connectionTimeoutMillis: 900, query_timeout: 900 };

/**
 * Tells a database that hangs from a statement that is slow, through its own connection. While the database hangs,
 * statements with a time limit fail at once, and the circuit keeps asking until the database answers.
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

  /** Since when the database hangs. */
  get openSince(): Date | undefined {
    return this.#openSince;
  }

  /** Aborted with the error for those who wait when the database is found to hang. */
  get hung(): AbortSignal {
    return this.#hung.signal;
  }

  /** Looks whether the database answers, since somebody waits for long. Never rejects. */
  async suspect(): Promise<void> {
    if (this.#probing) return;
    this.#probing = true;
    try {
      while (!this.#closing.aborted && !(await this.#answers())) {
        if (this.#openSince === undefined) {
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

  async #answers(): Promise<boolean> {
    try {
      const client = await connectClient(this.#target, PROBE_TIMEOUTS);
      try {
        await client.query('SELECT 1');
        return true;
      } finally {
        // A server that hangs does not take leave either.
        void client.end().catch(() => undefined);
      }
    } catch (error) {
      // A server that is down says so at once, and its callers hear it themselves.
      return !isTimeout(error);
    }
  }
}

/** The error of a statement whose time is over. */
export function notAnswering(target: ConnectionTarget): FullmatchError {
  return new FullmatchError(
    'database_unreachable',
    `PostgreSQL at ${target.describe()} does not answer in time; the service goes on as soon as it does.`,
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
