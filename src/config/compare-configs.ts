import { isDeepStrictEqual } from 'node:util';
import { Secret } from '../lib/secret.ts';
import { type Config, type LoadedConfig } from './config.ts';
import { SETTINGS, valueOf } from './settings.ts';

/** Keys whose values differ, in the order of the example file; a chain is `chains.<chainId>`. */
interface ConfigDifference {
  /** Keys that a running service applies. */
  readonly live: readonly string[];
  /** Keys that take effect only after a restart. */
  readonly restart: readonly string[];
}

/** Compares two configurations. Returns keys only, never values, which may be secrets. */
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

/** Reveals the secrets in a value, because secrets cannot be compared otherwise. */
function reveal(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.reveal() };
  if (Array.isArray(value)) return value.map(reveal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, reveal(member)]));
}
