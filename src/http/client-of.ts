import { type IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { readForwarded } from './forwarded.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Networks of proxies whose word is taken for whom they ask. */
export type TrustedProxies = readonly (readonly [Address, number])[];

/** A client of IPv6 usually has all addresses of a /64. */
const CLIENT_PREFIX_BITS = 64;
const IPV4_IN_IPV6_BITS = 96;

/** The networks of `http.trustedProxies`: addresses and CIDR networks. @throws Error for anything else. */
export function parseTrustedProxies(texts: readonly string[]): TrustedProxies {
  return texts.map((text) => {
    const [address, bits] = text.includes('/')
      ? ipaddr.parseCIDR(text)
      : ([ipaddr.parse(text), Infinity] as const);
    if (address instanceof ipaddr.IPv4) return [address, Math.min(bits, 32)] as const;
    if (address.isIPv4MappedAddress() && bits >= IPV4_IN_IPV6_BITS) {
      return [address.toIPv4Address(), Math.min(bits - IPV4_IN_IPV6_BITS, 32)] as const;
    }
    return [address, Math.min(bits, 128)] as const;
  });
}

/** In the place of what the Node adapter gives: the client for which the service asks itself. */
export interface AskedFor {
  readonly askedFor: string;
}

/** Whether the service asks itself, for a page. */
export function isAskedForPage(env: unknown): boolean {
  return (env as Partial<AskedFor> | undefined)?.askedFor !== undefined;
}

/**
 * Whom a request comes from, for bounds on clients: the address of the connection, of an IPv6 one its /64. Where a
 * trusted proxy has made the connection, the address that it names, and so on through all proxies that are trusted.
 * @param env what the Node adapter gives with a request, or {@link AskedFor}.
 */
export function clientOf(env: unknown, trusted: TrustedProxies): string {
  const { incoming, askedFor } = (env ?? {}) as { incoming?: IncomingMessage } & Partial<AskedFor>;
  if (askedFor !== undefined) return askedFor;
  const connected = parseAddress(incoming?.socket.remoteAddress ?? '');
  if (incoming === undefined || connected === undefined) return 'unknown';
  if (!isTrusted(connected, trusted)) return nameOf(connected);
  const known = forwardedFor.get(incoming);
  if (known?.trusted === trusted) return known.client;
  const client = forwardedClient(incoming, connected, trusted);
  forwardedFor.set(incoming, { trusted, client });
  return client;
}

/** For whom a trusted proxy asks, by request: pages and turns ask for it many times. */
const forwardedFor = new WeakMap<IncomingMessage, { trusted: TrustedProxies; client: string }>();

function forwardedClient(
  incoming: IncomingMessage,
  connected: Address,
  trusted: TrustedProxies,
): string {
  const { forwarded, standard } = readForwarded(incoming.headers);
  const said = [forwarded, standard]
    .filter((hops) => hops !== undefined)
    .map((hops) => nameOf(followHops(connected, hops, trusted)));
  const [name, other] = said;
  // A proxy writes one of the headers and lets the other through. Who sends the other to be taken for somebody else
  // gets the proxy's own name, together with all who try.
  return name === undefined || (other !== undefined && other !== name) ? nameOf(connected) : name;
}

/** The last hop that nobody trusted has named, from the right; where a hop has no address, who named it. */
function followHops(connected: Address, hops: readonly string[], trusted: TrustedProxies): Address {
  let client = connected;
  for (const hop of [...hops].reverse()) {
    const address = parseAddress(hop);
    if (address === undefined) return client;
    client = address;
    if (!isTrusted(client, trusted)) return client;
  }
  return client;
}

function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/%.*$/, '');
  // Other spellings of IPv4, such as 127.1 or 0x7f000001, are not what proxies write.
  const isAddress = ipaddr.IPv6.isValid(bare) || ipaddr.IPv4.isValidFourPartDecimal(bare);
  return isAddress ? ipaddr.process(bare) : undefined;
}

function isTrusted(address: Address, trusted: TrustedProxies): boolean {
  return trusted.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}

function nameOf(address: Address): string {
  if (address instanceof ipaddr.IPv4) return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${CLIENT_PREFIX_BITS}`);
  return `${network.toString()}/${CLIENT_PREFIX_BITS}`;
}
