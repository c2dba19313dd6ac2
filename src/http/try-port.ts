import { once } from 'node:events';
import { createServer } from 'node:net';
import { FullmatchError, messageOf } from '../errors.ts';

/** An address and a port of it. */
interface Place {
  readonly host: string;
  readonly port: number;
}

/** Opens a port for an instant, and tells nobody who comes. @throws FullmatchError `port_unavailable` */
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

/** Why a port could not be opened, and what helps. */
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
      return `${where} is taken by another process; end that process or configure another port (0 picks a free one).`;
    case 'EACCES':
      return `${where} may not be used by this user; configure a port from 1024 up.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${where} cannot be used, since this machine has no such address; configure another host, such as 127.0.0.1.`;
    default:
      return `${where} cannot be used: ${messageOf(error)}; configure another host or port.`;
  }
}
