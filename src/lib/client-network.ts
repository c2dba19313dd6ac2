import ipaddr from 'ipaddr.js';
import { memoize } from './memoize.ts';

/** Prefix lengths of the networks that usually belong to one holder: a /24 of IPv4, a /48 of IPv6. */
const NETWORK_BITS = { ipv4: 24, ipv6: 48 } as const;
const CLIENTS_KNOWN = 1_000;

/**
 * Ranges that are not routed on the public internet; inside a company or machine, each address is a separate
 * client.
 */
const LOCAL_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'linkLocal',
  'carrierGradeNat',
  'uniqueLocal',
]);

/**
 * Returns the network of a client or an endpoint, so that a holder of many addresses does not multiply its
 * share or its votes.
 * @param client the name from {@link file://./../http/client-of.ts}: an IPv4 or IPv6 address, or an IPv6 /64.
 * A local address or any other text is a network of its own.
 */
export const networkOf = memoize(CLIENTS_KNOWN, (client: string): string => {
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
