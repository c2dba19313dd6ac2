import { type Client } from 'pg';
import { messageOf } from '../errors.ts';
import { type Logger } from '../log.ts';
import { connectClient, type ConnectionTarget } from './connection-target.ts';
import { mapDatabaseError } from './sqlstate.ts';
import { wait } from './wait.ts';

const CHANNEL = /^[a-z_][a-z0-9_]{0,62}$/;
const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 5_000;
/** Behind a pooler without a session there are no notifications; waiting callers poll at this interval. */
const POLL_EVERY_MS = 500;

/**
 * Listens on a channel with a dedicated connection, which is reopened when it breaks. `onNotify` is called
 * with the payload of each notification, and without one after each reconnection, as notifications may have
 * been missed. Resolves when listening; the returned function stops it.
 * @throws FullmatchError `database_unreachable`, `database_error` if the first connection fails
 */
async function listenOn(
  target: ConnectionTarget,
  channel: string,
  onNotify: (payload?: string) => void,
  log: Logger,
): Promise<() => Promise<void>> {
  if (!CHANNEL.test(channel)) throw new TypeError(`not a channel name: ${channel}`);
  const stopping = new AbortController();
  let client: Client | undefined;

  const notify = guard(channel, onNotify, log);

  const connect = async (): Promise<void> => {
    const fresh = await connectClient(target);
    fresh.on('notification', ({ payload }) => notify(payload));
    try {
      await fresh.query(`LISTEN ${channel}`);
    } catch (error) {
      await fresh.end();
      throw mapDatabaseError(error, { statement: `listen ${channel}` });
    }
    if (stopping.signal.aborted) {
      await fresh.end();
      return;
    }
    client = fresh;
    fresh.once('end', () => {
      client = undefined;
      if (!stopping.signal.aborted) void reconnect();
    });
  };

  const reconnect = async (): Promise<void> => {
    log.warn({ channel }, 'the listening connection broke; reconnecting');
    for (
      let delay = FIRST_DELAY_MS;
      !stopping.signal.aborted;
      delay = Math.min(2 * delay, LONGEST_DELAY_MS)
    ) {
      try {
        await connect();
        if (!stopping.signal.aborted) notify();
        return;
      } catch (error) {
        log.debug({ channel, error: messageOf(error) }, 'listening failed');
        await wait(delay, stopping.signal);
      }
    }
  };

  await connect();
  return async () => {
    stopping.abort();
    await client?.end();
  };
}

/** Listens like {@link listenOn}, or behind a pooler calls `onNotify` at intervals. */
export async function listenOrPoll(
  ...given: Parameters<typeof listenOn>
): Promise<() => Promise<void>> {
  const [target, channel, onNotify, log] = given;
  return target.isPooled === true ? notifyRegularly(channel, onNotify, log) : listenOn(...given);
}

/** Without notifications: calls `onNotify` at intervals, without a payload. The returned function stops it. */
function notifyRegularly(
  channel: string,
  onNotify: (payload?: string) => void,
  log: Logger,
): () => Promise<void> {
  const notify = guard(channel, onNotify, log);
  const timer = setInterval(() => notify(), POLL_EVERY_MS);
  return async () => clearInterval(timer);
}

function guard(
  channel: string,
  onNotify: (payload?: string) => void,
  log: Logger,
): (payload?: string) => void {
  return (payload) => {
    try {
      onNotify(payload);
    } catch (error) {
      log.error({ channel, error: messageOf(error) }, 'a listener failed');
    }
  };
}
