import { hostPortOf } from '../../../lib/address-guard.ts';

/** An IPFS or Swarm gateway. Its URL may contain a key in path or query, so only its origin is ever shown. */
export interface Gateway {
  /** `scheme://host:port`. */
  readonly origin: string;
  /** Returns the URL of a block (`raw`) or of all blocks below it (`car`). */
  ipfsUrl(cid: string, format: 'raw' | 'car'): string;
  /** Returns the URL of Swarm content: in Bee's API, or in that of the original Swarm client. */
  swarmUrl(hash: string, api: 'bytes' | 'bzz-raw'): string;
}

const WEB_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:']);

/** Removes trailing slashes from a path. */
function trimSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/**
 * Parses the base URL of a gateway: `https://ipfs.io`, with or without a path
 * (`https://example.org/gateway/ipfs/` too). Query parameters, such as a token, are sent with each request.
 * @throws TypeError, whose message contains nothing of the text
 */
export function parseGateway(text: string): Gateway {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !WEB_SCHEMES.has(url.protocol)) {
    throw new TypeError('the URL of a gateway begins with https:// or http://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('the URL of a gateway must not contain user information');
  }
  url.hash = '';
  const base = trimSlashes(url.pathname);
  const withPath = (path: string): URL => {
    const target = new URL(url);
    target.pathname = path;
    return target;
  };
  return {
    origin: `${url.protocol}//${hostPortOf(url)}`,
    ipfsUrl(cid, format) {
      const target = withPath(`${base.endsWith('/ipfs') ? base : `${base}/ipfs`}/${cid}`);
      target.searchParams.set('format', format);
      return target.href;
    },
    swarmUrl: (hash, api) =>
      withPath(api === 'bytes' ? `${base}/bytes/${hash}` : `${base}/bzz-raw:/${hash}/`).href,
  };
}
