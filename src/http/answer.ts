import { type RouteConfig, type z } from '@hono/zod-openapi';
import { type TypedResponse } from 'hono';

/** Response headers by lower-case name, in the plain form that the Node adapter writes without a copy. */
export type ResponseHeaders = Readonly<Record<string, string>>;

/**
 * On every answer of both hosts, errors included: any page may read it, and sees the headers that are not on the
 * safelist of the Fetch standard.
 */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, RateLimit, RateLimit-Policy, Retry-After',
} as const satisfies ResponseHeaders;

/** On every answer with a body: its declared type is its type. */
export const BASE_HEADERS = {
  ...CORS_HEADERS,
  'x-content-type-options': 'nosniff',
} as const satisfies ResponseHeaders;

export const JSON_TYPE = 'application/json; charset=utf-8';
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const HTML_TYPE = 'text/html; charset=utf-8';

/** For answers that are true only at the moment they are given: health, readiness, errors. */
export const NOT_STORED = 'no-store';

/** For answers that change with a deployment: stored, but asked about before each use. */
export const REVALIDATED = 'no-cache';

/**
 * A Response of a route. The phantom members are what the route types of @hono/zod-openapi ask for; a `Response` made
 * by hand has none, and one made by hono's context copies its headers (see answer-snapshot.ts).
 */
export type Answer<Value = never> = Response & TypedResponse<Value, never, never>;

/** A Response whose headers and body the Node adapter writes as they are. */
export function makeAnswer(
  body: Buffer<ArrayBuffer> | null,
  init: { readonly status: number; readonly headers: ResponseHeaders },
): Answer {
  return new Response(body, init) as Answer;
}

/** An answer with this body, its length and type, and the headers that every answer has. */
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
  return makeAnswer(bytes, {
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

/** The schema of what a route answers as JSON with a status. */
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

/** What a schema lets a route answer. */
export type AnswerOf<Schema extends z.ZodType> = Immutable<z.output<Schema>>;

/** An answer with what a route answers as JSON with a status, by its schema. */
export function answerJson<Route extends RouteConfig, Status extends number = 200>(
  _route: Route,
  value: NoInfer<AnswerOf<SchemaAt<Route, Status>>>,
  cacheControl: string,
  status?: Status,
): Answer {
  return answer(JSON.stringify(value), {
    type: JSON_TYPE,
    cacheControl,
    ...(status !== undefined && { status }),
  });
}
