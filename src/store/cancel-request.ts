import net from 'node:net';

const CANCEL_REQUEST_CODE = 80_877_102;
const REQUEST_BYTES = 16;
const TIMEOUT_MS = 900;

interface Cancelled {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
}

/**
 * Asks a pooler to cancel the statement of one of its clients with a cancel request (PostgreSQL's manual,
 * 54.7), since only the pooler knows the server's process id. The protocol has no response; resolves when the
 * pooler accepted it or after a second, and never rejects.
 */
export async function cancelThroughPooler(client: object): Promise<void> {
  // The driver stores both for its client, but omits them from its types.
  const { processID, secretKey, host, port } = client as Partial<Cancelled>;
  if (processID === undefined || secretKey === undefined) return;
  if (host === undefined || port === undefined) return;
  const request = Buffer.alloc(REQUEST_BYTES);
  request.writeInt32BE(REQUEST_BYTES, 0);
  request.writeInt32BE(CANCEL_REQUEST_CODE, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  const place = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  await new Promise<void>((resolve) => {
    const socket = net.connect(place, () => socket.write(request));
    const timer = setTimeout(() => socket.destroy(), TIMEOUT_MS);
    // The pooler closes the connection after reading the request.
    socket.resume().on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
