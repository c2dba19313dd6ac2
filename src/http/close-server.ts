import { once } from 'node:events';
import { type Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { type Connections } from './connections.ts';

/**
 * Closes a server without failing requests on open connections: the port closes first, and a connection
 * closes after a response with `Connection: close` or once it has been idle for a moment. Resolves when no
 * connection is left; `onCut` receives the number of connections that were cut after `timeoutMs`.
 */
export async function closeServer(
  server: Server,
  connections: Connections,
  timeoutMs: number,
  onCut: (connections: number) => void,
): Promise<void> {
  const closed = once(server, 'close');
  // The close method of http.Server would also destroy idle connections, including any unread request on
  // them.
  NetServer.prototype.close.call(server);
  connections.stop();
  const timer = setTimeout(() => {
    const cut = connections.destroyAll();
    if (cut > 0) onCut(cut);
  }, timeoutMs);
  await closed;
  clearTimeout(timer);
  connections.endSweeps();
  // Stops Node's request timeout checks.
  server.close();
}
