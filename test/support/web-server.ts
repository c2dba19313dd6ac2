import { createServer, type RequestListener } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Socket } from 'node:net';

/** A test's server on an address of this machine that counts its connections. */
export interface WebServer {
  readonly port: number;
  /** `host:port`, in the format of the allow list. */
  readonly hostPort: string;
  readonly url: string;
  /** Connections so far, including those closed before the first byte. */
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

/** A server with a request listener. */
export function startWebServer(listener: RequestListener, host?: string): Promise<WebServer> {
  return watch(createServer(listener), host);
}

/** A server that writes arbitrary data, HTTP or not, to each connection once its first bytes have arrived. */
export function startSocketServer(
  speak: (socket: Socket, first: Buffer) => void,
): Promise<WebServer> {
  return watch(
    createSocketServer((socket) => {
      socket.once('data', (first: Buffer) => speak(socket, first));
    }),
  );
}
