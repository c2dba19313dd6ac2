import { type IncomingHttpHeaders } from 'node:http';

/** Hops of a request, starting with the client, as listed in the headers; entries may be invalid addresses. */
export interface ForwardedHops {
  /** Hops from X-Forwarded-For. */
  readonly forwarded?: readonly string[];
  /** Hops from Forwarded (RFC 7239). */
  readonly standard?: readonly string[];
}

/** No deployment chains more proxies than this; more distant hops are ignored. */
const HOPS_MAX = 100;

/** Longest header that is read; longer ones are ignored. */
const HEADER_CHARACTERS_MAX = 4_096;

/** Reads both forwarding headers. A missing or overlong header is undefined. */
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

/** Joins a repeated header into one list, in the order of its lines (RFC 9110, 5.3). */
function joined(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header.join(', ') : header;
  return text === undefined || text.length > HEADER_CHARACTERS_MAX ? undefined : text;
}

/** Returns the `for` value of each element of a Forwarded header; empty if an element has none or an invalid one. */
function parseForwarded(header: string): readonly string[] {
  return splitUnquoted(header, ',').map((element) => {
    const pairs = splitUnquoted(element, ';').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return { name: name.trim().toLowerCase(), value: value.join('=').trim() };
    });
    const [first, ...more] = pairs.filter(({ name }) => name === 'for');
    // A repeated parameter makes an element invalid (RFC 7239, 4).
    return first === undefined || more.length > 0 ? '' : withoutPort(unquote(first.value));
  });
}

/** Splits a text at separators outside quoted strings (RFC 9110, 5.6.4). Reads each character once. */
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

/**
 * Removes the port from an address: `192.0.2.1:4711`, `[2001:db8::1]:4711`. An IPv6 address without brackets
 * has no port.
 */
function withoutPort(hop: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::[^:]*)?|([^:]*):[^:]*)$/.exec(hop) ?? [];
  return bracketed ?? plain ?? hop;
}
