// The API host and the repository host: routes, their schemas, and answers.
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { OpenAPIHono, type z } from '@hono/zod-openapi';
import { Hono, type Context } from 'hono';
import { getPath } from 'hono/utils/url';

import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import { describeProblem, type Problem, problemOf } from './error-response.ts';
import { CORS_HEADERS, makeAnswer, type ResponseHeaders } from './answer.ts';
import { type AskedFor } from './client-of.ts';
import { answerShaped, type ErrorShape } from './error-shape.ts';
import { decodePath } from './decode-path.ts';
import { writeSnapshot } from './answer-snapshot.ts';
import { type Snapshot } from '../publication/snapshot.ts';
import { RecallingRouter } from './recalling-router.ts';
import { type ProblemPages } from './api/pages/add-page-routes.ts';

/** The application of one host: it answers requests and knows no port. */
export interface HostApp {
  /** Answers a request; every error is an answer too. */
  fetch(request: Request, env?: object): Response | Promise<Response>;
  /** The same by path or URL, for tests and for a look from inside. */
  request(input: string, init?: RequestInit, env?: AskedFor): Response | Promise<Response>;
  /** The path template that answers this method and path, without the prefix; undefined when none does. */
  routeOf(method: string, path: string): string | undefined;
  /** The largest body that is read at this method and path, where that is another than the listener's limit. */
  bodyLimitOf?(method: string, path: string): number | undefined;
  /** The error format of this method and path; undefined for that of RFC 9457. */
  errorShapeOf?(method: string, path: string): ErrorShape | undefined;
  /**
   * Answers a GET or HEAD of a prepared document on Node's own objects, the hot path; returns false for everything
   * else, which {@link fetch} then answers. Never throws.
   */
  writePrepared(request: IncomingMessage, response: ServerResponse): boolean;
}

/** The parts of an app. */
interface HostAppParts {
  readonly routes: OpenAPIHono;
  /** Where the routes answer besides `/`. */
  readonly prefixes: readonly string[];
  /** The largest bodies, in bytes, by the path templates of POST routes that take another than the listener's limit. */
  readonly bodyLimits?: Readonly<Record<string, number>>;
  /** The prepared documents by path. They have routes as well, which answer in other spellings and in tests. */
  readonly prepared?: Readonly<Record<string, () => Snapshot | undefined>>;
  /** Error formats other than that of RFC 9457; the first that covers a method and path applies. */
  readonly errorShapes?: readonly ErrorShape[];
  /** Pages for people that say what was not found, where none of {@link errorShapes} applies. */
  readonly problemPages?: ProblemPages;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const PREFLIGHT_HEADERS = {
  ...CORS_HEADERS,
  // The names are for clients from before `*`, which stands for all but Authorization (Fetch standard).
  'access-control-allow-headers':
    'Content-Type, If-None-Match, If-Modified-Since, Cache-Control, *',
  'access-control-max-age': '86400',
} as const;

/** An empty set of routes. A parameter that does not fit its schema is answered as `invalid_parameter`. */
export function createRoutes(): OpenAPIHono {
  return new OpenAPIHono({
    defaultHook: (result) => {
      if (!result.success) throw invalidParameter(result.error);
    },
  });
}

function invalidParameter(error: z.ZodError): FullmatchError {
  const issues = error.issues.map((issue) => ({
    parameter: issue.path.join('.'),
    message: issue.message,
  }));
  const first = issues[0];
  return new FullmatchError(
    'invalid_parameter',
    `Parameter ${first?.parameter ?? ''}: ${first?.message ?? 'not of the expected form'}.`,
    { details: { issues } },
  );
}

/**
 * The app of one host: the routes at `/` and at each further prefix, and one answer to everything else.
 *
 * A path names the same resource with and without one trailing slash: clients join base URLs that end in a slash,
 * and a redirect would break their POSTs and preflights.
 *
 * It has no middleware: headers of every answer are put on where answers are made (answer.ts, error-response.ts), and
 * a route with one synchronous handler is answered by the Node adapter without a promise or a header copy.
 */
export function createHostApp(parts: HostAppParts, log: Logger): HostApp {
  const app = new Hono({
    router: new RecallingRouter(),
    getPath: (request) => withoutTrailingSlash(decodePath(getPath(request))),
  });
  const prefixes = [...new Set(['/', ...parts.prefixes.map(normalizePrefix)])];
  for (const prefix of prefixes) app.route(prefix, parts.routes);
  for (const prefix of prefixes.slice(1)) addJoined(app, parts.routes, prefix);
  const prepared = indexPrepared(parts.prepared ?? {}, prefixes);
  const routeOf = (method: string, requestPath: string): string | undefined => {
    if (method === 'GET' || method === 'HEAD') {
      const known = prepared.get(requestPath);
      if (known !== undefined) return known.route;
    }
    const path = withoutTrailingSlash(decodePath(requestPath));
    const route = app.router.match(method === 'HEAD' ? 'GET' : method, path)[0][0]?.[0][1];
    if (route === undefined) return undefined;
    return withoutPrefix(route.path, prefixes).replace(/\/:(\w+)/g, '/{$1}');
  };
  const errorShapeOf = (method: string, path: string): ErrorShape | undefined => {
    const bare = withoutPrefix(withoutTrailingSlash(decodePath(path)), prefixes);
    return parts.errorShapes?.find(({ covers }) => covers(method, bare));
  };
  const answerError: ErrorAnswerer = (problem, c, headers) => {
    const { method, path } = c.req;
    const shape = errorShapeOf(method, path);
    const page = shape === undefined ? parts.problemPages?.(problem, c) : undefined;
    // Where the page cannot be made either, as for too many of them, people get what programs get.
    return page === undefined
      ? answerShaped(problem, shape, headers)
      : page.catch(() => answerShaped(problem, shape, headers));
  };
  app.notFound((c) => answerUnrouted(c, routeOf, answerError));
  app.onError((error, c) => answerError(describeProblem(error, log), c));
  const refuse = (error: unknown, { method, url }: Request): Response =>
    answerShaped(describeProblem(error, log), errorShapeOf(method, new URL(url).pathname));
  return {
    fetch: (request, env) => {
      // Hono decodes what it can of the rest, with two exceptions for each escape that is wrong.
      if (!isDecodable(request.url)) return refuse(malformedTarget(), request);
      return app.fetch(request, env);
    },
    request: (input, init, env) => app.request(input, init, env),
    routeOf,
    errorShapeOf,
    bodyLimitOf: (method, path) => {
      if (method !== 'POST' || parts.bodyLimits === undefined) return undefined;
      return parts.bodyLimits[routeOf(method, path) ?? ''];
    },
    writePrepared: (request, response) => {
      if (request.method !== 'GET' && request.method !== 'HEAD') return false;
      const snapshot = prepared.get(pathOf(request))?.read();
      return snapshot !== undefined && writeSnapshot(snapshot, request, response);
    },
  };
}

/** Whether every `%` of a target begins an escape, and the escapes are UTF-8. */
function isDecodable(target: string): boolean {
  if (!target.includes('%')) return true;
  try {
    decodeURIComponent(target);
    return true;
  } catch {
    return false;
  }
}

const malformedTarget = (): FullmatchError =>
  new FullmatchError(
    'malformed_request',
    'The path or the query holds a % that begins no escape of UTF-8; a percent sign itself is %25.',
  );

/** The path of a request, without the query. */
export function pathOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** The prepared documents by each of their paths, with the templates of their routes. */
function indexPrepared(
  prepared: NonNullable<HostAppParts['prepared']>,
  prefixes: readonly string[],
): ReadonlyMap<string, { readonly route: string; readonly read: () => Snapshot | undefined }> {
  return new Map(
    prefixes.flatMap((prefix) =>
      Object.entries(prepared).map(([route, read]) => [
        prefix === '/' ? route : `${prefix}${route}`,
        { route, read },
      ]),
    ),
  );
}

/** The prefix with one slash in front and none behind; `''` and `/` are the root. */
function normalizePrefix(prefix: string): string {
  const segments = prefix.split('/').filter((segment) => segment !== '');
  return `/${segments.join('/')}`;
}

function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function withoutPrefix(path: string, prefixes: readonly string[]): string {
  const prefix = prefixes.find(
    (each) => each !== '/' && (`${path}/`.startsWith(`${each}/`) || path.startsWith(each + JOINED)),
  );
  if (prefix === undefined) return path;
  const rest = path.slice(prefix.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** What clients join to a base URL that ends without a slash, such as forge: /serverv2/verify. */
const JOINED = 'v2/';

/** Adds the routes of the verification API v2 as they come from such clients. */
function addJoined(app: Hono, { routes }: Pick<Hono, 'routes'>, prefix: string): void {
  for (const { method, path, handler } of routes) {
    if (path.startsWith(`/${JOINED}`)) app.on(method, `${prefix}${path.slice(1)}`, handler);
  }
}

/** Answers a problem in the error format of its method and path. */
type ErrorAnswerer = (
  problem: Problem,
  c: Context,
  headers?: ResponseHeaders,
) => Response | Promise<Response>;

function answerUnrouted(
  c: Context,
  routeOf: HostApp['routeOf'],
  answerError: ErrorAnswerer,
): Response | Promise<Response> {
  const { method } = c.req;
  const path = withoutTrailingSlash(c.req.path);
  const methods = METHODS.filter((each) => routeOf(each, path) !== undefined);
  if (methods.length === 0) {
    const detail = `There is no route ${path}; /docs lists all routes.`;
    return answerError(problemOf(new FullmatchError('route_not_found', detail)), c);
  }
  const allow = [
    ...methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each])),
    'OPTIONS',
  ].join(', ');
  if (method === 'OPTIONS') {
    const headers = { ...PREFLIGHT_HEADERS, allow, 'access-control-allow-methods': allow };
    return makeAnswer(null, { status: 204, headers });
  }
  const detail = `${method} is not answered at ${path}; it answers ${allow}.`;
  return answerError(problemOf(new FullmatchError('method_not_allowed', detail)), c, { allow });
}
