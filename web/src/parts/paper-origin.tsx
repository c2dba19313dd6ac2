import { type VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { formatTime } from '../format.ts';
import { type Page, type PageContext, type PageRequest } from '../page.ts';

/**
 * Source and time of a printed page; on a screen the browser shows them. A static page is equal for everyone,
 * so it shows nothing about the request.
 */
export function PaperOrigin({
  page: { isStatic = false },
  request: { path, query },
  context: { host, apiUrl, repositoryUrl, now },
}: {
  readonly page: Page;
  readonly request: PageRequest;
  readonly context: PageContext;
}): VNode {
  const address = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    // Filters change the URL of a page without loading it.
    const tell = (): void => address.current?.replaceChildren(location.href);
    addEventListener('beforeprint', tell);
    return () => removeEventListener('beforeprint', tell);
  }, []);
  const search = isStatic || query === '' ? '' : `?${query}`;
  return (
    <p class="paper-origin">
      <span
        ref={address}
      >{`${(host === 'api' ? apiUrl : repositoryUrl) ?? ''}${path}${search}`}</span>
      {!isStatic && `, ${formatTime(now)}`}
    </p>
  );
}
