import { isDeepStrictEqual } from 'node:util';
import { Secret } from '../lib/secret.ts';
import { type Config, type LoadedConfig } from './config.ts';
import { SETTINGS, valueOf } from './settings.ts';

/** The keys whose values differ, in the order of the example file; a chain is `chains.<chainId>`. */
interface ConfigDifference {
  /** What a running service takes over. */
  readonly live: readonly string[];
  /** What waits for a restart. */
  readonly restart: readonly string[];
}

/** Where two configurations differ. It says which keys, never their values, which may be secrets. */
export function compareConfigs(
  { config: before }: LoadedConfig,
  { config: after }: LoadedConfig,
): ConfigDifference {
  const changed = [...SETTINGS.values()].filter(({ key }) =>
    differs(valueOf(before, key), valueOf(after, key)),
  );
  const keysOf = (live: boolean) =>
    changed.filter((setting) => (setting.live ?? false) === live).map(({ key }) => key);
  return { live: [...keysOf(true), ...changedChains(before, after)], restart: keysOf(false) };
}

function changedChains({ chains: old }: Config, { chains: fresh }: Config): readonly string[] {
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .sort((left, right) => left - right)
    .filter((chainId) => differs(old.get(chainId), fresh.get(chainId)))
    .map((chainId) => `chains.${chainId}`);
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
