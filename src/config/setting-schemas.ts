import { z } from 'zod';
import { Secret } from '../lib/secret.ts';

/** What is known about a key of the configuration beside its type and its default. */
export interface SettingFacts {
  /** One sentence that says what the key does. */
  readonly description: string;
  /** What the value must be, with an example, completing "expected …". */
  readonly expected: string;
  /** The command-line flag, where there is one. */
  readonly flag?: string;
  /** The flag only matters where something listens. */
  readonly listener?: true;
  /** The environment variable, where it is not made from the key. */
  readonly variable?: string;
  /**
   * The value is a path, and its default begins here. Other relative paths begin at the folder of the file that
   * holds them, else at the working directory.
   */
  readonly base?: 'workingDirectory' | 'configFolder' | 'dataDir';
  /** Never shown, and taken from a file by its `_FILE` variable. */
  readonly secret?: true;
  /** A running service takes a new value over; every other key waits for a restart. */
  readonly live?: true;
}

type Facts = Omit<SettingFacts, 'expected'>;

/** The facts of each key's schema. */
export const FACTS = z.registry<SettingFacts>();

function known<Schema extends z.ZodType>(schema: Schema, facts: SettingFacts): Schema {
  FACTS.add(schema, facts);
  return schema;
}

/** A text with a default. */
export function text(schema: z.ZodType<string>, byDefault: string, facts: SettingFacts) {
  return known(schema.default(byDefault), facts);
}

/** A key that is absent when it is not set. */
export function unset<Schema extends z.ZodType>(schema: Schema, facts: SettingFacts) {
  return known(schema.exactOptional(), facts);
}

/** One of some texts. */
export function choice<const Value extends string>(
  values: readonly [Value, ...Value[]],
  byDefault: NoInfer<Value>,
  facts: Facts,
) {
  const expected = `one of ${values.join(', ')}`;
  return known(z.enum(values).default(byDefault), { ...facts, expected });
}

/** A whole number within a range. */
export function integer([least, most]: readonly [number, number], byDefault: number, facts: Facts) {
  const schema = z.int().check(z.gte(least), z.lte(most)).default(byDefault);
  const expected = `a whole number from ${least} to ${most}, such as ${byDefault}`;
  return known(schema, { ...facts, expected });
}

/** On or off. */
export function toggle(byDefault: boolean, facts: Facts) {
  return known(z.boolean().default(byDefault), { ...facts, expected: 'true or false' });
}

/** A list of texts; one text stands for a list of itself. A variable holds them with commas or white space between. */
export function texts(
  item: z.ZodType<string>,
  facts: SettingFacts,
  byDefault: readonly string[] = [],
) {
  const list = z.array(item).refine((items) => new Set(items).size === items.length);
  const schema = z.union([list, item.transform((value) => [value])]).readonly();
  return known(schema.default([...byDefault]), facts);
}

/** Keys below one name. */
export function section<Shape extends z.ZodRawShape>(description: string, shape: Shape) {
  return z.object(shape).readonly().describe(description);
}

export const PORTS = [0, 65_535] as const;
export const TIMEOUTS_MS = [100, 3_600_000] as const;

/** The id of a chain, in decimal digits. */
export const chainId = z.string().regex(/^[1-9][0-9]{0,15}$/);

/** The path of a file or a folder. */
export const path = z
  .string()
  .min(1)
  .refine((value) => !value.includes('\0'));

/** An IP address or a host name. */
export const host = z.union([
  z.ipv4(),
  z.ipv6(),
  z.string().regex(/^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$/),
]);

/** `/` alone is the same as no prefix. */
export const prefix = z
  .string()
  .transform((value) => (value === '/' ? '' : value))
  .refine((value) => /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/.test(value));

/** An origin and path without user information, query or fragment; a closing slash is taken off. */
export const publicUrl = z
  .string()
  .refine((value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    return (
      url !== undefined &&
      ['http:', 'https:'].includes(url.protocol) &&
      url.username + url.password + url.search + url.hash === '' &&
      !value.includes('@')
    );
  })
  .transform((value) => value.replace(/\/+$/, ''));

/** A URL that can be shown to anyone, or the path of a file. */
export const listSource = z.union([
  publicUrl,
  path.refine((value) => !/^[a-z][a-z0-9+.-]*:\/\//i.test(value) && !/[\s,]/.test(value)),
]);

/** Text in its sources, and hidden from then on. */
export const databaseUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\/./)
  .transform((value) => new Secret(value));

/** Names with tokens, such as `ci:5f0c…`: one text for each, or one with white space or commas between. Hidden from then on. */
export const accessTokens = z
  .union([z.array(z.string()), z.string().transform((value) => value.split(/[\s,]+/))])
  .transform((items) => items.filter((item) => item !== ''))
  .refine((items) =>
    items.every((item) => /^[A-Za-z0-9_-]{1,64}:[\x21-\x2b\x2d-\x7e]{16,512}$/.test(item)),
  )
  .transform((items) =>
    items.map((item) => {
      const [name = ''] = item.split(':', 1);
      return { name, token: new Secret(item.slice(name.length + 1)) };
    }),
  )
  .refine((tokens) => new Set(tokens.map(({ name }) => name)).size === tokens.length);

/** A key of a service elsewhere: hidden text without white space. */
export const apiKey = z
  .string()
  .regex(/^\S{1,512}$/)
  .transform((value) => new Secret(value));
