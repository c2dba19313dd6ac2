import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';
import { FullmatchError } from '../../../errors.ts';
import { type Answer, BASE_HEADERS, HTML_TYPE, makeAnswer, REVALIDATED } from '../../answer.ts';
import { chooseCoding, parseAcceptEncoding } from '../../../lib/content-coding.ts';
import { Html, html } from '../../html.ts';
import { type HostUrls } from '../../host-dependencies.ts';
import { type RecordAnswers } from '../../records/record-answers.ts';
import { Turns } from '../../records/turns.ts';
import { type RenderedPage, type WebBundle } from './web-bundle.ts';

/** What the pages are served with. */
interface PageParts {
  readonly bundle: WebBundle;
  readonly version: string;
  readonly urls: () => HostUrls;
  /** The prefixes at which the API host answers beside its root. */
  readonly prefixes: readonly string[];
  /** Answers a request to the API host, without a network: the pages read the public interface and nothing else. */
  readonly ask: (path: string) => Response | Promise<Response>;
  readonly answers: Pick<RecordAnswers, 'hold' | 'inTurn' | 'ownPass'>;
}

/** Nothing is loaded from elsewhere, and nothing that is written into a page runs. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
} as const;

const compressGzip = promisify(gzip);
/** A page is shorter in gzip; by how much, nobody needs to know before. */
const LENGTHS = { identity: 2, gzip: 1 } as const;

/** Pages that are made at once: they wait for the database, and are rendered one after the other. */
const AT_ONCE = 8;
/** Pages that wait for that: of all clients, and of one client or its network. */
const WAITING = { total: 256, perClient: 32 };

const A_YEAR = 'public, max-age=31536000, immutable';
const ASSET_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The pages of the API host and the files that they load. They are no part of the OpenAPI document. */
export function addPageRoutes(routes: OpenAPIHono, parts: PageParts): void {
  const turns = new Turns(AT_ONCE, WAITING);
  for (const template of parts.bundle.templates) {
    routes.get(template.replaceAll(/\{(\w+)\}/g, ':$1'), (c) => answerPage(parts, turns, c));
  }
  routes.get('/assets/:file', (c) =>
    answerAsset(parts.bundle, c.req.param('file'), c.req.header('accept-encoding')),
  );
}

/** @throws FullmatchError route_not_found, too_many_client_answers, too_many_answers */
async function answerPage(parts: PageParts, turns: Turns, c: Context): Promise<Answer> {
  const { answers } = parts;
  const accepted = parseAcceptEncoding(c.req.header('accept-encoding'));
  const isPacked = chooseCoding(accepted, LENGTHS) === 'gzip';
  const { page, bytes } = await answers.inTurn(
    c,
    async () => {
      const { page, text } = await renderPage(parts, c);
      return { page, bytes: isPacked ? await compressGzip(text) : text };
    },
    turns,
  );
  if (c.req.raw.method !== 'HEAD') answers.hold(c, bytes);
  return makeAnswer(bytes, {
    status: page.status,
    headers: {
      ...BASE_HEADERS,
      ...PAGE_HEADERS,
      ...(page.location !== undefined && { location: page.location }),
      vary: 'Accept-Encoding',
      ...(isPacked && { 'content-encoding': 'gzip' }),
      'content-type': HTML_TYPE,
      'content-length': String(bytes.byteLength),
      'cache-control': REVALIDATED,
    },
  });
}

async function renderPage(
  { bundle, version, urls, prefixes, ask, answers }: PageParts,
  c: Context,
): Promise<{ readonly page: RenderedPage; readonly text: Buffer<ArrayBuffer> }> {
  const { pathname, search } = new URL(c.req.url);
  const prefix =
    prefixes.find((each) => pathname === each || pathname.startsWith(`${each}/`)) ?? '';
  const below = pathname.slice(prefix.length);
  const { api, repository } = urls();
  const base = baseOf(below, prefix);
  const page = await bundle.render(
    { path: below.replace(/(?<=.)\/$/, '') || '/', query: search.slice(1) },
    {
      base,
      version,
      ...(api !== undefined && { apiUrl: api }),
      ...(repository !== undefined && { repositoryUrl: repository }),
      now: new Date().toISOString(),
    },
    async (path) => {
      const response = await ask(`/${path}`);
      await answers.ownPass();
      return response;
    },
  );
  if (page === undefined) throw notFound(pathname);
  return { page, text: Buffer.from(renderDocument(page, bundle, base)) };
}

/** From a page to the root of the API host. */
function baseOf(below: string, prefix: string): string {
  // At the prefix itself, without a slash behind it, relative links begin one step above.
  if (below === '') return `./${prefix.slice(prefix.lastIndexOf('/') + 1)}/`;
  return '../'.repeat(below.split('/').length - 2) || './';
}

function renderDocument(page: RenderedPage, bundle: WebBundle, base: string): string {
  const { styles = [], modules = [] } = bundle.files.get(page.view) ?? {};
  const links = [
    ...styles.map((file) => html`<link rel="stylesheet" href="${base}assets/${file}" />`),
    ...modules.map((file) => html`<link rel="modulepreload" href="${base}assets/${file}" />`),
  ];
  // A closing tag in the data would end the element that holds it.
  const state = page.state.replaceAll('<', String.raw`\u003c`);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${page.title}</title>
        <link rel="icon" type="image/svg+xml" href="${base}favicon.ico" />
        ${links}
        <script type="module" src="${base}assets/${bundle.script}"></script>
      </head>
      <body>
        <div id="page">${new Html(page.body)}</div>
        <script type="application/json" id="state">
          ${new Html(state)}
        </script>
      </body>
    </html> `.text;
}

/** In gzip where the client takes it; a client that refuses both codings gets the file as it is. */
function answerAsset({ assets }: WebBundle, name: string, accepted: string | undefined): Answer {
  const asset = assets.get(name);
  if (asset === undefined) throw notFound(`/assets/${name}`);
  const lengths = { identity: asset.identity.byteLength, gzip: asset.gzip.byteLength };
  const coding =
    chooseCoding(parseAcceptEncoding(accepted), lengths) === 'gzip' ? 'gzip' : 'identity';
  const bytes = asset[coding];
  return makeAnswer(bytes, {
    status: 200,
    headers: {
      ...BASE_HEADERS,
      vary: 'Accept-Encoding',
      ...(coding === 'gzip' && { 'content-encoding': coding }),
      'content-type':
        ASSET_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
      'content-length': String(bytes.byteLength),
      'cache-control': A_YEAR,
    },
  });
}

function notFound(path: string): FullmatchError {
  return new FullmatchError(
    'route_not_found',
    `Nothing answers at ${path}; /docs lists what does.`,
  );
}
