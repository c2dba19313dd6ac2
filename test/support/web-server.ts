import { createServer, type RequestListener } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Socket } from 'node:net';

/** A server of a test on an address of this machine, which counts what reaches it. */
export interface WebServer {
  readonly port: number;
  /** `host:port`, as the allow list has it. */
  readonly hostPort: string;
  readonly url: string;
  /** Connections so far; one refused before the first byte counts too. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

function watch(
  server: ReturnType<typeof createSocketServer>,
  host = '127.0.0.1',
): Promise<WebServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  return new Promise((resolve) => {
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo;
      const hostPort = `${host}:${port}`;
      resolve({
        port,
        hostPort,
        url: `http://${hostPort}`,
        connections: () => connections,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            for (const socket of sockets) socket.destroy();
          }),
      });
    });
  });
}

/** A server that answers by a request listener. */
export function startWebServer(listener: RequestListener, host?: string): Promise<WebServer> {
  return watch(createServer(listener), host);
}

/** A server that says what the test wants, HTTP or not, to each connection whose first bytes have come. */
export function startSocketServer(
  speak: (socket: Socket, first: Buffer) => void,
): Promise<WebServer> {
  return watch(
    createSocketServer((socket) => {
      socket.once('data', (first: Buffer) => speak(socket, first));
    }),
  );
}
