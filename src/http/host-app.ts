// The API host and the repository host: routes, their schemas, and responses.
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { OpenAPIHono, type z } from '@hono/zod-openapi';
import { Hono, type Context } from 'hono';
import { getPath } from 'hono/utils/url';

import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import { toProblem, type Problem, problemFromError } from './error-response.ts';
import { CORS_HEADERS, makeResponse, type ResponseHeaders } from './answer.ts';
import { type InProcessEnv } from './client-of.ts';
import { respondInShape, type ErrorFormat } from './error-format.ts';
import { decodePath } from './decode-path.ts';
import { writeSnapshot } from './snapshot-response.ts';
import { type Snapshot } from '../publication/snapshot.ts';
import { CachingRouter } from './caching-router.ts';
import { type ProblemPages } from './api/pages/add-page-routes.ts';

/** Application of one host; it answers requests and is not bound to a port. */
export interface HostApp {
  /** Answers a request; errors become responses too. */
  fetch(request: Request, env?: object): Response | Promise<Response>;
  /** The same by path or URL, for tests and in-process requests. */
  request(input: string, init?: RequestInit, env?: InProcessEnv): Response | Promise<Response>;
  /** Returns the path template of the route for a method and path, without the prefix; undefined if there is none. */
  routeOf(method: string, path: string): string | undefined;
  /** Returns the body limit of a method and path, if it differs from the listener's. */
  bodyLimitOf?(method: string, path: string): number | undefined;
  /** Returns the error format of a method and path; undefined means RFC 9457. */
  errorShapeOf?(method: string, path: string): ErrorFormat | undefined;
  /**
   * Hot path: writes a prepared document for a GET or HEAD directly to Node's response; returns false for any
   * other request, which {@link fetch} then answers. Never throws.
   */
  writePrepared(request: IncomingMessage, response: ServerResponse): boolean;
}

/** Parts of a host's app. */
interface HostAppParts {
  readonly routes: OpenAPIHono;
  /** Prefixes at which the routes answer in addition to `/`. */
  readonly prefixes: readonly string[];
  /** Body limits in bytes, by path template, of POST routes whose limit differs from the listener's. */
  readonly bodyLimits?: Readonly<Record<string, number>>;
  /** Prepared documents by path. They also have routes, for other spellings of the path and for tests. */
  readonly prepared?: Readonly<Record<string, () => Snapshot | undefined>>;
  /** Error formats other than RFC 9457; the first that covers a method and path applies. */
  readonly errorShapes?: readonly ErrorFormat[];
  /** Renders "not found" problems as HTML pages where none of {@link errorShapes} applies. */
  readonly problemPages?: ProblemPages;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const PREFLIGHT_HEADERS = {
  ...CORS_HEADERS,
  // Header names are listed for clients that predate `*`, which covers everything except Authorization (Fetch
  // standard).
  'access-control-allow-headers':
    'Content-Type, If-None-Match, If-Modified-Since, Cache-Control, *',
  'access-control-max-age': '86400',
} as const;

/** Creates an empty set of routes. An invalid parameter is answered as `invalid_parameter`. */
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
 * Creates the app of one host: the routes at `/` and at each further prefix, and one handler for everything else.
 *
 * A path names the same resource with and without one trailing slash: clients append to base URLs that end in a slash,
 * and a redirect would break their POSTs and preflights.
 *
 * The app has no middleware: common headers are set where responses are built (answer.ts, error-response.ts), so the
 * Node adapter sends the response of a synchronous handler without a promise or a header copy.
 */
export function createHostApp(parts: HostAppParts, log: Logger): HostApp {
  const app = new Hono({
    router: new CachingRouter(),
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
  const errorShapeOf = (method: string, path: string): ErrorFormat | undefined => {
    const bare = withoutPrefix(withoutTrailingSlash(decodePath(path)), prefixes);
    return parts.errorShapes?.find(({ covers }) => covers(method, bare));
  };
  const answerError: ErrorAnswerer = (problem, c, headers) => {
    const { method, path } = c.req;
    const shape = errorShapeOf(method, path);
    const page = shape === undefined ? parts.problemPages?.(problem, c) : undefined;
    // If the page cannot be rendered either, for example because too many are in progress, the client gets
    // the error as programs do.
    return page === undefined
      ? respondInShape(problem, shape, headers)
      : page.catch(() => respondInShape(problem, shape, headers));
  };
  app.notFound((c) => answerUnrouted(c, routeOf, answerError));
  app.onError((error, c) => answerError(toProblem(error, log), c));
  const refuse = (error: unknown, { method, url }: Request): Response =>
    respondInShape(toProblem(error, log), errorShapeOf(method, new URL(url).pathname));
  return {
    fetch: (request, env) => {
      // Otherwise Hono would decode as much as possible, with two exceptions per invalid escape.
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

/** Returns whether all `%` in a target are valid escapes of UTF-8. */
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

/** Returns the path of a request, without the query. */
export function pathOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** Indexes the prepared documents by each of their paths, with the templates of their routes. */
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

/** Normalizes a prefix to one leading slash and no trailing slash; `''` and `/` are the root. */
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

/** Prefix that clients such as forge append to a base URL without a trailing slash: /serverv2/verify. */
const JOINED = 'v2/';

/** Adds the routes of the verification API v2 under such joined paths. */
function addJoined(app: Hono, { routes }: Pick<Hono, 'routes'>, prefix: string): void {
  for (const { method, path, handler } of routes) {
    if (path.startsWith(`/${JOINED}`)) app.on(method, `${prefix}${path.slice(1)}`, handler);
  }
}

/** Builds the response for a problem in the error format of its method and path. */
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
    return answerError(problemFromError(new FullmatchError('route_not_found', detail)), c);
  }
  const allow = [
    ...methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each])),
    'OPTIONS',
  ].join(', ');
  if (method === 'OPTIONS') {
    const headers = { ...PREFLIGHT_HEADERS, allow, 'access-control-allow-methods': allow };
    return makeResponse(null, { status: 204, headers });
  }
  const detail = `${method} is not answered at ${path}; it answers ${allow}.`;
  return answerError(problemFromError(new FullmatchError('method_not_allowed', detail)), c, {
    allow,
  });
}
