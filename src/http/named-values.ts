import { z } from 'zod';

import { isMembers } from '../lib/members.ts';

const OBJECT_EXPECTED = 'an object is expected';

/**
 * Schema of an object with arbitrary names as keys, such as source paths. Unlike `z.record` it keeps a member
 * named `__proto__` and stops at the first fault, because a malicious body may have one per value.
 */
export function namedValues<Value extends z.ZodType>(value: Value) {
  return z
    .custom<Readonly<Record<string, unknown>>>(isMembers, OBJECT_EXPECTED)
    .transform((members, context): Record<string, z.output<Value>> => {
      const entries: [string, z.output<Value>][] = [];
      for (const [name, member] of Object.entries(members)) {
        const parsed = value.safeParse(member);
        if (!parsed.success) {
          const [issue] = parsed.error.issues;
          const path = [name, ...(issue?.path ?? [])];
          context.addIssue({ code: 'custom', message: issue?.message ?? '', path });
          return z.NEVER;
        }
        entries.push([name, parsed.data]);
      }
      return Object.fromEntries(entries);
    })
    .meta({
      type: 'object',
      additionalProperties: {
        ...z.toJSONSchema(value, { io: 'input', unrepresentable: 'any' }),
        $schema: undefined,
      },
    });
}

/** Schema of any object, which stays unchanged. */
export const anyMembers = z
  .custom<Record<string, unknown>>(isMembers, OBJECT_EXPECTED)
  .meta({ type: 'object', additionalProperties: {} });

/** Schema of any object or null. */
export const anyMembersOrNull = z
  .custom<Record<string, unknown> | null>(
    (value) => value === null || isMembers(value),
    OBJECT_EXPECTED,
  )
  .meta({ type: ['object', 'null'], additionalProperties: {} });
