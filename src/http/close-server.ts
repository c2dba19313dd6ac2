import { type Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import { type AcceptedPort } from './acceptor/acceptor.ts';
import { type Connections } from './connections.ts';
import { type RequestGate } from './request-gate.ts';

/** How long nothing may have come before a port closes, and how long that is waited for, in milliseconds. */
const QUIET_MS = 25;
const QUIET_WAIT_MS = 250;
/** How long a port may take to close, however soon connections are to be cut, in milliseconds. */
const PORT_TIMEOUT_MIN_MS = 1_000;

/**
 * Closes a server so that no request fails. The port closes first: new clients are refused, which is safe to repeat
 * elsewhere, while clients that are served stay until an answer says `Connection: close`. Resolves when nothing is
 * open; `onCut` is told of connections that were cut because `timeoutMs` had passed.
 *
 * `http.Server.close` alone is not enough: it destroys every connection that waits for its next request, and with it
 * requests that have arrived but not been read.
 */
export async function closeServer(
  server: Server,
  parts: {
    readonly accepted: AcceptedPort;
    readonly connections: Connections;
  },
  timeoutMs: number,
  onCut: (connections: number) => void,
): Promise<void> {
  const { accepted, connections } = parts;
  const { gate } = connections;
  const ends = performance.now() + timeoutMs;
  gate.shut();
  await quietMoment(gate);
  const portTimeoutMs = Math.max(timeoutMs, PORT_TIMEOUT_MIN_MS);
  await Promise.race([accepted.close(), wait(portTimeoutMs, undefined, { ref: false })]);
  const drained = connections.drain(Math.max(0, ends - performance.now()));
  gate.open();
  await drained;
  if (connections.size > 0) onCut(connections.destroyAll());
  // Ends Node's timeout checks. The port is closed already, which is told only to a callback.
  server.close();
}

/**
 * Waits until nothing has come for a while.
 *
 * The kernel completes connections by itself and queues them until they are accepted; whatever is in the queue when
 * the port closes is reset. While requests are held back, clients wait for their answers instead of connecting anew,
 * so soon nothing comes, and the queue is empty. Where clients come without waiting for each other, the chance that
 * one comes in the turn of the event loop that closes the port remains; a balancer that has learnt from /readyz to
 * go elsewhere closes that gap.
 */
async function quietMoment(gate: RequestGate): Promise<void> {
  const start = performance.now();
  let [arrivals, since] = [gate.arrivals, start];
  for (;;) {
    await wait(1);
    // The port closes after the turn's look at the sockets, which accepts what is in the queue.
    await new Promise((resolve) => setImmediate(resolve));
    const now = performance.now();
    if (gate.arrivals !== arrivals) [arrivals, since] = [gate.arrivals, now];
    else if (now - since >= QUIET_MS) return;
    if (now - start >= QUIET_WAIT_MS) return;
  }
}
