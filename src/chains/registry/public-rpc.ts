import ipaddr from 'ipaddr.js';

/**
 * Why an RPC string may not be published (SPEC §1 rule 4). `white_space` white space or a control character
 * anywhere; `placeholder` an unfilled `${NAME}`, `{NAME}` or `<name>`; `unparsable` not an absolute URL that
 * every parser reads the same way; `bad_scheme` not http, https, ws or wss; `user_information` a name or
 * password before the host; `private_host` a host that is not on the public internet.
 */
export type RpcFault =
  'white_space' | 'placeholder' | 'unparsable' | 'bad_scheme' | 'user_information' | 'private_host';

// URL parsers silently strip these, so what they see is not what was written.
const WHITE_SPACE = /[\s\u0000-\u001f\u007f-\u009f\u200b-\u200d\u2060\ufeff]/u;

/** Pairs of braces or angle brackets; a URL contains neither unescaped, so they must be a template's. */
const PLACEHOLDER = /\{[^{}]*\}|<[^<>]*>/;
const ESCAPED_BRACKET = /%(?:7b|7d|3c|3e)/gi;

/** Scheme, two slashes, authority. `https:host` and `https:/host` are parsed differently by different parsers. */
const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i;

/** The normal form in which the URL parser returns an IPv4 address. */
const FOUR_NUMBERS = /^\d+\.\d+\.\d+\.\d+$/;

const RPC_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ws:', 'wss:']);

/**
 * Names that resolve only on a machine or in a private network (RFC 6761, RFC 6762, RFC 8375, ICANN's
 * .internal, and customary ones).
 */
const PRIVATE_SUFFIXES = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'home.arpa',
  'lan',
] as const;

/** Addresses that the internet routes to hosts (IANA: 2000::/3); everything else in IPv6 is special. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** Whether the string contains an unfilled placeholder, also with percent-encoded brackets. */
export function containsPlaceholder(text: string): boolean {
  const plain = text.replace(ESCAPED_BRACKET, (bracket) => decodeURIComponent(bracket));
  return PLACEHOLDER.test(plain);
}

function isPrivateAddress(text: string): boolean {
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address.range() !== 'unicast';
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().range() !== 'unicast';
  return address.range() !== 'unicast' || !address.match(GLOBAL_UNICAST);
}

/**
 * Whether a host, as returned by the WHATWG URL parser, is not on the public internet: a loopback, private,
 * link-local, shared (CGNAT), unique local, unspecified or otherwise special address, a name of a private
 * zone, or a single-label name. The parser has already normalised the spellings of an IPv4 address (octal,
 * hexadecimal, short, decimal, full-width).
 */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.+$/, '');
  if (host.startsWith('[')) return isPrivateAddress(host.slice(1, -1));
  if (FOUR_NUMBERS.test(host)) return isPrivateAddress(host);
  if (!host.includes('.')) return true;
  return PRIVATE_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`));
}

/**
 * Why an RPC string may not be published, or undefined if it may. A `local` chain, one on the operator's own
 * machine or network, may publish private hosts; nothing may publish user information or a placeholder.
 */
export function judgeRpc(text: string, options: { readonly local: boolean }): RpcFault | undefined {
  if (WHITE_SPACE.test(text)) return 'white_space';
  if (containsPlaceholder(text)) return 'placeholder';
  const absolute = ABSOLUTE.exec(text);
  // A backslash ends the host for some parsers and not for others: https://a.example\@127.0.0.1
  if (absolute === null || text.includes('\\')) return 'unparsable';
  if (!RPC_SCHEMES.has(`${(absolute[1] ?? '').toLowerCase()}:`)) return 'bad_scheme';
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'unparsable';
  }
  if (absolute[2]?.includes('@')) return 'user_information';
  if (!options.local && isPrivateHost(url.hostname)) return 'private_host';
  return undefined;
}

/** Equal for two spellings of one URL: case of the host, default port of the scheme, slash of an empty path. */
export function rpcKey(text: string): string {
  let href: string;
  try {
    ({ href } = new URL(text));
  } catch {
    return text;
  }
  const fragment = href.indexOf('#');
  return fragment < 0 ? href : href.slice(0, fragment);
}

/** Host and port of an endpoint that {@link judgeRpc} found publishable. */
export function hostOfRpc(url: string): string {
  return (ABSOLUTE.exec(url)?.[2] ?? '').toLowerCase();
}

/** Whether a configured endpoint can be used although it may not be published. */
export function isUsableRpc(fault: RpcFault | undefined): boolean {
  return fault === undefined || fault === 'user_information' || fault === 'private_host';
}
