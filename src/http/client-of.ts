import { type IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { readForwarded } from './forwarded.ts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Networks of proxies whose forwarding headers are trusted. */
export type TrustedProxies = readonly (readonly [Address, number])[];

/** An IPv6 client usually owns a whole /64. */
const CLIENT_PREFIX_BITS = 64;
const IPV4_IN_IPV6_BITS = 96;

/**
 * Parses `http.trustedProxies`: addresses and CIDR networks.
 * @throws Error for anything else.
 */
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

/** Environment of an in-process request, which names the client on whose behalf the service sends it. */
export interface InProcessEnv {
  readonly askedFor: string;
}

/** Returns whether the service itself sent the request, to render a page. */
export function isPageRequest(env: unknown): boolean {
  return (env as Partial<InProcessEnv> | undefined)?.askedFor !== undefined;
}

/**
 * Names the client of a request, for per-client limits: the address of the connection, or its /64 for IPv6.
 * If the connection comes from a trusted proxy, it is the address that the proxy names, and so on through all
 * trusted proxies. The request's `env` is that of the Node adapter, or {@link InProcessEnv}.
 */
export type ClientOf = (c: { readonly env: unknown }) => string;

/** Creates the function that names the client of each request, for the proxies that are trusted. */
export function createClientOf(trusted: TrustedProxies): ClientOf {
  // Clients behind trusted proxies, cached by request because pages and admissions need them repeatedly.
  const forwardedFor = new WeakMap<IncomingMessage, string>();
  return ({ env }) => {
    const { incoming, askedFor } = (env ?? {}) as {
      incoming?: IncomingMessage;
    } & Partial<InProcessEnv>;
    if (askedFor !== undefined) return askedFor;
    const connected = parseAddress(incoming?.socket.remoteAddress ?? '');
    if (incoming === undefined || connected === undefined) return 'unknown';
    if (!isTrusted(connected, trusted)) return nameOf(connected);
    const known = forwardedFor.get(incoming);
    if (known !== undefined) return known;
    const client = forwardedClient(incoming, connected, trusted);
    forwardedFor.set(incoming, client);
    return client;
  };
}

function forwardedClient(
  incoming: IncomingMessage,
  connected: Address,
  trusted: TrustedProxies,
): string {
  const { forwarded, standard } = readForwarded(incoming.headers);
  const clients = [forwarded, standard]
    .filter((hops) => hops !== undefined)
    .map((hops) => nameOf(followHops(connected, hops, trusted)));
  const [name, other] = clients;
  // A proxy writes one of the headers and forwards the other unchanged. A client that forges the other one is
  // counted as the proxy itself, together with everyone else who tries.
  return name === undefined || (other !== undefined && other !== name) ? nameOf(connected) : name;
}

/**
 * Follows the hops from the right to the first untrusted address; if a hop is not an address, the client is
 * the hop that named it.
 */
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
  // Proxies do not write other spellings of IPv4, such as 127.1 or 0x7f000001.
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
