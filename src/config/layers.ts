import { type z } from 'zod';
import { REMOVED_SETTING_ADVICE } from './removed-settings.ts';
import { isMembers } from '../lib/members.ts';
import { looksLikeName, NOT_A_NAME } from '../lib/format-key.ts';
import { configSchema } from './config.ts';
import { type Environment } from './environment.ts';
import { type Problems } from './problems.ts';
import {
  CONFIG_VARIABLE,
  TOKEN_VARIABLE,
  keysOf,
  SETTINGS,
  type Setting,
  type SettingKey,
} from './settings.ts';
import { type SecretReader } from './secrets.ts';
import { closestName, describeSuggestion } from './suggestion.ts';
import { type Place, type YamlFile } from './yaml-file.ts';

/** A port with one digit too many may be shown; a number as long as a short secret may not. */
const SHOWN_NUMBER_CHARACTERS = 6;

/** Valid values from one source, each with its origin and the folder at which its relative paths start. */
export type Layer = Map<SettingKey, { value: unknown; origin: string; folder: string }>;

/** Command-line flags by the key that they set. `config` names the configuration file. */
export type Flags = Readonly<Partial<Record<SettingKey | 'config', string>>>;

/** Reads the values of the command line. Relative paths start at `folder`. */
export function readFlags(flags: Flags, folder: string, problems: Problems): Layer {
  return readTexts(folder, problems, ({ key, flag }) => {
    const text = flags[key];
    return text === undefined ? undefined : { text, origin: `flag ${flag ?? `--${key}`}` };
  });
}

/** Reads the values of the environment. */
export function readVariables(
  environment: Environment,
  secrets: SecretReader,
  folder: string,
  problems: Problems,
): Layer {
  return readTexts(folder, problems, ({ key, variable, secret }) => {
    const found = secret
      ? problems.attempt(`environment ${variable}`, key, () => secrets.read(variable))
      : Object.hasOwn(environment, variable) && { value: environment[variable] ?? '', variable };
    return found ? { text: found.value, origin: `environment ${found.variable}` } : undefined;
  });
}

function readTexts(
  folder: string,
  problems: Problems,
  find: (setting: Setting) => { readonly text: string; readonly origin: string } | undefined,
): Layer {
  const layer: Layer = new Map();
  for (const setting of SETTINGS.values()) {
    const found = find(setting);
    if (found === undefined) continue;
    const { text, origin } = found;
    const value = judge(setting, parseText(setting, text), origin, problems, '');
    if (value !== undefined) layer.set(setting.key, { value, origin, folder });
  }
  return layer;
}

/**
 * Reports unknown `FULLMATCH_` variables, which would otherwise be ignored silently. Call it after everything
 * else is read, since chains may use variables with any name.
 */
export function reportUnknownVariables(
  environment: Environment,
  secrets: SecretReader,
  problems: Problems,
): void {
  const settings = [...SETTINGS.values()];
  const known = new Set([
    CONFIG_VARIABLE,
    TOKEN_VARIABLE,
    ...settings.map(({ variable }) => variable),
  ]);
  const files = settings.filter(({ secret }) => secret).map(({ variable }) => `${variable}_FILE`);
  const candidates = [...known, ...files];
  for (const name of Object.keys(environment).sort()) {
    if (!name.startsWith('FULLMATCH_') || known.has(name) || secrets.hasAsked(name)) continue;
    const bare = name.slice('FULLMATCH_'.length);
    const meant = candidates.includes(bare) ? bare : closestName(name, candidates);
    const advice =
      meant === undefined
        ? 'the names are in fullmatch.example.yaml; unset it'
        : `did you mean '${meant}'?`;
    problems.add({
      code: 'unknown_configuration_key',
      where: `environment ${looksLikeName(name) ? name : `FULLMATCH_…, ${NOT_A_NAME}`}`,
      message: `unknown variable: ${advice}`,
    });
  }
}

/** Reads the values of the configuration file except `chains`, which have their own validation. */
export function readTree(yaml: YamlFile, folder: string, problems: Problems): Layer {
  const layer: Layer = new Map();
  const read = (schema: z.ZodType, key: string, found: unknown, at: Place): void => {
    const setting = SETTINGS.get(key as SettingKey);
    const keys = keysOf(schema);
    if (setting !== undefined) {
      const foundText = setting.secret ? '' : foundInstead(found);
      const value = judge(setting, found, at.where, problems, foundText);
      if (value !== undefined) layer.set(setting.key, { value, origin: yaml.name, folder });
    } else if (keys !== undefined && found !== null) {
      if (!isMembers(found)) {
        const names = Object.keys(keys).join(', ');
        problems.invalid(at.where, `${key || 'the file'}: expected a map of ${names}`);
        return;
      }
      for (const [name, below] of at.below) {
        const path = key === '' ? name : `${key}.${name}`;
        const inner = Object.hasOwn(keys, name) ? keys[name] : undefined;
        if (inner !== undefined) read(inner, path, found[name], below);
        else reportUnknownKey(name, path, Object.keys(keys), below.where, problems);
      }
    }
  };
  read(configSchema, '', yaml.value, yaml.place);
  return layer;
}

function reportUnknownKey(
  name: string,
  key: string,
  siblings: readonly string[],
  where: string,
  problems: Problems,
): void {
  // A key at the wrong level: a top-level `port` means `api.port`, whatever sibling name it resembles.
  const elsewhere = [...SETTINGS.keys()].find((known) => `.${known}`.endsWith(`.${name}`));
  const advice =
    REMOVED_SETTING_ADVICE.get(key) ??
    (elsewhere === undefined ? describeSuggestion(name, siblings) : `did you mean '${elsewhere}'?`);
  problems.add({
    code: 'unknown_configuration_key',
    where,
    ...(looksLikeName(name) && { key }),
    message: looksLikeName(name)
      ? `unknown key '${key}': ${advice}`
      : `${NOT_A_NAME}, perhaps a value in the wrong place: ${describeSuggestion('', siblings)}`,
  });
}

/** Parses the text of a variable or flag; returns an invalid text unchanged, so that validation rejects it. */
function parseText({ default: byDefault }: Setting, text: string): unknown {
  if (typeof byDefault === 'number' && /^(0|[1-9][0-9]{0,15})$/.test(text)) return Number(text);
  if (typeof byDefault === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  if (Array.isArray(byDefault)) return text.split(/[\s,]+/).filter((item) => item !== '');
  return text;
}

/**
 * Validates and normalizes a value; returns undefined and reports a problem, which mentions what was `found`,
 * if it is invalid.
 */
function judge(
  { key, schema, expected }: Setting,
  value: unknown,
  where: string,
  problems: Problems,
  found: string,
): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  problems.invalid(where, `${key}: expected ${expected}${found}`, key);
  return undefined;
}

/** Describes an invalid value. Any text, or a long number, may be a misplaced secret, so only its type is shown. */
function foundInstead(value: unknown): string {
  if (value === null) return '; it has no value: give one or remove the line';
  if (Array.isArray(value)) return '; found a list';
  if (typeof value === 'boolean') return `; found ${value}`;
  if (typeof value === 'number') {
    return `; found ${String(value).length <= SHOWN_NUMBER_CHARACTERS ? value : 'a number'}`;
  }
  return typeof value === 'string' ? '; found a text' : '; found a map';
}
