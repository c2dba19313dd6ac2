import { once } from 'node:events';
import { type Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { type Connections } from './connections.ts';

/**
 * Closes a server so that no request fails on a connection that is open: the port closes first, while clients that are
 * served stay until an answer says `Connection: close` or they have been idle for a moment. Resolves when nothing is open;
 * `onCut` is told how many connections were cut because `timeoutMs` had passed.
 */
export async function closeServer(
  server: Server,
  connections: Connections,
  timeoutMs: number,
  onCut: (connections: number) => void,
): Promise<void> {
  const closed = once(server, 'close');
  // That of http.Server also destroys every idle connection at once, and with it a request that has not been read yet.
  NetServer.prototype.close.call(server);
  connections.stop();
  const timer = setTimeout(() => {
    const cut = connections.destroyAll();
    if (cut > 0) onCut(cut);
  }, timeoutMs);
  await closed;
  clearTimeout(timer);
  connections.endSweeps();
  // Ends Node's checks of the time that requests take.
  server.close();
}
