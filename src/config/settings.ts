import { z } from 'zod';
import { type Members } from '../lib/members.ts';
import { configSchema, type Config } from './config.ts';
import { FACTS, type SettingMetadata } from './setting-schemas.ts';

type DottedKeys<Shape> = {
  [Name in keyof Shape & string]: Shape[Name] extends z.ZodReadonly<z.ZodObject<infer Inner>>
    ? `${Name}.${DottedKeys<Inner>}`
    : Name;
}[keyof Shape & string];

/** Dotted configuration key, such as `api.port`. */
export type SettingKey = Exclude<DottedKeys<typeof configSchema.shape>, 'chains'>;

/** One configuration key. */
export interface Setting extends SettingMetadata {
  readonly key: SettingKey;
  /** Validates and normalizes a value. */
  readonly schema: z.ZodType;
  /** Undefined for an optional key. */
  readonly default: unknown;
  readonly variable: string;
}

/** Every key except `chains`, in the order of the schema and of fullmatch.example.yaml. */
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

/** Returns the keys of a section with their schemas, or undefined if the schema is not a section. */
export function keysOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> | undefined {
  const section = schema instanceof z.ZodReadonly ? schema.unwrap() : schema;
  return section instanceof z.ZodObject ? section.shape : undefined;
}

/** Returns `FULLMATCH_` and the key in upper case, such as `FULLMATCH_API_PORT`. */
function variableOf(key: string): string {
  const words = key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).replaceAll('.', '_');
  return `FULLMATCH_${words.toUpperCase()}`;
}

/** Returns the value of a key; undefined if it is not set. */
export function valueOf(config: Config, key: SettingKey): unknown {
  const steps = key.split('.');
  return steps.reduce<unknown>((at, step) => (at as Members | undefined)?.[step], config);
}

/** Variable with the access token that the command line sends to another service. */
export const TOKEN_VARIABLE = 'FULLMATCH_TOKEN';

/** Variable that names the configuration file, in addition to those of the keys. */
export const CONFIG_VARIABLE = 'FULLMATCH_CONFIG';
