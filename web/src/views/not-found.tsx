import { type VNode } from 'preact';
import { definePage, type ViewProps } from '../page.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { SiteSearch } from '../parts/site-search.tsx';

/** What people see where nothing is. */
export const page = definePage<undefined>({
  title: () => 'Not found',
  load: () => Promise.resolve(undefined),
  status: () => 404,
  hasSearch: true,
  View: NotFoundView,
});

function NotFoundView({
  request: { problem },
  context: { base, site, host },
}: ViewProps<undefined>): VNode {
  return (
    <div class="prose">
      <h1>Not found</h1>
      {problem !== undefined && (
        <p>
          <SafeText text={problem.detail} /> <code>{problem.code}</code>
        </p>
      )}
      {site !== undefined && <SiteSearch site={site} isOwnHost={host === 'api'} words="" isLarge />}
      <p>
        <a href={base}>Start page</a>
        {site !== undefined && (
          <>
            {' '}
            · <a href={`${site}contracts`}>All contracts</a> ·{' '}
            <a href={`${site}registry`}>All chains</a> · <a href={`${site}docs`}>API</a>
          </>
        )}
      </p>
    </div>
  );
}
