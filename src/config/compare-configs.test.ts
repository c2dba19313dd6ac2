import { describe, expect, test } from 'vitest';
import { configSources } from '../../test/support/config-sources.ts';
import { compareConfigs } from './compare-configs.ts';
import { type LoadedConfig } from './config.ts';
import { loadConfig } from './load-config.ts';

const KEY = 'correct-horse-battery';
const load = (yaml: string, environment: Record<string, string> = {}): LoadedConfig =>
  loadConfig(configSources({ texts: { 'fullmatch.yaml': yaml }, environment }));

describe('Two configurations', () => {
  test.each<[string, string, string[], string[]]>([
    ['', '', [], []],
    ['', 'host: 127.0.0.1', [], []],
    ['', 'log: { level: debug }', ['log.level'], []],
    ['', 'log: { format: json }', [], ['log.format']],
    ['', 'registry: { localChains: true }', ['registry.localChains'], []],
    ['', 'registry: { icons: i }', ['registry.icons'], []],
    ['registry: { list: a.json }', '', ['registry.list'], []],
    ['', 'registry: { sync: { everySeconds: 5 } }', [], ['registry.sync.everySeconds']],
    ['', 'api: { port: 1234 }', [], ['api.port']],
    ['', 'chains: { 5: {}, 10: {} }', ['chains.5', 'chains.10'], []],
    ['chains: { 5: {}, 10: {} }', 'chains: { 10: {}, 5: {} }', [], []],
    ['chains: { 5: {} }', 'chains: { 5: { monitored: true } }', ['chains.5'], []],
    ['chains: { 5: { rpc: ["http://a.example"] } }', 'chains: { 5: {} }', ['chains.5'], []],
    ['log: { level: warn }', 'api: { prefix: /v }', ['log.level'], ['api.prefix']],
  ])('%j and %j differ live in %j and after a restart in %j', (before, after, live, restart) => {
    expect(compareConfigs(load(before), load(after))).toEqual({ live, restart });
  });

  test('differ by a secret without showing its value', () => {
    const yaml = 'chains: { 5: { privateRpc: ["https://a.example/${K}"] } }';
    const [first, second] = [load(yaml, { K: KEY }), load(yaml, { K: `${KEY}2` })];
    expect(compareConfigs(first, load(yaml, { K: KEY }))).toEqual({ live: [], restart: [] });
    expect(compareConfigs(first, second)).toEqual({ live: ['chains.5'], restart: [] });
    const database = (password: string): LoadedConfig =>
      load('', { DATABASE_URL: `postgres://a:${password}@h/d` });
    const difference = compareConfigs(database(KEY), database(`${KEY}2`));
    expect(difference).toEqual({ live: [], restart: ['database.url'] });
  });
});
