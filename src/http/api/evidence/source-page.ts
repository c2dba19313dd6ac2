import { type z } from '@hono/zod-openapi';

import type { SourcePage, SourceQuery } from '../../../repository/repository.ts';
import { type ResponseOf } from '../../answer.ts';
import {
  SOURCES_PER_PAGE,
  type sourcePageRoute,
  type sourcePageSchema,
} from './evidence-routes.ts';

/**
 * Returns the query for a page of sources; undefined if no source can have this path: PostgreSQL text cannot
 * contain NUL.
 */
export function toSourceQuery({
  after,
  path,
}: z.output<typeof sourcePageRoute.request.query>): SourceQuery | undefined {
  if (`${after ?? ''}${path ?? ''}`.includes('\0')) return undefined;
  return {
    limit: SOURCES_PER_PAGE,
    ...(after !== undefined && { after }),
    ...(path !== undefined && { path }),
  };
}

/** Renders a page of sources. */
export const renderSourcePage = ({
  next,
  shown,
  ...rest
}: SourcePage): ResponseOf<typeof sourcePageSchema> => ({
  ...rest,
  next: next ?? null,
  shown: shown ?? null,
});
