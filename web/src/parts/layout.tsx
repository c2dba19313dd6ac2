import { type ComponentChildren, type VNode } from 'preact';
import { type Page, type PageContext, type PageRequest } from '../page.ts';
import { wordsOf } from '../search/search-words.ts';
import { PaperOrigin } from './paper-origin.tsx';
import { MatchShape } from './match-mark.tsx';
import { SiteSearch } from './site-search.tsx';

const SECTIONS = [
  ['chains', 'Chains', 'registry'],
  ['contracts', 'Contracts', 'contracts'],
  ['statistics', 'Statistics', 'statistics'],
  ['verify', 'Verify', 'verify'],
  ['docs', 'API', 'docs'],
] as const;

/** Frame of every view. */
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
        <div class="site-row">
          <a class="brand" href={context.site ?? context.base}>
            <MatchShape kind="full" size={20} />
            Fullmatch
          </a>
          {context.site !== undefined && (
            <SitePages site={context.site} {...{ page, request, context }} />
          )}
          <PaperOrigin page={page} request={request} context={context} />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {context.isUnlisted === true && (
          <div class="notice" role="note">
            <p>
              Unlisted: only clients with a token can see contracts verified here. They appear in no
              list, count or event.
            </p>
          </div>
        )}
        {children}
      </main>
      <footer class="site">
        <div class="site-row">
          <span>fullmatch {context.version}</span>
          {context.site !== undefined && (
            <>
              <a href={`${context.site}counts`}>Methodology</a>
              <a href={`${context.site}docs`}>API</a>
              <a href={`${context.site}health`}>Health</a>
            </>
          )}
          {context.repositoryUrl !== undefined && (
            <a href={`${context.repositoryUrl}/`}>Repository host</a>
          )}
        </div>
      </footer>
    </>
  );
}

/** Navigation and search, which link to the pages of the API host. */
function SitePages({
  site,
  page: { section: current, hasSearch = false },
  request,
  context,
}: {
  readonly site: string;
  readonly context: PageContext;
  readonly page: Page;
  readonly request: PageRequest;
}): VNode {
  return (
    <>
      {!hasSearch && (
        <SiteSearch
          site={site}
          isOwnHost={context.host === 'api'}
          words={current === 'search' ? wordsOf(request.query) : ''}
        />
      )}
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
    </>
  );
}
