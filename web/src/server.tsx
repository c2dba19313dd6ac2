import { type VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { type PrefetchedResponses, readGiven } from './prefetched-responses.ts';
import { documentTitle, type PageContext, type PageProblem, type ViewProps } from './page.ts';
import { findPage, loadView, NOT_FOUND, PAGES } from './pages.ts';
import { spellHiddenCharacters } from './contract/hidden-characters.ts';
import { Layout } from './parts/layout.tsx';

/** A page as rendered by the service. */
export interface RenderedPage {
  readonly status: number;
  /** Relative URL of the page to redirect to. */
  readonly location?: string;
  /** The complete document. */
  readonly html: string;
  /** Whether it is equal for every request in the same context. */
  readonly isStatic: boolean;
  /** Whether it shows only published data, so that a copy that is a second old may be served to anyone. */
  readonly isShared: boolean;
}

/** Files that the document of a view loads, relative to `assets/`. */
export interface ViewFiles {
  /** The entry script of the page. */
  readonly script: string;
  /** Modules that the script imports, so that a browser can preload them. */
  readonly modules: readonly string[];
  readonly styles: readonly string[];
}

/** The request: a path with a query, or the error to show instead. */
export interface PageLocation {
  readonly path: string;
  readonly query: string;
  readonly problem?: PageProblem;
}

/** Path templates of all pages of a host. */
export const templatesOf = (host: PageContext['host']): readonly string[] =>
  PAGES[host].flatMap(({ template = [] }) => template);

/** Renders a page from the available responses. Undefined if no page has the path. */
export async function render(
  { path, query, problem }: PageLocation,
  context: PageContext,
  given: PrefetchedResponses,
  filesOf: (view: string) => ViewFiles,
): Promise<RenderedPage | undefined> {
  const found =
    problem === undefined ? findPage(context.host, path) : { entry: NOT_FOUND, params: {} };
  const page = found && (await loadView(found.entry.view));
  if (found === undefined || page === undefined) return undefined;
  const { view } = found.entry;
  const request = { path, query, params: found.params, ...(problem && { problem }) };
  const data = await page.load(readGiven(given), request);
  const props = { data, request, context };
  const target = page.redirect?.(props);
  const isStatic = page.isStatic === true;
  const body = (
    <Layout page={page} request={request} context={context}>
      <page.View {...props} />
    </Layout>
  );
  const parts = {
    title: spellHiddenCharacters(documentTitle(page.title(props))),
    about: spellHiddenCharacters(page.about?.(props) ?? ABOUT),
    base: context.base,
    ...(context.apiUrl !== undefined && {
      card: `${context.apiUrl}/${page.card?.(props) ?? 'card/fullmatch.png'}`,
    }),
    files: filesOf(view),
    body,
    ...(!isStatic && { state: { view, props } }),
  };
  return {
    status: page.status?.(data) ?? 200,
    ...(target !== undefined && { status: 302, location: `${context.base}${target}` }),
    html: `<!doctype html>${renderToString(<Document {...parts} />)}`,
    isStatic,
    isShared: page.isShared === true,
  };
}

/** Description of a page without its own. */
const ABOUT =
  'Smart contracts whose sources were compiled here and compared with the code on chain byte for byte.';

/** A document. Without state no script hydrates it. */
function Document({
  title,
  about,
  card,
  base,
  files,
  body,
  state,
}: {
  readonly title: string;
  readonly about: string;
  /** The page's image for link previews. */
  readonly card?: string;
  readonly base: string;
  readonly files: ViewFiles;
  readonly body: VNode;
  readonly state?: { readonly view: string; readonly props: ViewProps<unknown> };
}): VNode {
  const asset = (file: string): string => `${base}assets/${file}`;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        <meta name="description" content={about} />
        <meta property="og:site_name" content="Fullmatch" />
        <meta property="og:type" content="website" />
        <meta property="og:title" content={title} />
        <meta property="og:description" content={about} />
        {card !== undefined && (
          <>
            <meta property="og:image" content={card} />
            <meta property="og:image:width" content="1200" />
            <meta property="og:image:height" content="630" />
            <meta name="twitter:card" content="summary_large_image" />
          </>
        )}
        <link rel="icon" type="image/svg+xml" href={`${base}favicon.ico`} />
        {files.styles.map((file) => (
          <link rel="stylesheet" href={asset(file)} />
        ))}
        {state !== undefined && (
          <>
            {files.modules.map((file) => (
              <link rel="modulepreload" href={asset(file)} />
            ))}
            <script type="module" src={asset(files.script)} />
          </>
        )}
      </head>
      <body>
        {state === undefined ? (
          body
        ) : (
          <>
            <div id="page">{body}</div>
            <script
              type="application/json"
              id="state"
              // A closing tag in the data would end its element.
              dangerouslySetInnerHTML={{
                __html: JSON.stringify(state).replaceAll('<', String.raw`\u003c`),
              }}
            />
          </>
        )}
      </body>
    </html>
  );
}
