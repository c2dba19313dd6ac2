import { z } from 'zod';

/** What one key of the configuration may hold. */
export interface Setting<Value, Default extends Value | undefined = Value | undefined> {
  /** Judges and normalises a value. */
  readonly schema: z.ZodType<Value>;
  readonly default: Default;
  /** What the value must be, with an example, completing "expected …". */
  readonly expected: string;
  /** One sentence that says what the key does. */
  readonly description: string;
  /** How the text of an environment variable or a flag is read. */
  readonly kind: 'text' | 'integer' | 'boolean' | 'texts';
  /** The command-line flag, where there is one. */
  readonly flag?: string;
  /** A path: relative ones begin at the folder of the file that holds them, else at the working directory. */
  readonly path?: true;
  /** Never shown, and taken from a file by its `_FILE` variable. */
  readonly secret?: true;
}

type Extra = Pick<Setting<unknown>, 'flag' | 'path' | 'secret'>;

export const MAXIMUM_TIMEOUT_MS = 3_600_000;

/** A text. */
export function text<Default extends string | undefined>(
  schema: z.ZodType<string>,
  byDefault: Default,
  expected: string,
  description: string,
  extra: Extra = {},
): Setting<string, Default> {
  return { schema, default: byDefault, expected, description, kind: 'text', ...extra };
}

/** One of some texts. */
export function choice<const Values extends readonly [string, ...string[]]>(
  values: Values,
  byDefault: Values[number],
  description: string,
  extra: Extra = {},
): Setting<Values[number], Values[number]> {
  const expected = `one of ${values.join(', ')}`;
  return {
    schema: z.enum(values),
    default: byDefault,
    expected,
    description,
    kind: 'text',
    ...extra,
  };
}

/** A whole number within a range. */
export function integer(
  range: readonly [least: number, most: number],
  byDefault: number,
  description: string,
  extra: Extra = {},
): Setting<number, number> {
  const [least, most] = range;
  return {
    schema: z.int().min(least).max(most),
    default: byDefault,
    expected: `a whole number from ${least} to ${most}, such as ${byDefault}`,
    description,
    kind: 'integer',
    ...extra,
  };
}

/** On or off. */
export function toggle(byDefault: boolean, description: string): Setting<boolean, boolean> {
  const expected = 'true or false';
  return { schema: z.boolean(), default: byDefault, expected, description, kind: 'boolean' };
}

/** A list of texts; one text stands for a list of itself. A variable holds them with commas or white space between. */
export function texts(
  item: z.ZodType<string>,
  expected: string,
  description: string,
): Setting<readonly string[], readonly string[]> {
  const list = z.array(item).refine((items) => new Set(items).size === items.length);
  const schema = z.union([list, item.transform((value) => [value])]);
  return { schema, default: [], expected, description, kind: 'texts' };
}
