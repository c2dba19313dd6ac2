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
  makeAnswer,
  NOT_STORED,
  type ResponseHeaders,
  REVALIDATED,
} from '../../answer.ts';
import { chooseCoding, parseAcceptEncoding } from '../../../lib/content-coding.ts';
import { type Problem } from '../../error-response.ts';
import { isAskedForPage } from '../../client-of.ts';
import { type HostUrls } from '../../http-parts.ts';
import { urlsSeenBy } from './seen-urls.ts';
import { KeptPages, type MadePage } from './kept-pages.ts';
import { makePage, type PageMaking } from './make-page.ts';
import { answerProblemPlainly } from './plain-page.ts';
import { type PageHost } from './server-bundle.ts';
import { type WebBundle } from './web-bundle.ts';

/** What the pages of a host are served with. */
interface PageParts {
  readonly host: PageHost;
  readonly bundle: WebBundle;
  readonly version: string;
  /** Whether the pages show what is unlisted, below the prefixes alone. */
  readonly isUnlisted?: boolean;
  readonly urls: () => HostUrls;
  /** The prefixes at which the host answers beside its root. */
  readonly prefixes: readonly string[];
  /** Templates at which a route answers too: people get the page and programs the route, by `Accept`. */
  readonly shared?: readonly string[];
  /** Answers a request to the host, without a network: the pages read the public interface and nothing else. */
  readonly ask: PageMaking['ask'];
  readonly answers: PageMaking['answers'];
  /** Another number after every change of what is published; absent where the pages show anything else. */
  readonly revision?: () => number;
}

/** Says a problem as a page to a client that prefers one; undefined to every other. */
export type ProblemPages = (problem: Problem, c: Context) => Promise<Answer> | undefined;

const READS = new Set(['GET', 'HEAD']);

const compressGzip = promisify(gzip);
/** A page is shorter in gzip; by how much, nobody needs to know before. */
const LENGTHS = { identity: 2, gzip: 1 } as const;

/** Pages that are made at once, in all and of one network: they wait for the database, and are written one after the other. */
const PAGES = { total: 8, perClient: 5, waiting: 256, waitingPerClient: 32 };

const A_YEAR = 'public, max-age=31536000, immutable';
const ASSET_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Each part of a path makes the links of its page longer: nobody types a longer one. */
const PATH_SHOWN_CHARACTERS = 512;

/** What the pages of a host share. */
interface PageState {
  readonly making: PageMaking;
  readonly kept: KeptPages;
}

/**
 * Adds the pages of a host and the files that they load. They are no part of the OpenAPI document. What is not found
 * is said by a page too.
 */
export function addPageRoutes(routes: OpenAPIHono, parts: PageParts): ProblemPages {
  const { bundle, ask, answers } = parts;
  const pages = new Admission(PAGES);
  const making = { renderer: bundle.renderer, ask, answers, pages, outages: new Map() };
  const state: PageState = { making, kept: new KeptPages() };
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
    // No page can be written in the place of one that could not.
    if (problem.code === 'page_too_large') {
      return Promise.resolve(answerProblemPlainly(problem, policyOf(parts, c)));
    }
    return problem.status === 404 && c.req.path.length <= PATH_SHOWN_CHARACTERS
      ? answerInPlace(c, problem)
      : undefined;
  };
}

/** Browsers name HTML before everything else; programs name JSON, or nothing. */
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
  // A page is made of what the public interface answers. One that waited for another page would wait for its own turn.
  if (isAskedForPage(c.env)) throw notFound(c.req.path);
  const accepted = parseAcceptEncoding(c.req.header('accept-encoding'));
  const coding = chooseCoding(accepted, LENGTHS) === 'gzip' ? 'gzip' : 'identity';
  const found = await findPage(parts, state, c, problem);
  const { page } = found;
  if (coding === 'gzip') found.gzip ??= await compressGzip(page.bytes);
  const bytes = (coding === 'gzip' ? found.gzip : undefined) ?? page.bytes;
  return makeAnswer(bytes, {
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

/** Nothing is loaded from elsewhere, and nothing that is written into a page runs. The search leads to the API host. */
function policyOf({ host, urls }: PageParts, c: Context): ResponseHeaders {
  const { api } = urlsSeenBy(c.req.url, urls(), host);
  const elsewhere = host === 'api' || api === undefined ? [] : [new URL(api).origin];
  // The operator's page sends to itself as well.
  const searched =
    elsewhere.length === 0 || host === 'operator' ? ["'self'", ...elsewhere] : elsewhere;
  return {
    'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action ${searched.join(' ')}; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
  };
}

/** A page that is the same for everybody is made once for each URL at which it is asked for. */
async function findPage(
  { host, version, urls, prefixes, isUnlisted = false, revision }: PageParts,
  { making, kept }: PageState,
  c: Context,
  problem: Problem | undefined,
): Promise<MadePage> {
  const { pathname, search } = new URL(c.req.url);
  const prefix =
    prefixes.find((each) => pathname === each || pathname.startsWith(`${each}/`)) ?? '';
  const below = pathname.slice(prefix.length);
  const path = below.replace(/(?<=.)\/$/, '') || '/';
  const own = urls();
  const seen = urlsSeenBy(c.req.url, own, host);
  const { api, repository } = seen;
  const base = baseOf(below, prefix);
  // Names that clients make up would push out the pages that everybody asks for.
  const isKept = problem === undefined && seen === own;
  const key = JSON.stringify([path, search, base, api, repository]);
  const madeOf = revision?.();
  const known = isKept ? kept.find(key, madeOf) : undefined;
  if (known !== undefined) return known;
  // The pages of everybody are one step above those of unlisted contracts.
  const ownSite = isUnlisted ? `${base}../` : base;
  const site = host === 'api' ? ownSite : api && `${api}/`;
  const page = await makePage(c, making, {
    question: {
      path,
      query: search.slice(1),
      ...(problem && { problem: { code: problem.code, detail: problem.detail } }),
    },
    context: {
      host,
      base,
      version,
      ...(site !== undefined && { site }),
      ...(isUnlisted && { isUnlisted }),
      ...(api !== undefined && { apiUrl: api }),
      ...(repository !== undefined && { repositoryUrl: repository }),
      now: new Date().toISOString(),
    },
  });
  if (page === undefined) throw notFound(pathname);
  const result: MadePage = { page };
  if (isKept) kept.keep(key, result, madeOf);
  return result;
}

/** From a page to the root of its host. */
function baseOf(below: string, prefix: string): string {
  // At the prefix itself, without a slash behind it, relative links begin one step above.
  if (below === '') return `./${prefix.slice(prefix.lastIndexOf('/') + 1)}/`;
  return '../'.repeat(below.split('/').length - 2) || './';
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
  return new FullmatchError('route_not_found', `There is no page at ${path}.`);
}
