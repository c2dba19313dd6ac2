import { type z } from 'zod';
import { REMOVED_SETTINGS } from './removed-settings.ts';
import { isMembers } from '../lib/members.ts';
import { looksLikeName, NOT_A_NAME } from '../lib/shown-key.ts';
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
import { nearest, suggest } from './suggestion.ts';
import { type Place, type YamlFile } from './yaml-file.ts';

/** A port with a digit too many is shown; a number as long as a short secret is not. */
const SHOWN_NUMBER_CHARACTERS = 6;

/** The sound values that one source gives: where each came from, and the folder that a relative path in it begins at. */
export type Layer = Map<SettingKey, { value: unknown; origin: string; folder: string }>;

/** The flags of a command line by the key that they set. `config` names the configuration file. */
export type Flags = Readonly<Partial<Record<SettingKey | 'config', string>>>;

/** The layer of the command line. A relative path begins at `folder`. */
export function readFlags(flags: Flags, folder: string, problems: Problems): Layer {
  return readTexts(folder, problems, ({ key, flag }) => {
    const text = flags[key];
    return text === undefined ? undefined : { text, origin: `flag ${flag ?? `--${key}`}` };
  });
}

/** The values of the environment. */
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
 * A `FULLMATCH_` name that means nothing is a fault: it would be ignored in silence. Called when everything else is
 * read, since the chains may take variables of any name.
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
    const meant = candidates.includes(bare) ? bare : nearest(name, candidates);
    const advice =
      meant === undefined
        ? 'the names are in fullmatch.example.yaml; unset it'
        : `did you mean '${meant}'?`;
    problems.add({
      code: 'unknown_configuration_key',
      where: `environment ${looksLikeName(name) ? name : `FULLMATCH_…, ${NOT_A_NAME}`}`,
      message: `unknown variable — ${advice}`,
    });
  }
}

/** The values of the configuration file but `chains`, which is judged by the chains. */
export function readTree(yaml: YamlFile, folder: string, problems: Problems): Layer {
  const layer: Layer = new Map();
  const read = (schema: z.ZodType, key: string, found: unknown, at: Place): void => {
    const setting = SETTINGS.get(key as SettingKey);
    const keys = keysOf(schema);
    if (setting !== undefined) {
      const told = setting.secret ? '' : foundInstead(found);
      const value = judge(setting, found, at.where, problems, told);
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
  // A key at the wrong level: `port` beside `api` means `api.port`, whatever sibling it resembles.
  const elsewhere = [...SETTINGS.keys()].find((known) => `.${known}`.endsWith(`.${name}`));
  const advice =
    REMOVED_SETTINGS.get(key) ??
    (elsewhere === undefined ? suggest(name, siblings) : `did you mean '${elsewhere}'?`);
  problems.add({
    code: 'unknown_configuration_key',
    where,
    ...(looksLikeName(name) && { key }),
    message: looksLikeName(name)
      ? `unknown key '${key}' — ${advice}`
      : `${NOT_A_NAME}, perhaps a value in the wrong place — ${suggest('', siblings)}`,
  });
}

/** The value that the text of a variable or a flag stands for; a text that stands for none is left to be refused. */
function parseText({ default: byDefault }: Setting, text: string): unknown {
  if (typeof byDefault === 'number' && /^(0|[1-9][0-9]{0,15})$/.test(text)) return Number(text);
  if (typeof byDefault === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  if (Array.isArray(byDefault)) return text.split(/[\s,]+/).filter((item) => item !== '');
  return text;
}

/** The normalised value, or undefined with a problem that says what was `found`. */
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

/**
 * What was found in place of a sound value. Any text may be a secret in the wrong place, and so may a long number: only
 * their kind is told.
 */
function foundInstead(value: unknown): string {
  if (value === null) return '; it has no value: give one or remove the line';
  if (Array.isArray(value)) return '; found a list';
  if (typeof value === 'boolean') return `; found ${value}`;
  if (typeof value === 'number') {
    return `; found ${String(value).length <= SHOWN_NUMBER_CHARACTERS ? value : 'a number'}`;
  }
  return typeof value === 'string' ? '; found a text' : '; found a map';
}
