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
        <a class="brand" href={context.base}>
          Fullmatch
        </a>
        <nav aria-label="Pages">
          <ul>
            {SECTIONS.map(([section, name, path]) => (
              <li key={section}>
                <a
                  href={`${context.base}${path}`}
                  aria-current={page.section === section ? 'page' : undefined}
                >
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <form
          class="site-search"
          role="search"
          aria-label="Site"
          action={`${context.base}contracts`}
        >
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
        <PaperOrigin request={request} context={context} />
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer class="site">
        <p>
          fullmatch {context.version} · <a href={`${context.base}docs`}>HTTP interface</a>
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
