import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { configSources } from '../../test/support/config-sources.ts';
import { renderExample } from './example.ts';
import { loadConfig } from './load-config.ts';
import { SETTINGS } from './settings.ts';

const example = readFileSync(new URL('../../fullmatch.example.yaml', import.meta.url), 'utf8');

describe('fullmatch.example.yaml', () => {
  test('matches the schema (run npx fullmatch config example > fullmatch.example.yaml)', () => {
    expect(example).toBe(renderExample());
  });

  test('sets exactly the defaults', () => {
    const { config, origins } = loadConfig(configSources({ texts: { 'fullmatch.yaml': example } }));
    expect(config).toEqual(loadConfig(configSources()).config);
    for (const [key, setting] of SETTINGS) {
      const set = setting.default !== undefined && setting.base !== 'dataDir';
      expect([key, origins.get(key)]).toEqual([key, set ? 'fullmatch.yaml' : 'default']);
    }
  });

  test('contains every key; those without a default are valid once uncommented', () => {
    const all = example.replaceAll(/^( *)# ([a-zA-Z]+: \S+)$/gm, '$1$2');
    const { origins, config } = loadConfig(configSources({ texts: { 'fullmatch.yaml': all } }));
    for (const key of SETTINGS.keys())
      expect([key, origins.get(key)]).toEqual([key, 'fullmatch.yaml']);
    expect(config.registry.list).toBe('/srv/chains.json');
  });

  test('contains example chains that are valid once uncommented', () => {
    const lines = example.split('\n');
    const from = lines.indexOf('# chains:');
    const to = lines.indexOf('', from);
    const text = lines
      .slice(from, to)
      .map((line) => line.replace(/^# /, ''))
      .join('\n');
    const environment = { EXAMPLE_RPC_KEY: 'correct horse' };
    const { config } = loadConfig(
      configSources({ texts: { 'fullmatch.yaml': text }, environment }),
    );
    expect([...config.chains.keys()]).toEqual([1, 20_250_101]);
  });
});
