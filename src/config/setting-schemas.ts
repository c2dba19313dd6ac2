import { z } from 'zod';
import { Secret } from '../lib/secret.ts';

/** Facts about a configuration key apart from its type and default. */
export interface SettingMetadata {
  /** One sentence that describes the key. */
  readonly description: string;
  /** Expected value with an example, completing "expected …". */
  readonly expected: string;
  /** Command-line flag, if there is one. */
  readonly flag?: string;
  /** Set if the flag applies only to commands that listen. */
  readonly listener?: true;
  /** Environment variable, if it is not derived from the key. */
  readonly variable?: string;
  /**
   * Set if the value is a path: where its default starts. Other relative paths start at the folder of the
   * file that contains them, else at the working directory.
   */
  readonly base?: 'workingDirectory' | 'configFolder' | 'dataDir';
  /** Set if the value is never shown and may come from a file, by its `_FILE` variable. */
  readonly secret?: true;
  /** Set if a running service applies a new value; every other key needs a restart. */
  readonly live?: true;
}

type Facts = Omit<SettingMetadata, 'expected'>;

/** Facts of each key's schema. */
export const FACTS = z.registry<SettingMetadata>();

function known<Schema extends z.ZodType>(schema: Schema, facts: SettingMetadata): Schema {
  FACTS.add(schema, facts);
  return schema;
}

/** Defines a text key with a default. */
export function text(schema: z.ZodType<string>, byDefault: string, facts: SettingMetadata) {
  return known(schema.default(byDefault), facts);
}

/** Defines an optional key without a default. */
export function unset<Schema extends z.ZodType>(schema: Schema, facts: SettingMetadata) {
  return known(schema.exactOptional(), facts);
}

/** Defines a key whose value is one of several texts. */
export function choice<const Value extends string>(
  values: readonly [Value, ...Value[]],
  byDefault: NoInfer<Value>,
  facts: Facts,
) {
  const expected = `one of ${values.join(', ')}`;
  return known(z.enum(values).default(byDefault), { ...facts, expected });
}

/** Defines a whole number within a range. */
export function integer([least, most]: readonly [number, number], byDefault: number, facts: Facts) {
  const schema = z.int().check(z.gte(least), z.lte(most)).default(byDefault);
  const expected = `a whole number from ${least} to ${most}, such as ${byDefault}`;
  return known(schema, { ...facts, expected });
}

/** Defines a boolean key. */
export function toggle(byDefault: boolean, facts: Facts) {
  return known(z.boolean().default(byDefault), { ...facts, expected: 'true or false' });
}

/** Defines a list of texts; a single text is a list of one. Variables separate the items by commas or white space. */
export function texts(
  item: z.ZodType<string>,
  facts: SettingMetadata,
  byDefault: readonly string[] = [],
) {
  const list = z.array(item).refine((items) => new Set(items).size === items.length);
  const schema = z.union([list, item.transform((value) => [value])]).readonly();
  return known(schema.default([...byDefault]), facts);
}

/** Defines a section of keys. */
export function section<Shape extends z.ZodRawShape>(description: string, shape: Shape) {
  return z.object(shape).readonly().describe(description);
}

export const PORTS = [0, 65_535] as const;
export const TIMEOUTS_MS = [100, 3_600_000] as const;

/** Chain id in decimal digits. */
export const chainId = z.string().regex(/^[1-9][0-9]{0,15}$/);

/** Path of a file or a folder. */
export const path = z
  .string()
  .min(1)
  .refine((value) => !value.includes('\0'));

/** IP address or host name. */
export const host = z.union([
  z.ipv4(),
  z.ipv6(),
  z.string().regex(/^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$/),
]);

/** URL path prefix; `/` alone means no prefix. */
export const prefix = z
  .string()
  .transform((value) => (value === '/' ? '' : value))
  .refine((value) => /^(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/.test(value));

/** Origin and path without user information, query or fragment; a trailing slash is removed. */
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

/** Public URL, or the path of a file. */
export const listSource = z.union([
  publicUrl,
  path.refine((value) => !/^[a-z][a-z0-9+.-]*:\/\//i.test(value) && !/[\s,]/.test(value)),
]);

/** Text in its sources, converted to a Secret. */
export const databaseUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\/./)
  .transform((value) => new Secret(value));

/**
 * Names with tokens, such as `ci:5f0c…`: a list, or one text separated by white space or commas. The tokens
 * become Secrets.
 */
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

/** API key of another service: secret text without white space. */
export const apiKey = z
  .string()
  .regex(/^\S{1,512}$/)
  .transform((value) => new Secret(value));
