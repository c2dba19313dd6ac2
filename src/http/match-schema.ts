import { z } from '@hono/zod-openapi';

/** Whether the metadata is proven too (full), or only the bytecode (partial). */
export const matchSchema = z.enum(['full', 'partial']);

/** Who verified a match: this service on request, another service, or this service's monitor. */
export const originSchema = z.enum(['verified', 'imported', 'monitored']);
