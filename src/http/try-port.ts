import { once } from 'node:events';
import { createServer } from 'node:net';
import { FullmatchError, messageOf } from '../errors.ts';

/** An address and a port. */
interface Place {
  readonly host: string;
  readonly port: number;
}

/**
 * Opens a port briefly to check that it is available; drops any connection.
 * @throws FullmatchError `port_unavailable`
 */
export async function tryPort({ host, port }: Place): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  try {
    const listening = once(server, 'listening');
    server.listen({ host, port, exclusive: true });
    await listening;
    const closed = once(server, 'close');
    server.close();
    await closed;
  } catch (error) {
    throw portUnavailable({ host, port }, error);
  }
}

/** Returns the error for a port that could not be opened, with a remedy. */
export function portUnavailable({ host, port }: Place, error: unknown): FullmatchError {
  const { code } = error as NodeJS.ErrnoException;
  const where = `Port ${port} on ${host}`;
  return new FullmatchError('port_unavailable', describeBindError(where, code, error), {
    cause: error,
    details: { host, port, ...(code === undefined ? {} : { reason: code }) },
  });
}

function describeBindError(where: string, code: string | undefined, error: unknown): string {
  switch (code) {
    case 'EADDRINUSE':
      return `${where} is already in use by another process: stop it, or choose another port, as with --api-port or --repository-port (0 picks a free one).`;
    case 'EACCES':
      return `${where} may not be used by this user; configure a port from 1024 up.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${where} cannot be used, since this machine has no such address; configure another host, such as 127.0.0.1.`;
    default:
      return `${where} cannot be used: ${messageOf(error)}; configure another host or port.`;
  }
}
