import { describe, expect, test } from 'vitest';
import { configSources } from '../../test/support/config-sources.ts';
import { FullmatchError } from '../errors.ts';
import { loadConfig } from './load-config.ts';
import { type Problem } from './problems.ts';

type Given = Parameters<typeof configSources>[0];

const load = (given: Given) => loadConfig(configSources(given));

function problemsOf(given: Given): readonly Problem[] {
  try {
    load(given);
  } catch (error) {
    if (error instanceof FullmatchError) return error.details['problems'] as readonly Problem[];
    throw error;
  }
  return [];
}

const file = (text: string) => ({ texts: { 'fullmatch.yaml': text } });

describe('Chain ids', () => {
  test('are exact up to 2^53-1', () => {
    const { config } = load(
      file('chains:\n  9007199254740991: {}\n  "2716446429837000":\n  1: {}'),
    );
    expect([...config.chains.keys()]).toEqual([9007199254740991, 2716446429837000, 1]);
    expect(config.chains.get(9007199254740991)?.chainId).toBe(9007199254740991);
  });

  test.each([
    '9007199254740992',
    '9007199254740993',
    '0',
    '-1',
    '0x1',
    '1.0',
    '1e3',
    '01',
    'one',
    '""',
    '~',
    'true',
    '__proto__',
  ])('must be decimal: %s is rejected', (key) => {
    const [problem, ...others] = problemsOf(file(`chains:\n  ${key}: {}`));
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ code: 'invalid_configuration', where: 'fullmatch.yaml:2:3' });
  });

  test('in hex are rejected with the decimal form in the message', () => {
    expect(problemsOf(file('chains: { 0x38: {} }'))[0]?.message).toContain('write 56');
  });

  test('integer fields beyond 2^53-1 are rejected instead of rounded', () => {
    const [problem] = problemsOf(file('chains: { 1: { networkId: 9007199254740993 } }'));
    expect(problem).toMatchObject({ code: 'invalid_configuration', where: 'fullmatch.yaml:1:27' });
  });
});

describe('Duplicate chain', () => {
  test.each(['chains:\n  1: {}\n  1: {}', 'chains:\n  1: {}\n  "1": {}'])(
    'in one file is rejected: %j',
    (text) => {
      expect(problemsOf(file(text))[0]?.message).toContain('fullmatch.yaml:2:3');
    },
  );

  test('in the file and the folder is rejected with both positions', () => {
    const texts = { 'fullmatch.yaml': 'chains:\n  1: {}', 'chains.d/main.yaml': '\n1: {}' };
    const [problem] = problemsOf({ texts });
    expect(problem?.where).toBe('chains.d/main.yaml:2:1');
    expect(problem?.message).toContain('fullmatch.yaml:2:3');
  });

  test('in two files of the folder is rejected with both positions', () => {
    const texts = { 'chains.d/a.yaml': '1: {}', 'chains.d/b.yml': '5: {}\n1: {}' };
    const [problem] = problemsOf({ texts });
    expect(problem?.where).toBe('chains.d/b.yml:2:1');
    expect(problem?.message).toContain('chains.d/a.yaml:1:1');
  });
});

describe('Chains folder', () => {
  test('adds its files to the chains of the configuration file, with their origin', () => {
    const { config, origins } = load({
      texts: {
        'fullmatch.yaml': 'chains: { 1: {} }',
        'chains.d/5.yaml': '5: { supported: false }',
        'chains.d/10.json': '{ "10": { "monitored": true } }',
        'chains.d/README.md': 'not: [yaml',
        'chains.d/.hidden.yaml': 'not: [yaml',
        'chains.d/5.yaml.bak': 'not: [yaml',
      },
    });
    expect([...config.chains.keys()].sort((a, b) => a - b)).toEqual([1, 5, 10]);
    expect(config.chains.get(5)?.supported).toBe(false);
    expect(origins.get('chains.1')).toBe('fullmatch.yaml');
    expect(origins.get('chains.5')).toBe('chains.d/5.yaml');
    expect(origins.get('chains.10')).toBe('chains.d/10.json');
  });

  test('is located next to the configuration file', () => {
    const texts = {
      '/etc/f/f.yaml': '',
      '/etc/f/chains.d/1.yaml': '1: {}',
      'chains.d/2.yaml': '2: {}',
    };
    const { config } = load({ texts, flags: { config: '/etc/f/f.yaml' } });
    expect([...config.chains.keys()]).toEqual([1]);
  });

  test('must exist if configured, but not if it is the default', () => {
    expect(problemsOf(file('chainsDirectory: more'))[0]).toMatchObject({
      code: 'configuration_file_unreadable',
      key: 'chainsDirectory',
    });
    expect(problemsOf(file('chainsDirectory: chains.d'))).toEqual([]);
  });

  test('may have any path', () => {
    const texts = { 'fullmatch.yaml': 'chainsDirectory: more', 'more/x.yaml': '7: {}' };
    expect([...load({ texts }).config.chains.keys()]).toEqual([7]);
  });

  test('reports every problem with file, line and column', () => {
    const texts = {
      'chains.d/a.yaml': '1: { supported: 1 }',
      'chains.d/b.yaml': 'x: [',
      'chains.d/c.yaml': '- 1',
    };
    const places = problemsOf({ texts }).map((problem) => problem.where);
    expect(places).toEqual(['chains.d/b.yaml:1:5', 'chains.d/a.yaml:1:6', 'chains.d/c.yaml:1:1']);
  });
});

describe('Chain fields', () => {
  test('are reported with their position if invalid', () => {
    const text = 'chains:\n  1:\n    explorers:\n      - name: X\n        url: 5\n    rpc: [1]';
    expect(problemsOf(file(text)).map((problem) => problem.where)).toEqual([
      'fullmatch.yaml:6:11',
      'fullmatch.yaml:5:9',
    ]);
  });

  test('are validated as a whole: an entry that is not a map is rejected', () => {
    expect(problemsOf(file('chains: { 1: true }'))).toHaveLength(1);
    expect(problemsOf(file('chains: [1]'))).toHaveLength(1);
  });

  test('privateRpc accepts HTTP and WebSocket URLs only', () => {
    const text = (url: string) => file(`chains: { 1: { privateRpc: ["${url}"] } }`);
    expect(problemsOf(text('wss://rpc.example'))).toEqual([]);
    expect(problemsOf(text('ftp://rpc.example'))).toHaveLength(1);
    expect(problemsOf(text('https://rpc.example/${no-name}'))).toHaveLength(1);
  });
});
