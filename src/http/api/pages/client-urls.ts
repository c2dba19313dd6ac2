import { type HostUrls } from '../../http-dependencies.ts';
import { type PageHost } from './server-bundle.ts';

/** Host names that resolve to the client's own machine, or to nothing, on other machines. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  ...['127.0.0.1', '[::1]', 'localhost', '0.0.0.0', '[::]'],
]);

/**
 * Returns the URLs of both hosts for the links on a page. If no public URLs are configured, the links use the
 * host name that the client used, such as the machine's address in its network. A request on another port
 * came through a proxy, which may have set any host name, so it changes nothing.
 */
export function urlsForClient(requestUrl: string, urls: HostUrls, host: PageHost): HostUrls {
  const requestedUrl = new URL(requestUrl);
  const own = host === 'operator' ? undefined : urls[host];
  if (own === undefined || OWN_NAMES.has(requestedUrl.hostname)) return urls;
  const isDirect = OWN_NAMES.has(new URL(own).hostname) && new URL(own).port === requestedUrl.port;
  if (!isDirect) return urls;
  const seen = Object.entries(urls as Readonly<Record<string, string>>).map(([name, url]) => {
    const { protocol, hostname, port } = new URL(url);
    if (!OWN_NAMES.has(hostname)) return [name, url];
    return [name, `${protocol}//${requestedUrl.hostname}${port === '' ? '' : `:${port}`}`];
  });
  return Object.fromEntries(seen) as HostUrls;
}
