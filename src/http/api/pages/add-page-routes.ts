import { promisify } from 'node:util';
import { Admission } from '../../../lib/admission.ts';
import { gzip } from 'node:zlib';
import { type OpenAPIHono } from '@hono/zod-openapi';
import { type Context } from 'hono';
import { accepts } from 'hono/accepts';
import { FullmatchError } from '../../../errors.ts';
import {
  type Answer,
  BASE_HEADERS,
  HTML_TYPE,
  makeResponse,
  NOT_STORED,
  type ResponseHeaders,
  REVALIDATED,
} from '../../answer.ts';
import { chooseCoding, parseAcceptEncoding } from '../../../lib/content-coding.ts';
import { type Problem } from '../../error-response.ts';
import { type VerifyAccess } from '../../access-gate.ts';
import { isPageRequest } from '../../client-of.ts';
import { type HostUrls } from '../../http-dependencies.ts';
import { urlsForClient } from './client-urls.ts';
import { PageCache, type CachedPage } from './page-cache.ts';
import { renderPage, type PageDependencies } from './render-page.ts';
import { renderPlainProblemPage } from './plain-problem-page.ts';
import { type PageHost } from './server-bundle.ts';
import { type WebBundle } from './web-bundle.ts';

/** Dependencies of the pages of a host. */
interface PageParts {
  readonly host: PageHost;
  readonly bundle: WebBundle;
  readonly version: string;
  /** Who may submit contracts to this host; absent if it accepts none. */
  readonly verify?: VerifyAccess;
  /** Whether the pages show unlisted contracts; such a host serves pages only below the prefixes. */
  readonly isUnlisted?: boolean;
  readonly urls: () => HostUrls;
  /** Prefixes at which the host answers in addition to its root. */
  readonly prefixes: readonly string[];
  /** Templates that an API route shares: `Accept` decides whether a client gets the page or the API response. */
  readonly shared?: readonly string[];
  /** Sends an in-process request to the host: pages read only the public API. */
  readonly ask: PageDependencies['ask'];
  readonly answers: PageDependencies['answers'];
  /** Changes whenever published data changes; absent if the pages also show other data. */
  readonly revision?: () => number;
}

/** Renders a problem as a page if the client prefers one; otherwise returns undefined. */
export type ProblemPages = (problem: Problem, c: Context) => Promise<Answer> | undefined;

const READS = new Set(['GET', 'HEAD']);

const compressGzip = promisify(gzip);
/** A page is always smaller in gzip; its exact size is not needed to choose the coding. */
const LENGTHS = { identity: 2, gzip: 1 } as const;

/**
 * Limits on concurrent page rendering, in total and per client network: pages wait for the database and are
 * written one at a time.
 */
const PAGES = { total: 8, perClient: 5, waiting: 256, waitingPerClient: 32 };

const A_YEAR = 'public, max-age=31536000, immutable';
const ASSET_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Longest path shown on an error page: each segment adds to the relative links, and no person types a longer path. */
const PATH_SHOWN_CHARACTERS = 512;

/** State that the pages of a host share. */
interface PageState {
  readonly making: PageDependencies;
  readonly kept: PageCache;
}

/**
 * Adds the pages of a host and the files that they load. They are not part of the OpenAPI document. Unknown
 * paths also get a page.
 */
export function addPageRoutes(routes: OpenAPIHono, parts: PageParts): ProblemPages {
  const { bundle, ask, answers } = parts;
  const pages = new Admission(PAGES);
  const making = { renderer: bundle.renderer, ask, answers, pages, outages: new Map() };
  const state: PageState = { making, kept: new PageCache() };
  const answer = (c: Context, problem?: Problem): Promise<Answer> =>
    answerPage(parts, state, c, problem);
  const answerInPlace = async (c: Context, problem?: Problem): Promise<Answer> => {
    const page = await answer(c, problem);
    page.headers.append('vary', 'Accept');
    return page;
  };
  for (const template of parts.bundle.templatesOf(parts.host)) {
    const path = template.replaceAll(/\{(\w+)\}/g, ':$1');
    if (parts.shared?.includes(template) !== true) {
      routes.get(path, (c) => answer(c));
      continue;
    }
    routes.get(path, async (c, next) => {
      if (prefersPage(c)) return answerInPlace(c);
      await next();
      c.res.headers.append('vary', 'Accept');
      return undefined;
    });
  }
  routes.get('/assets/:file', (c) =>
    answerAsset(parts.bundle, c.req.param('file'), c.req.header('accept-encoding')),
  );
  return (problem, c) => {
    if (!READS.has(c.req.method) || !prefersPage(c)) return undefined;
    // A page that could not be written cannot be replaced by another rendered page.
    if (problem.code === 'page_too_large') {
      return Promise.resolve(renderPlainProblemPage(problem, policyOf(parts, c)));
    }
    return problem.status === 404 && c.req.path.length <= PATH_SHOWN_CHARACTERS
      ? answerInPlace(c, problem)
      : undefined;
  };
}

/** Returns whether the client prefers HTML: browsers list it first; programs list JSON or send no preference. */
function prefersPage(c: Context): boolean {
  const supports = ['application/json', 'text/html'];
  return accepts(c, { header: 'Accept', supports, default: 'application/json' }) === 'text/html';
}

/** @throws FullmatchError route_not_found, page_too_large, too_many_client_answers, too_many_answers */
async function answerPage(
  parts: PageParts,
  state: PageState,
  c: Context,
  problem: Problem | undefined,
): Promise<Answer> {
  // A page is built from the public API. If it requested another page, it would wait for its own slot.
  if (isPageRequest(c.env)) throw notFound(c.req.path);
  const accepted = parseAcceptEncoding(c.req.header('accept-encoding'));
  const coding = chooseCoding(accepted, LENGTHS) === 'gzip' ? 'gzip' : 'identity';
  const found = await findPage(parts, state, c, problem);
  const { page } = found;
  if (coding === 'gzip') found.gzip ??= await compressGzip(page.bytes);
  const bytes = (coding === 'gzip' ? found.gzip : undefined) ?? page.bytes;
  return makeResponse(bytes, {
    status: page.status,
    headers: {
      ...BASE_HEADERS,
      ...policyOf(parts, c),
      ...(page.location !== undefined && { location: page.location }),
      vary: 'Accept-Encoding',
      ...(coding === 'gzip' && { 'content-encoding': 'gzip' }),
      'content-type': HTML_TYPE,
      'content-length': String(bytes.byteLength),
      'cache-control': problem === undefined ? REVALIDATED : NOT_STORED,
    },
  });
}

/**
 * Returns the headers of a page: it loads nothing from other origins and runs no inline script. The search
 * form submits to the API host.
 */
function policyOf({ host, urls }: PageParts, c: Context): ResponseHeaders {
  const { api } = urlsForClient(c.req.url, urls(), host);
  const elsewhere = host === 'api' || api === undefined ? [] : [new URL(api).origin];
  // Forms on the operator's page submit to its own host as well.
  const searched =
    elsewhere.length === 0 || host === 'operator' ? ["'self'", ...elsewhere] : elsewhere;
  return {
    'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action ${searched.join(' ')}; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
  };
}

/**
 * Returns a page, from the cache if possible. A page that is the same for all clients is made once for each
 * URL under which it is requested.
 */
async function findPage(
  { host, version, verify = 'off', urls, prefixes, isUnlisted = false, revision }: PageParts,
  { making, kept }: PageState,
  c: Context,
  problem: Problem | undefined,
): Promise<CachedPage> {
  const { pathname, search } = new URL(c.req.url);
  const prefix =
    prefixes.find((each) => pathname === each || pathname.startsWith(`${each}/`)) ?? '';
  const below = pathname.slice(prefix.length);
  const path = below.replace(/(?<=.)\/$/, '') || '/';
  const own = urls();
  const seen = urlsForClient(c.req.url, own, host);
  const { api, repository } = seen;
  const base = baseOf(below, prefix);
  // Host names that clients make up would evict the commonly requested pages.
  const isKept = problem === undefined && seen === own;
  const key = JSON.stringify([path, search, base, api, repository]);
  const madeOf = revision?.();
  const known = isKept ? kept.find(key, madeOf) : undefined;
  if (known !== undefined) return known;
  // The public pages are one level above those of unlisted contracts.
  const ownSite = isUnlisted ? `${base}../` : base;
  const site = host === 'api' ? ownSite : api && `${api}/`;
  const page = await renderPage(c, making, {
    question: {
      path,
      query: search.slice(1),
      ...(problem && { problem: { code: problem.code, detail: problem.detail } }),
    },
    context: {
      host,
      base,
      version,
      verify,
      ...(site !== undefined && { site }),
      ...(isUnlisted && { isUnlisted }),
      ...(api !== undefined && { apiUrl: api }),
      ...(repository !== undefined && { repositoryUrl: repository }),
      now: new Date().toISOString(),
    },
  });
  if (page === undefined) throw notFound(pathname);
  const result: CachedPage = { page };
  if (isKept) kept.keep(key, result, madeOf);
  return result;
}

/** Returns the relative path from a page to the root of its host. */
function baseOf(below: string, prefix: string): string {
  // At the prefix itself, without a trailing slash, relative links resolve one level higher.
  if (below === '') return `./${prefix.slice(prefix.lastIndexOf('/') + 1)}/`;
  return '../'.repeat(below.split('/').length - 2) || './';
}

/** Serves a file, in gzip if the client accepts it; a client that refuses both codings gets the file uncompressed. */
function answerAsset({ assets }: WebBundle, name: string, accepted: string | undefined): Answer {
  const asset = assets.get(name);
  if (asset === undefined) throw notFound(`/assets/${name}`);
  const lengths = { identity: asset.identity.byteLength, gzip: asset.gzip.byteLength };
  const coding =
    chooseCoding(parseAcceptEncoding(accepted), lengths) === 'gzip' ? 'gzip' : 'identity';
  const bytes = asset[coding];
  return makeResponse(bytes, {
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
  return new FullmatchError('route_not_found', `There is no page at ${path}.`);
}
