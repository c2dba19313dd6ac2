import { type ComponentChildren, type VNode } from 'preact';
import { type Page, type PageContext, type PageRequest } from '../page.ts';
import { PaperOrigin } from './paper-origin.tsx';

const SECTIONS = [
  ['overview', 'Overview', ''],
  ['chains', 'Chains', 'registry'],
  ['contracts', 'Contracts', 'contracts'],
  ['statistics', 'Statistics', 'statistics'],
  ['verify', 'Verify', 'verify'],
  ['counts', 'How counts are made', 'counts'],
] as const;

/** What stands around every view. */
export function Layout({
  page,
  request,
  context,
  children,
}: {
  readonly page: Page;
  readonly request: PageRequest;
  readonly context: PageContext;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="site">
        <a class="brand" href={context.site ?? context.base}>
          Fullmatch
        </a>
        {context.site !== undefined && <SitePages site={context.site} section={page.section} />}
        <PaperOrigin page={page} request={request} context={context} />
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer class="site">
        <p>
          fullmatch {context.version}
          {context.site !== undefined && (
            <>
              {' '}
              · <a href={`${context.site}docs`}>API</a>
            </>
          )}
          {context.repositoryUrl !== undefined && (
            <>
              {' '}
              · <a href={`${context.repositoryUrl}/`}>Repository host</a>
            </>
          )}
        </p>
      </footer>
    </>
  );
}

/** The navigation and the search, which lead to the pages of the API host. */
function SitePages({
  site,
  section: current,
}: {
  readonly site: string;
  readonly section: string | undefined;
}): VNode {
  return (
    <>
      <nav aria-label="Pages">
        <ul>
          {SECTIONS.map(([section, name, path]) => (
            <li key={section}>
              <a href={`${site}${path}`} aria-current={current === section ? 'page' : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form class="site-search" role="search" aria-label="Site" action={`${site}contracts`}>
        <label class="unseen" for="site-search">
          Search
        </label>
        <input
          id="site-search"
          type="search"
          name="q"
          placeholder="Address or name"
          maxLength={100}
          autoComplete="off"
          spellcheck={false}
        />
        <button type="submit">Find</button>
      </form>
    </>
  );
}
