import { z } from '@hono/zod-openapi';

import { isMatchId } from './match-id.ts';

/**
 * Schema of the number of entries per page, from 1 to a maximum.
 * @param what what a page lists, such as `Contracts`
 */
export function pageLimit({
  what,
  most,
  usual,
}: {
  readonly what: string;
  readonly most: number;
  readonly usual: number;
}) {
  const message = `a number from 1 to ${most} is expected`;
  return z
    .string()
    .regex(new RegExp(`^[1-9][0-9]{0,${String(most).length - 1}}$`), message)
    .transform(Number)
    .refine((number) => number <= most, message)
    .optional()
    .openapi({
      param: { description: `${what} per page, 1 to ${most} (${usual})` },
      example: '50',
    });
}

/** Schema of the `next` of a page of matches. */
export const afterMatch = z
  .string()
  .refine((text) => isMatchId(text), 'the `next` of a page is expected')
  .optional()
  .openapi({ param: { description: 'The `next` of the previous page' } });
