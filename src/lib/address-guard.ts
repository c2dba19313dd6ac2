import ipaddr from 'ipaddr.js';

/**
 * `public`, or why connections to an address are not allowed: a range of ipaddr.js, or one of the kinds in
 * this file.
 */
type AddressKind = string;

/**
 * Public unicast addresses that do not belong to public hosts. 168.63.129.16 is Azure's wire server: inside a
 * virtual machine it responds like the link-local metadata services of other clouds.
 */
const CLOUD_ADDRESSES: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Global unicast addresses (IANA): everything outside is special. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
/** Deprecated (RFC 4291), but some systems still route ::a.b.c.d to IPv4. */
const IPV4_COMPATIBLE: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('::'), 96];
/** The well-known prefix of NAT64 (RFC 6052): on IPv6-only networks, names of IPv4 hosts resolve to it. */
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96];
/** ISATAP (RFC 5214) carries an IPv4 address in the second half, after one of these words. */
const ISATAP_WORDS: ReadonlySet<string> = new Set(['0:5efe', '200:5efe']);

function judgeIPv4(address: ipaddr.IPv4): AddressKind {
  const range = address.range();
  if (range !== 'unicast') return range;
  return CLOUD_ADDRESSES.has(address.toString()) ? 'cloud' : 'public';
}

/** Returns the IPv4 address that an IPv6 address reaches, if it is mapped or a NAT64 address: its last 32 bits. */
function embeddedIPv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const isEmbedded = address.isIPv4MappedAddress() || address.match(NAT64);
  return isEmbedded ? new ipaddr.IPv4(address.toByteArray().slice(12)) : undefined;
}

function judgeIPv6(address: ipaddr.IPv6): AddressKind {
  const embedded = embeddedIPv4(address);
  if (embedded !== undefined) return judgeIPv4(embedded);
  const range = address.range();
  // Includes 6to4 and Teredo: both carry an IPv4 address and both are deprecated, so they are rejected
  // completely.
  if (range !== 'unicast') return range;
  if (address.match(IPV4_COMPATIBLE)) return 'ipv4Compatible';
  if (!address.match(GLOBAL_UNICAST)) return 'special';
  const words = address.parts.slice(4, 6).map((word) => word.toString(16));
  return ISATAP_WORDS.has(words.join(':')) ? 'isatap' : 'public';
}

/**
 * Classifies an IP address as reported by a socket: `public` for a host of the public internet, otherwise its
 * kind (`loopback`, `private`, `linkLocal`, `carrierGradeNat`, `uniqueLocal` and others). An IPv4 address
 * inside IPv6 is classified as IPv4 if it is the one that is reached. Text that is not an address is
 * `unreadable`.
 */
export function classifyAddress(text: string): AddressKind {
  let address: ipaddr.IPv4 | ipaddr.IPv6;
  try {
    address = ipaddr.parse(text);
  } catch {
    return 'unreadable';
  }
  if (address instanceof ipaddr.IPv4) {
    // ipaddr.js also parses short, octal and hexadecimal forms, which a socket never reports.
    return ipaddr.IPv4.isValidFourPartDecimal(text) ? judgeIPv4(address) : 'unreadable';
  }
  return judgeIPv6(address);
}

/** Returns the address of a URL's host if it is an IP literal, without brackets; undefined for a name. */
export function literalAddress(hostname: string): string | undefined {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return ipaddr.IPv4.isValidFourPartDecimal(hostname) ? hostname : undefined;
}

/** Returns the IPv4 address that an IPv6 address reaches, if any; otherwise the text unchanged. */
export function unwrapEmbeddedIPv4(text: string): string {
  if (!ipaddr.IPv6.isValid(text)) return text;
  return (embeddedIPv4(ipaddr.IPv6.parse(text)) ?? text).toString();
}

/** Returns `host:port` of a URL, always with the port, as in the allow list. */
export function hostPortOf(url: URL): string {
  const secure = url.protocol === 'https:' || url.protocol === 'wss:';
  const port = url.port === '' ? (secure ? '443' : '80') : url.port;
  return `${url.hostname}:${port}`;
}

/**
 * Normalizes an entry of the operator's allow list to the form of {@link hostPortOf}.
 * @throws TypeError if it is not `host:port` with a port from 1 to 65535; IPv6 addresses must be in brackets.
 */
export function normalizeHostPort(entry: string): string {
  const [, host, port] = /^(\[[0-9a-f:.]+\]|[^\s:/?#@[\]\\]+):([0-9]{1,5})$/i.exec(entry) ?? [];
  const number = Number(port);
  if (host === undefined || number < 1 || number > 65_535 || !URL.canParse(`http://${host}/`)) {
    throw new TypeError('an allowed private address is host:port, such as 127.0.0.1:8545');
  }
  return `${new URL(`http://${host}/`).hostname}:${number}`;
}

/**
 * Ports of other services, to prevent requests from talking to them (the blocked ports of the Fetch standard,
 * https://fetch.spec.whatwg.org/#port-blocking).
 */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
]);

/** Returns whether a URL has a port that belongs to a non-web service. */
export function isBlockedPort(url: URL): boolean {
  return url.port !== '' && BLOCKED_PORTS.has(Number(url.port));
}
