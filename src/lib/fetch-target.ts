import { hostPortOf, isBlockedPort, classifyAddress, literalAddress } from './address-guard.ts';
import { FetchFault } from './fetch-fault.ts';

/** A request to one URL: the original one, or the one that follows a redirect. */
export interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

const WEB_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:']);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Headers that do not identify the client; only these follow a redirect to another origin. */
const HARMLESS_HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'user-agent']);

/** Returns `scheme://host:port`, the part of a URL that errors may contain. */
export function displayOrigin(url: URL): string {
  return `${url.protocol}//${hostPortOf(url)}`;
}

/**
 * Parses the URL of a request.
 * @throws FetchFault url_not_allowed, or scheme_not_allowed. The message contains nothing of an unparseable
 * text.
 */
export function parseTarget(
  text: string,
  {
    base,
    schemes = WEB_SCHEMES,
  }: { readonly base?: URL; readonly schemes?: ReadonlySet<string> } = {},
): URL {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    throw new FetchFault('url_not_allowed', 'A URL is not an absolute URL.');
  }
  if (!schemes.has(url.protocol)) {
    const named = [...schemes].map((scheme) => scheme.slice(0, -1)).join(' nor ');
    throw new FetchFault('scheme_not_allowed', `A URL is neither ${named}.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new FetchFault(
      'url_not_allowed',
      `The URL of ${displayOrigin(url)} contains user information (name:password@).`,
      { origin: displayOrigin(url) },
    );
  }
  return url;
}

/** Builds the fault for an address outside the public internet. `range` is its kind, such as `private`. */
export function addressNotAllowed(origin: string, range: string): FetchFault {
  return new FetchFault(
    'address_not_allowed',
    `${origin} is not on the public internet (${range}); only hosts allowed by the operator can be.`,
    { origin, range },
  );
}

/**
 * Rejects a URL that is visibly not a public web host: an IP literal in any spelling (the parser has
 * normalized it), or a port of another service. Names are checked when the connection is made.
 * @throws FetchFault address_not_allowed.
 */
export function assertPublicTarget(url: URL): void {
  if (isBlockedPort(url)) throw addressNotAllowed(displayOrigin(url), 'blockedPort');
  const literal = literalAddress(url.hostname);
  const kind = literal === undefined ? 'public' : classifyAddress(literal);
  if (kind !== 'public') throw addressNotAllowed(displayOrigin(url), kind);
}

/** Returns whether a response is a redirect. */
export function isRedirect(status: number, location: string | undefined): location is string {
  return REDIRECTS.has(status) && location !== undefined;
}

/**
 * Builds the request that follows a redirect. As in the Fetch standard, 303, and 301 and 302 after POST,
 * continue as GET without a body. To another origin only harmless headers are sent and no body, since both
 * may contain keys.
 * @throws FetchFault url_not_allowed or scheme_not_allowed, also for a redirect from https to http.
 */
export function followRedirect(hop: Hop, status: number, location: string): Hop {
  const url = parseTarget(location, { base: hop.url });
  const from = displayOrigin(hop.url);
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new FetchFault('scheme_not_allowed', `${from} redirects from https to http.`, {
      origin: displayOrigin(url),
    });
  }
  const sameOrigin = url.origin === hop.url.origin;
  const toGet = hop.method === 'POST' && (status <= 303 || !sameOrigin);
  const kept = Object.entries(hop.headers).filter(
    ([name]) => (sameOrigin || HARMLESS_HEADERS.has(name)) && !(toGet && name === 'content-type'),
  );
  const headers = Object.fromEntries(kept);
  if (toGet || hop.body === undefined) return { url, method: toGet ? 'GET' : hop.method, headers };
  return { url, method: hop.method, headers, body: hop.body };
}
