import { type VNode } from 'preact';
import { definePage, type ViewProps } from '../page.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { SiteSearch } from '../parts/site-search.tsx';

/** Page for a missing resource. */
export const page = definePage<undefined>({
  title: () => 'Not found',
  load: () => Promise.resolve(undefined),
  status: () => 404,
  hasSearch: true,
  View: NotFoundView,
});

function NotFoundView({
  request: { path, problem },
  context: { base, site, host },
}: ViewProps<undefined>): VNode {
  return (
    <div class="prose">
      <h1>Not found</h1>
      {problem !== undefined &&
        (problem.code === 'route_not_found' ? (
          <p>
            There is no page at <SafeText text={path} />.
          </p>
        ) : (
          <p>
            <SafeText text={problem.detail} /> <code>{problem.code}</code>
          </p>
        ))}
      {site !== undefined && <SiteSearch site={site} isOwnHost={host === 'api'} words="" isLarge />}
      <p>
        <a href={base}>Home</a>
        {site !== undefined && (
          <>
            {' '}
            · <a href={`${site}contracts`}>Contracts</a> · <a href={`${site}registry`}>Chains</a> ·{' '}
            <a href={`${site}docs`}>API</a>
          </>
        )}
      </p>
    </div>
  );
}
