import { type IncomingHttpHeaders } from 'node:http';

/** Who forwarded a request, from the client on, as the headers say it: addresses, or texts that are none. */
export interface ForwardedHops {
  /** Of X-Forwarded-For. */
  readonly forwarded?: readonly string[];
  /** Of Forwarded (RFC 7239). */
  readonly standard?: readonly string[];
}

/** More proxies than this stand nowhere in a row; hops further from us are not read. */
const HOPS_MAX = 100;

/** Nor do they write longer headers: of one nothing is read. */
const HEADER_CHARACTERS_MAX = 4_096;

/** Reads both headers in which proxies say for whom they ask. One that is absent or very long is undefined. */
export function readForwarded(headers: IncomingHttpHeaders): ForwardedHops {
  const forwarded = joined(headers['x-forwarded-for']);
  const standard = joined(headers.forwarded);
  return {
    ...(forwarded !== undefined && {
      forwarded: forwarded
        .split(',')
        .slice(-HOPS_MAX)
        .map((hop) => withoutPort(hop.trim())),
    }),
    ...(standard !== undefined && { standard: parseForwarded(standard).slice(-HOPS_MAX) }),
  };
}

/** A header that came several times is one list, in the order of the lines (RFC 9110, 5.3). */
function joined(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header.join(', ') : header;
  return text === undefined || text.length > HEADER_CHARACTERS_MAX ? undefined : text;
}

/** The `for` of each element of a Forwarded header; an empty text where an element has none, or none that is sound. */
function parseForwarded(header: string): readonly string[] {
  return splitUnquoted(header, ',').map((element) => {
    const pairs = splitUnquoted(element, ';').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return { name: name.trim().toLowerCase(), value: value.join('=').trim() };
    });
    const [first, ...more] = pairs.filter(({ name }) => name === 'for');
    // A parameter that stands twice makes an element unsound (RFC 7239, 4).
    return first === undefined || more.length > 0 ? '' : withoutPort(unquote(first.value));
  });
}

/** Cuts a text at a separator that does not stand in a quoted string (RFC 9110, 5.6.4). Reads each character once. */
function splitUnquoted(text: string, separator: ',' | ';'): string[] {
  const parts: string[] = [];
  let isQuoted = false;
  let begin = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isQuoted && character === '\\') at += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(begin, at));
      begin = at + 1;
    }
  }
  return [...parts, text.slice(begin)];
}

function unquote(value: string): string {
  const isQuoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"');
  return isQuoted ? value.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : value;
}

/** An address without its port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. An IPv6 address without brackets has none. */
function withoutPort(hop: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::[^:]*)?|([^:]*):[^:]*)$/.exec(hop) ?? [];
  return bracketed ?? plain ?? hop;
}
