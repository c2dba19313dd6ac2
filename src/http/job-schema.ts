import { z } from '@hono/zod-openapi';

/** Which sources of a submission are not published. */
export const droppedSourcesSchema = z
  .strictObject({ count: z.int(), paths: z.array(z.string()).describe('The first 20') })
  .meta({ id: 'DroppedSources', description: 'Sources that a compilation does not need' });

/** What a job says of {@link droppedSourcesSchema}. */
export const DROPPED_SOURCES =
  'The compilation gives the same code without these sources, so they are not published; absent where all are needed';

/** What a job says of a text that was not stored as the match. */
export const KEPT_BESIDE =
  'Nothing was stored as the match, since another text that gives the same code is shown; this one is kept beside it';
