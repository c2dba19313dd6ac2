import ipaddr from 'ipaddr.js';
import { recalled } from './recalled.ts';

/** The networks that one holder usually has whole: a /24 of IPv4, a /48 of IPv6. */
const NETWORK_BITS = { ipv4: 24, ipv6: 48 } as const;
const CLIENTS_KNOWN = 1_000;

/** Addresses that the public Internet does not route: in a company's or a machine's network each is somebody else. */
const LOCAL_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'linkLocal',
  'carrierGradeNat',
  'uniqueLocal',
]);

/**
 * The network of a client or an endpoint, for shares and votes that many addresses of one holder do not multiply.
 * @param client as {@link file://./../http/client-of.ts} names it: an IPv4 or IPv6 address, or an IPv6 /64. A local address
 * and any other text are networks of their own.
 */
export const networkOf = recalled(CLIENTS_KNOWN, (client: string): string => {
  if (ipaddr.IPv4.isValidFourPartDecimal(client)) {
    if (LOCAL_RANGES.has(ipaddr.IPv4.parse(client).range())) return client;
    const network = ipaddr.IPv4.networkAddressFromCIDR(`${client}/${NETWORK_BITS.ipv4}`);
    return `${network.toString()}/${NETWORK_BITS.ipv4}`;
  }
  const [address = ''] = client.split('/');
  if (!ipaddr.IPv6.isValid(address)) return client;
  if (LOCAL_RANGES.has(ipaddr.IPv6.parse(address).range())) return client;
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address}/${NETWORK_BITS.ipv6}`);
  return `${network.toString()}/${NETWORK_BITS.ipv6}`;
});
