import { type VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { formatTime } from '../format.ts';
import { type PageContext, type PageRequest } from '../page.ts';

/** Where a sheet of paper is from, and of when; on a screen the browser says it. */
export function PaperOrigin({
  request: { path, query },
  context: { host, apiUrl, repositoryUrl, now },
}: {
  readonly request: PageRequest;
  readonly context: PageContext;
}): VNode {
  const address = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    // Filters change the address of a page without loading it.
    const tell = (): void => address.current?.replaceChildren(location.href);
    addEventListener('beforeprint', tell);
    return () => removeEventListener('beforeprint', tell);
  }, []);
  return (
    <p class="paper-origin">
      <span
        ref={address}
      >{`${(host === 'api' ? apiUrl : repositoryUrl) ?? ''}${path}${query === '' ? '' : `?${query}`}`}</span>
      , {formatTime(now)}
    </p>
  );
}
