import { OpenAPIHono, type z } from '@hono/zod-openapi';
import { Hono } from 'hono';

import { FullmatchError } from '../errors.ts';
import { type Logger } from '../log.ts';
import { answerProblem, describeProblem, problemOf } from './error-response.ts';
import { CORS_HEADERS, makeAnswer } from './answer.ts';

/** What answers for one host: requests in, answers out, no port. */
export interface HostApp {
  /** Answers a request; every error is an answer too. */
  fetch(request: Request, env?: object): Response | Promise<Response>;
  /** The same by path or URL, for tests and for a look from inside. */
  request(input: string, init?: RequestInit): Response | Promise<Response>;
  /** The path template that answers this method and path, without the prefix; undefined when none does. */
  routeOf(method: string, path: string): string | undefined;
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
 * It has no middleware on purpose. A route with a single synchronous handler is answered by the Node adapter without
 * a promise or a header copy, which the two documents depend on (see answer-snapshot.ts); headers of every answer
 * are put on where answers are made (answer.ts, error-response.ts).
 */
export function createHostApp(
  routes: OpenAPIHono,
  prefixes: readonly string[],
  log: Logger,
): HostApp {
  const app = new Hono({ strict: false });
  for (const prefix of new Set(['/', ...prefixes.map(normalizePrefix)])) app.route(prefix, routes);
  const routeOf = (method: string, requestPath: string): string | undefined => {
    const path = withoutTrailingSlash(requestPath);
    const route = app.router.match(method === 'HEAD' ? 'GET' : method, path)[0][0]?.[0][1];
    if (route === undefined) return undefined;
    const template = route.basePath === '/' ? route.path : route.path.slice(route.basePath.length);
    return template === '' ? '/' : template;
  };
  app.notFound((c) => answerUnrouted(c.req.method, c.req.path, routeOf));
  app.onError((error) => answerProblem(describeProblem(error, log)));
  return {
    fetch: (request, env) => app.fetch(request, env),
    request: (input, init) => app.request(input, init),
    routeOf,
  };
}

/** The prefix with one slash in front and none behind; `''` and `/` are the root. */
export function normalizePrefix(prefix: string): string {
  const segments = prefix.split('/').filter((segment) => segment !== '');
  return `/${segments.join('/')}`;
}

function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function answerUnrouted(
  method: string,
  requestPath: string,
  routeOf: HostApp['routeOf'],
): Response {
  const path = withoutTrailingSlash(requestPath);
  const methods = METHODS.filter((each) => routeOf(each, path) !== undefined);
  if (methods.length === 0) {
    return answerProblem(
      problemOf(
        new FullmatchError('route_not_found', `Nothing answers at ${path}; /docs lists what does.`),
      ),
    );
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
  return answerProblem(problemOf(new FullmatchError('method_not_allowed', detail)), { allow });
}
