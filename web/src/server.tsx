import { renderToString } from 'preact-render-to-string';
import { createApi } from './api.ts';
import { type Outages } from './outages.ts';
import { type PageContext } from './page.ts';
import { findPage, PAGES } from './pages.ts';
import { spellHiddenCharacters } from './contract/hidden-characters.ts';
import { Layout } from './parts/layout.tsx';

/** A page as the service writes it: the parts that stand between the tags of its document. */
export interface RenderedPage {
  readonly status: number;
  /** What is asked for stands at this path, relative to the page. */
  readonly location?: string;
  readonly title: string;
  /** The name of the module in `views/`. */
  readonly view: string;
  readonly body: string;
  /** What the browser's bundle takes up again, as JSON. */
  readonly state: string;
}

/** The path templates of all pages. */
export const templates: readonly string[] = PAGES.map(({ template }) => template);

/** The routes answer in milliseconds, and a page comes without the part that does not. */
const TIMEOUT_MS = 3000;
/** Since when parts of pages fail in this process. */
const outages: Outages = new Map();

/** Writes a page. `ask` answers requests to the API host. Undefined where no page has the path. */
export async function render(
  { path, query }: { readonly path: string; readonly query: string },
  context: PageContext,
  ask: (path: string) => Promise<Response>,
): Promise<RenderedPage | undefined> {
  const found = await findPage(path, query);
  if (found === undefined) return undefined;
  const { page, request, view } = found;
  const data = await page.load(createApi(ask, { timeoutMs: TIMEOUT_MS, outages }), request);
  const props = { data, request, context };
  const target = page.redirect?.(props);
  return {
    status: page.status?.(data) ?? 200,
    ...(target !== undefined && { status: 302, location: `${context.base}${target}` }),
    title: spellHiddenCharacters(page.title(props)),
    view,
    body: renderToString(
      <Layout page={page} request={request} context={context}>
        <page.View {...props} />
      </Layout>,
    ),
    state: JSON.stringify(props),
  };
}
