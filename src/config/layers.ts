import { Secret } from '../lib/secret.ts';
import { looksLikeName, NOT_A_NAME } from '../lib/shown-key.ts';
import { type Environment } from './environment.ts';
import { type Problems } from './problems.ts';
import {
  CONFIG_VARIABLE,
  environmentName,
  SETTING_KEYS,
  settingOf,
  type SettingKey,
} from './schema.ts';
import { type SecretReader } from './secrets.ts';
import { nearest, suggest } from './suggestion.ts';
import { plainValue, type YamlEntry, type YamlNode } from './yaml-tree.ts';

/** A sound value of one layer: where it came from, and the folder that a relative path in it begins at. */
export interface LayerValue {
  readonly value: unknown;
  readonly origin: string;
  readonly folder: string;
}

/** The values that one source gives: flags, environment, file or defaults. */
export type Layer = ReadonlyMap<SettingKey, LayerValue>;

/** The flags of a command line by the key that they set. `config` names the configuration file. */
export type Flags = Readonly<Partial<Record<SettingKey | 'config', string>>>;

/** The values of the flags. */
export function readFlags(flags: Flags, folder: string, problems: Problems): Layer {
  const layer = new Map<SettingKey, LayerValue>();
  for (const key of SETTING_KEYS) {
    const text = flags[key];
    if (text === undefined) continue;
    const origin = `flag ${settingOf(key).flag ?? `--${key}`}`;
    const value = judge(key, parseText(key, text), origin, problems);
    if (value !== undefined) layer.set(key, { value, origin, folder });
  }
  return layer;
}

/** The values of the environment. */
export function readVariables(
  environment: Environment,
  secrets: SecretReader,
  folder: string,
  problems: Problems,
): Layer {
  const layer = new Map<SettingKey, LayerValue>();
  for (const key of SETTING_KEYS) {
    const name = environmentName(key);
    const found = settingOf(key).secret
      ? problems.attempt(`environment ${name}`, key, () => secrets.read(name))
      : Object.hasOwn(environment, name) && { value: environment[name] ?? '', variable: name };
    if (!found) continue;
    const origin = `environment ${found.variable}`;
    const value = judge(key, parseText(key, found.value), origin, problems);
    if (value !== undefined) layer.set(key, { value, origin, folder });
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
  const known = new Set([CONFIG_VARIABLE, ...SETTING_KEYS.map(environmentName)]);
  const candidates = [...known, 'DATABASE_URL_FILE'];
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

/** The values of the configuration file, and the `chains:` entry apart, which is judged by the chains. */
export function readTree(
  root: YamlNode,
  file: { readonly name: string; readonly folder: string },
  problems: Problems,
): { layer: Layer; chains?: YamlEntry } {
  const layer = new Map<SettingKey, LayerValue>();
  let chains: YamlEntry | undefined;
  const readSection = (node: YamlNode, prefix: string) => {
    if (node.kind === 'scalar' && node.value === null) return;
    const names = namesIn(prefix);
    if (node.kind !== 'map') {
      const what = prefix === '' ? 'the file' : prefix.slice(0, -1);
      problems.add({
        code: 'invalid_configuration',
        where: node.where,
        message: `${what}: expected a map of ${names.join(', ')}`,
      });
      return;
    }
    for (const [name, entry] of node.entries) {
      const key = prefix + name;
      if (key === 'chains') chains = entry;
      else if (isSettingKey(key)) {
        const value = judge(key, scalarValue(entry.value), entry.where, problems);
        if (value !== undefined) layer.set(key, { value, origin: file.name, folder: file.folder });
      } else if (names.includes(name)) readSection(entry.value, `${key}.`);
      else reportUnknownKey(name, key, names, entry.where, problems);
    }
  };
  readSection(root, '');
  return { layer, ...(chains === undefined ? {} : { chains }) };
}

function reportUnknownKey(
  name: string,
  key: string,
  siblings: readonly string[],
  where: string,
  problems: Problems,
): void {
  // A key at the wrong level: `port` beside `api` means `api.port`, whatever sibling it resembles.
  const elsewhere = SETTING_KEYS.find((known) => known.endsWith(`.${name}`) || known === name);
  const advice = elsewhere === undefined ? suggest(name, siblings) : `did you mean '${elsewhere}'?`;
  problems.add({
    code: 'unknown_configuration_key',
    where,
    ...(looksLikeName(name) && { key }),
    message: looksLikeName(name)
      ? `unknown key '${key}' — ${advice}`
      : `${NOT_A_NAME}, perhaps a value in the wrong place — ${suggest('', siblings)}`,
  });
}

/** The names that may stand below a prefix such as `api.`, each once. */
function namesIn(prefix: string): readonly string[] {
  const below = SETTING_KEYS.filter((key) => key.startsWith(prefix)).map(
    (key) => key.slice(prefix.length).split('.')[0] ?? '',
  );
  return [...new Set(prefix === '' ? [...below, 'chains'] : below)];
}

function isSettingKey(key: string): key is SettingKey {
  return (SETTING_KEYS as readonly string[]).includes(key);
}

function scalarValue(node: YamlNode): unknown {
  return node.kind === 'scalar' ? node.value : plainValue(node);
}

/** The value that the text of a variable or a flag stands for; a text that stands for none is left to be refused. */
function parseText(key: SettingKey, text: string): unknown {
  const { kind } = settingOf(key);
  if (kind === 'integer' && /^(0|[1-9][0-9]{0,15})$/.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (kind === 'texts') return text.split(/[\s,]+/).filter((item) => item !== '');
  return text;
}

/** The normalised value, secrets hidden, or undefined with a problem. */
function judge(key: SettingKey, value: unknown, where: string, problems: Problems): unknown {
  const setting = settingOf(key);
  const result = setting.schema.safeParse(value);
  if (result.success) {
    return setting.secret && typeof result.data === 'string'
      ? new Secret(result.data)
      : result.data;
  }
  problems.add({
    code: 'invalid_configuration',
    where,
    key,
    message: `${key}: expected ${setting.expected}${setting.secret ? '' : foundInstead(value)}`,
  });
  return undefined;
}

/** What was found in place of a sound value. Text that could hold a credential is not shown. */
function foundInstead(value: unknown): string {
  if (value === null) return '; it has no value: give one or remove the line';
  if (Array.isArray(value)) return '; found a list';
  if (typeof value === 'number' || typeof value === 'boolean') return `; found ${value}`;
  if (typeof value !== 'string') return '; found a map';
  return /^[\w.,:/ -]{0,24}$/.test(value) ? `; found the text '${value}'` : '';
}
