import { type RouteConfig, type z } from '@hono/zod-openapi';
import { type TypedResponse } from 'hono';
import { type EntityTags, matchIfNoneMatch } from '../lib/entity-tag.ts';

/** Response headers by lower-case name, in the plain form that the Node adapter writes without a copy. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/**
 * Headers of every response of both hosts, including errors: any site may read it, along with the headers
 * that are not on the Fetch standard's safelist.
 */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, RateLimit, RateLimit-Policy, Retry-After',
} as const satisfies ResponseHeaders;

/** Headers of every response with a body; browsers must not guess another type than the declared one. */
export const BASE_HEADERS = {
  ...CORS_HEADERS,
  'x-content-type-options': 'nosniff',
} as const satisfies ResponseHeaders;

export const JSON_TYPE = 'application/json; charset=utf-8';
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const HTML_TYPE = 'text/html; charset=utf-8';

/** For responses that are valid only at the moment they are sent: health, readiness, errors. */
export const NOT_STORED = 'no-store';

/** For responses that change with a deployment: cached, but revalidated before each use. */
export const REVALIDATED = 'no-cache';

/**
 * A route's Response. The phantom members satisfy the route types of @hono/zod-openapi: a `Response` built by
 * hand lacks them, and one built by hono's context copies its headers.
 */
export type Answer<Value = never> = Response & TypedResponse<Value, never, never>;

/** Builds a Response whose headers and body the Node adapter writes as is. */
export function makeResponse(
  body: Buffer<ArrayBuffer> | null,
  init: { readonly status: number; readonly headers: ResponseHeaders },
): Answer {
  return new Response(body, init) as Answer;
}

/** Builds a response with this body, its length and type, and the common headers. */
export function answer(
  body: string | Buffer<ArrayBuffer>,
  options: {
    readonly status?: number;
    readonly type: string;
    readonly cacheControl: string;
    readonly headers?: ResponseHeaders;
  },
): Answer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return makeResponse(bytes, {
    status: options.status ?? 200,
    headers: {
      'content-type': options.type,
      'content-length': String(bytes.byteLength),
      'cache-control': options.cacheControl,
      ...BASE_HEADERS,
      ...options.headers,
    },
  });
}

/** Returns 304 if If-None-Match names this content, which is sent in one coding only; else undefined. */
export function notModified(ifNoneMatch: string | undefined, tags: EntityTags): Answer | undefined {
  if (ifNoneMatch === undefined) return undefined;
  if (matchIfNoneMatch(ifNoneMatch, tags, 'identity') === undefined) return undefined;
  return makeResponse(null, {
    status: 304,
    headers: { etag: tags.identity, 'cache-control': REVALIDATED, ...CORS_HEADERS },
  });
}

/** Schema of a route's JSON response with a status. */
export type SchemaAt<Route, Status extends number> = Route extends {
  readonly responses: Readonly<
    Record<Status, { content: { 'application/json': { schema: infer Schema extends z.ZodType } } }>
  >;
}
  ? Schema
  : never;

type Immutable<Value> = Value extends readonly (infer Element)[]
  ? readonly Immutable<Element>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Immutable<Value[Key]> }
    : Value;

/** Value that a schema allows as a response. */
export type ResponseOf<Schema extends z.ZodType> = Immutable<z.output<Schema>>;

/** Builds a route's JSON response with a status, typed by the route's schema. */
export function respondJson<Route extends RouteConfig, Status extends number = 200>(
  _route: Route,
  value: NoInfer<ResponseOf<SchemaAt<Route, Status>>>,
  cacheControl: string,
  status?: Status,
): Answer {
  return answer(JSON.stringify(value), {
    type: JSON_TYPE,
    cacheControl,
    ...(status !== undefined && { status }),
  });
}
