import { hostPortOf } from '../../../lib/address-guard.ts';

/** A gateway of IPFS or Swarm. Its URL may hold a key in path or query, so only its origin is ever shown. */
export interface Gateway {
  /** `scheme://host:port`. */
  readonly origin: string;
  /** The URL of a block (`raw`) or of all blocks below it (`car`). */
  ipfsUrl(cid: string, format: 'raw' | 'car'): string;
  /** The URL of a content in Swarm: by Bee's interface, or by that of the first Swarm. */
  swarmUrl(hash: string, api: 'bytes' | 'bzz-raw'): string;
}

const WEB_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:']);

/** The path without slashes at its end. */
function trimSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/**
 * Reads the base URL of a gateway: `https://ipfs.io`, with or without a path (`https://example.org/gateway/ipfs/` too).
 * Parameters of the URL, such as a token, go along with each request.
 * @throws TypeError, whose message holds nothing of the text
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
