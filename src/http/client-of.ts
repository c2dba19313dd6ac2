import { type IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

/** A client of IPv6 usually has all addresses of a /64. */
const PREFIX_GROUPS = 4;

/**
 * Whom a request comes from, for fair turns: the address of the connection, of an IPv6 one its /64. Behind a proxy all
 * clients are one; headers that name another are not believed.
 */
export function clientOf(env: unknown): string {
  const incoming = (env as { incoming?: IncomingMessage } | undefined)?.incoming;
  const address = incoming?.socket.remoteAddress ?? 'unknown';
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address.replace(/^::ffff:/, '');
  const [head = '', tail = ''] = address.split('::', 2);
  const groups = head.split(':').filter((group) => group !== '');
  const rest = tail.split(':').filter((group) => group !== '');
  const zeros = Array.from({ length: 8 - groups.length - rest.length }, () => '0');
  return `${[...groups, ...zeros, ...rest].slice(0, PREFIX_GROUPS).join(':')}::/64`;
}
