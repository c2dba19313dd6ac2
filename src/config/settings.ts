import { z } from 'zod';
import { type Members } from '../lib/members.ts';
import { configSchema, type Config } from './config.ts';
import { FACTS, type SettingFacts } from './setting-schemas.ts';

type DottedKeys<Shape> = {
  [Name in keyof Shape & string]: Shape[Name] extends z.ZodReadonly<z.ZodObject<infer Inner>>
    ? `${Name}.${DottedKeys<Inner>}`
    : Name;
}[keyof Shape & string];

/** A dotted key of the configuration, such as `api.port`. */
export type SettingKey = Exclude<DottedKeys<typeof configSchema.shape>, 'chains'>;

/** One key of the configuration. */
export interface Setting extends SettingFacts {
  readonly key: SettingKey;
  /** Judges and normalises a value. */
  readonly schema: z.ZodType;
  /** Undefined for a key that is absent unless it is set. */
  readonly default: unknown;
  readonly variable: string;
}

/** Every key but `chains`, in the order of the schema, which is the order of fullmatch.example.yaml. */
export const SETTINGS: ReadonlyMap<SettingKey, Setting> = new Map(
  settingsOf(configSchema, '').map((setting) => [setting.key, setting]),
);

function settingsOf(section: z.ZodType, above: string): Setting[] {
  return Object.entries(keysOf(section) ?? {}).flatMap(([name, schema]) => {
    const facts = FACTS.get(schema);
    if (facts === undefined) return settingsOf(schema, `${above}${name}.`);
    const key = (above + name) as SettingKey;
    const byDefault = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
    return [{ variable: variableOf(key), ...facts, key, schema, default: byDefault }];
  });
}

/** The keys below one name with their schemas, or undefined where the schema is not a section. */
export function keysOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> | undefined {
  const section = schema instanceof z.ZodReadonly ? schema.unwrap() : schema;
  return section instanceof z.ZodObject ? section.shape : undefined;
}

/** `FULLMATCH_` and the key in capitals, such as `FULLMATCH_API_PORT`. */
function variableOf(key: string): string {
  const words = key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).replaceAll('.', '_');
  return `FULLMATCH_${words.toUpperCase()}`;
}

/** The value of a key, undefined when it is not set. */
export function valueOf(config: Config, key: SettingKey): unknown {
  const steps = key.split('.');
  return steps.reduce<unknown>((at, step) => (at as Members | undefined)?.[step], config);
}

/** The variable with the token that the command line sends to another service. */
export const TOKEN_VARIABLE = 'FULLMATCH_TOKEN';

/** The variable that names the configuration file, beside those of the keys. */
export const CONFIG_VARIABLE = 'FULLMATCH_CONFIG';
