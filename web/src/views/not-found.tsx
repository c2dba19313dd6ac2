import { type VNode } from 'preact';
import { definePage, type ViewProps } from '../page.ts';
import { SafeText } from '../parts/safe-text.tsx';

/** What people see where nothing is. */
export const page = definePage<undefined>({
  title: () => 'Not found · Fullmatch',
  load: () => Promise.resolve(undefined),
  status: () => 404,
  View: NotFoundView,
});

function NotFoundView({
  request: { problem },
  context: { base, site },
}: ViewProps<undefined>): VNode {
  return (
    <div class="prose">
      <h1>Not found</h1>
      {problem !== undefined && (
        <p>
          <SafeText text={problem.detail} /> <code>{problem.code}</code>
        </p>
      )}
      <p>
        <a href={base}>The first page of this host</a>
        {site !== undefined && (
          <>
            {' '}
            · <a href={`${site}contracts`}>All contracts</a> ·{' '}
            <a href={`${site}docs`}>What this service answers</a>
          </>
        )}
      </p>
    </div>
  );
}
