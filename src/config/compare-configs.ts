import { isDeepStrictEqual } from 'node:util';
import { Secret } from '../lib/secret.ts';
import { type LoadedConfig } from './config.ts';
import { SETTING_KEYS, type SettingKey } from './schema.ts';

/** The keys that a running service takes over; beside them `chains`. Every other key waits for a restart. */
const LIVE_KEYS: ReadonlySet<SettingKey> = new Set([
  'registry.include',
  'registry.list',
  'registry.defaults',
  'registry.localChains',
  'registry.icons',
  'chainsDirectory',
  'log.level',
]);

/** The keys by which two configurations differ, in the order of the example file; a chain is `chains.<chainId>`. */
interface ConfigDifference {
  /** What a running service takes over. */
  readonly live: readonly string[];
  /** What waits for a restart. */
  readonly restart: readonly string[];
}

/** Where two configurations differ. It says which keys, never their values, which may be secrets. */
export function compareConfigs(before: LoadedConfig, after: LoadedConfig): ConfigDifference {
  const changed = SETTING_KEYS.filter((key) => differs(valueOf(before, key), valueOf(after, key)));
  return {
    live: [...changed.filter((key) => LIVE_KEYS.has(key)), ...changedChains(before, after)],
    restart: changed.filter((key) => !LIVE_KEYS.has(key)),
  };
}

function changedChains(before: LoadedConfig, after: LoadedConfig): readonly string[] {
  const [old, fresh] = [before.config.chains, after.config.chains];
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .sort((left, right) => left - right)
    .filter((chainId) => differs(old.get(chainId), fresh.get(chainId)))
    .map((chainId) => `chains.${chainId}`);
}

/** The value of a key, undefined when it is not set. */
export function valueOf({ config, chainsDirectory }: LoadedConfig, key: SettingKey): unknown {
  if (key === 'chainsDirectory') return chainsDirectory;
  return key
    .split('.')
    .reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], config);
}

function differs(left: unknown, right: unknown): boolean {
  return !isDeepStrictEqual(reveal(left), reveal(right));
}

/** The value with its secrets open: two secrets look alike from outside. */
function reveal(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.reveal() };
  if (Array.isArray(value)) return value.map(reveal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, reveal(member)]));
}
