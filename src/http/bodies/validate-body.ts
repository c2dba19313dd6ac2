import { type z } from 'zod';

import { FullmatchError } from '../../errors.ts';
import { printableText } from '../../lib/printable-text.ts';

const SHOWN_CHARACTERS = 100;
const PLAIN_NAME = /^[A-Za-z]\w*$/;

/**
 * Validates a body with a schema.
 * @throws FullmatchError invalid_parameter, which names the first invalid member
 */
export function validateBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidMember(nameOf(issue?.path ?? []), issue?.message ?? 'another value is expected');
}

/** Returns the error for an invalid member of a body. */
export function invalidMember(parameter: string, expected: string): FullmatchError {
  return new FullmatchError('invalid_parameter', `${parameter}: ${expected}.`, {
    details: { parameter },
  });
}

function nameOf(path: readonly PropertyKey[]): string {
  const parts = path.map((part, index) => {
    const text = String(part);
    if (!PLAIN_NAME.test(text)) return `["${printableText(text, SHOWN_CHARACTERS)}"]`;
    return index === 0 ? text : `.${text}`;
  });
  return parts.join('');
}
