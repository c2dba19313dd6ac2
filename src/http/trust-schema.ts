import { z } from '@hono/zod-openapi';

/** How far this service checked a match (docs/data.md), in ascending order. */
export const trustSchema = z
  .enum(['claimed', 'rechecked', 'recompiled', 'verified'])
  .describe(
    'How far this service checked the match: claimed by an import; rechecked, if the delivered bytecode is consistent with it; recompiled here; or verified here against the chain',
  );
