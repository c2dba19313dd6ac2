import { isDeepStrictEqual } from 'node:util';
import { z, type RouteConfig } from '@hono/zod-openapi';
import { ERROR_CODES } from '../../../src/errors.ts';
import { eventDataSchemas } from '../../../src/http/api/statistics/statistics-routes.ts';
import {
  signatureErrorSchema,
  signatureErrorShape,
} from '../../../src/http/api/signatures/signature-error.ts';
import { v1ErrorSchema, v1ErrorShape } from '../../../src/http/api/v1/v1-error.ts';
import { v2ErrorSchema, v2ErrorShape } from '../../../src/http/api/v2/v2-error.ts';
import {
  batchRoutes,
  methodsRoutes,
  storedRoutes,
  verdictRoutes,
  versionsRoutes,
} from '../../../src/http/api/blockscout/blockscout-routes.ts';
import { bytecodeDatabaseRoutes } from '../../../src/http/api/blockscout/code-database-routes.ts';
import { providerRoutes } from '../../../src/http/api/blockscout/signature-provider-routes.ts';
import {
  API_ROUTES,
  OPERATOR_ROUTES,
  REPOSITORY_ROUTES,
} from '../../../scripts/openapi-document.ts';
import { blockscoutErrorShapes } from '../../../src/http/api/blockscout/blockscout-error.ts';
import { verdictSchema } from '../../../src/http/api/blockscout/blockscout-routes.ts';
import { messageSchema } from '../../../src/http/api/blockscout/explorer/explorer-routes.ts';
import { decodePath } from '../../../src/http/decode-path.ts';
import { memoize } from '../../../src/lib/memoize.ts';
import { problemSchema } from '../../../src/http/problem-schema.ts';
import { statisticsSchema } from '../../../src/http/repository/statistics-schema.ts';

/** A response of a host, as received. */
export interface WireAnswer {
  readonly host: 'api' | 'repository' | 'operator';
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  /** `content-type` without parameters. */
  readonly type: string;
  readonly text: string;
}

/** Routes of the Blockscout verifier are served at the root too, where the document does not repeat them. */
const ALIASES: readonly RouteConfig[] = [
  ...[...verdictRoutes, ...batchRoutes, ...versionsRoutes].map(({ route }) => route),
  ...methodsRoutes,
  ...storedRoutes.flatMap((each) => Object.values<RouteConfig>(each)),
  ...[...providerRoutes, ...bytecodeDatabaseRoutes].flatMap((each) =>
    Object.values<RouteConfig>(each),
  ),
];
const ROUTES = {
  api: [...API_ROUTES, ...ALIASES],
  repository: [...REPOSITORY_ROUTES, ...API_ROUTES],
  operator: OPERATOR_ROUTES,
};
/**
 * Responses that any request may get: from the listener, from the router, and while the service fails or
 * shuts down.
 */
const ANYWHERE = new Set([400, 404, 405, 408, 413, 415, 417, 431, 500, 503]);
const EVENT_STREAM = 'text/event-stream';

/** Returns what is wrong with a response according to its route's schemas, or undefined. Unknown keys are errors. */
export function answerFault(answer: WireAnswer): string | undefined {
  const { host, method, status, type } = answer;
  if (method === 'OPTIONS') return undefined;
  // forge joins the prefix and v2 without a slash.
  const split = answer.path.replace(/^\/[^/]+?(?=v2\/)/, '$&/');
  const asked = { host, method: method === 'HEAD' ? 'GET' : method, path: decodePath(split) };
  const [path, route] = findRoute(asked);
  const where = `${method} ${answer.path} ${status} ${type}`;
  const declared = route?.responses[String(status)] as Declared | undefined;
  // Page routes return an HTML page with the outcome.
  if (type === 'text/html' && declared?.content?.[type] === undefined) return undefined;
  if (declared === undefined) {
    if (route === undefined && status < 400) {
      return type.endsWith('json') ? `${where}: no route has this answer` : undefined;
    }
    // Below this path, every request requires a token.
    const isUnlisted = status === 401 && answer.path.includes('/unlisted');
    if (!ANYWHERE.has(status) && !isUnlisted)
      return `${where}: the route does not declare the status`;
    return faultOf(where, errorSchemaOf(method, path), answer);
  }
  if (declared.content === undefined) return undefined;
  const content = declared.content[type];
  if (content === undefined) return `${where}: the route does not declare the type`;
  if (type === EVENT_STREAM) return eventsFault(where, answer.text);
  return faultOf(where, schemaOf(content.schema), answer);
}

interface Declared {
  readonly content?: Readonly<Record<string, { readonly schema: unknown } | undefined>>;
}

/**
 * Finds the route of a path at the root or below a prefix, with the remaining path; prefers the most literal
 * segments.
 */
function findRoute({
  host,
  method,
  path,
}: Pick<WireAnswer, 'host' | 'method' | 'path'>): readonly [string, RouteConfig | undefined] {
  const parts = path
    .replace(/(?<=.)\/$/, '')
    .split('/')
    .slice(1);
  for (let cut = 0; cut < 3; cut += 1) {
    const below = `/${parts.slice(cut).join('/')}`;
    const fitting = ROUTES[host].filter(
      (each) => each.method === method.toLowerCase() && patternOf(each.path).test(below),
    );
    const [route] = fitting.sort((left, right) => variables(left.path) - variables(right.path));
    if (route !== undefined) return [below, route];
  }
  return [path, undefined];
}

const variables = (template: string): number => template.split('{').length;

/** More templates than there are routes. */
const TEMPLATES = 1_000;
const patternOf = memoize(TEMPLATES, compilePattern);

function compilePattern(template: string): RegExp {
  const parts = template.split(/\{(\w+)\}/);
  // A template cannot express "all remaining segments", as in a path of the tree.
  const source = parts.map((part, index) => {
    if (index % 2 === 0) return part.replaceAll('.', String.raw`\.`);
    return part === 'path' ? '.+' : '[^/]+';
  });
  return new RegExp(`^${source.join('')}$`, 's');
}

function errorSchemaOf(method: string, path: string): z.ZodType {
  // A request without a route may still be below a prefix.
  const paths = [path, path.replace(/^\/[^/]+/, '')];
  const fits = (shape: typeof v2ErrorShape): boolean =>
    paths.some((each) => shape.covers(method, each));
  const compatible = [
    ...(fits(v2ErrorShape) ? [v2ErrorSchema] : []),
    ...(fits(v1ErrorShape) ? [v1ErrorSchema] : []),
    ...(blockscoutErrorShapes.some(fits) ? [verdictSchema, messageSchema] : []),
    ...(fits(signatureErrorShape) ? [signatureErrorSchema] : []),
  ];
  // Errors that the listener returns before it has read the path are problems everywhere.
  return z.union([knownProblemSchema, ...compatible]);
}

const knownProblemSchema = problemSchema.refine(
  ({ code, status }) =>
    (ERROR_CODES as Readonly<Record<string, { readonly status: number } | undefined>>)[code]
      ?.status === status,
  'no error of the table',
);

function schemaOf(schema: unknown): z.ZodType | undefined {
  if (schema === problemSchema) return knownProblemSchema;
  if (schema instanceof z.ZodType) return schema;
  // The one schema defined inline in the document.
  return typeof schema === 'object' && schema !== null && '$ref' in schema
    ? statisticsSchema
    : undefined;
}

function faultOf(
  where: string,
  schema: z.ZodType | undefined,
  { method, type, text }: WireAnswer,
): string | undefined {
  if (method === 'HEAD' || schema === undefined) return undefined;
  if (!type.endsWith('json')) return schema.safeParse(text).error && `${where}: another body`;
  return valueFault(where, schema, JSON.parse(text));
}

/** A schema that drops unknown keys returns a different value from its input. */
function valueFault(where: string, schema: z.ZodType, value: unknown): string | undefined {
  const parsed = schema.safeParse(value);
  if (!parsed.success) return `${where}: ${z.prettifyError(parsed.error)}`;
  return isDeepStrictEqual(parsed.data, value) ? undefined : `${where}: has unknown keys`;
}

/** The complete events. */
function eventsFault(where: string, text: string): string | undefined {
  for (const block of text.split('\n\n').slice(0, -1)) {
    const fields = new Map(
      block.split('\n').map((line) => line.split(/: ?(.*)/s) as [string, string]),
    );
    const event = fields.get('event');
    if (event === undefined) continue;
    const schema = (eventDataSchemas as Readonly<Record<string, z.ZodType | undefined>>)[event];
    if (schema === undefined) return `${where}: no event is called ${event}`;
    const fault = valueFault(`${where} ${event}`, schema, JSON.parse(fields.get('data') ?? 'null'));
    if (fault !== undefined) return fault;
  }
  return undefined;
}
