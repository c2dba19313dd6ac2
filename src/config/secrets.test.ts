import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { configSources } from '../../test/support/config-sources.ts';
import { FullmatchError } from '../errors.ts';
import { type LoadedConfig } from './config.ts';
import { loadConfig } from './load-config.ts';

type Given = Parameters<typeof configSources>[0];

const load = (given: Given): LoadedConfig => loadConfig(configSources(given));

function refusal(given: Given): FullmatchError {
  try {
    load(given);
  } catch (error) {
    if (error instanceof FullmatchError) return error;
    throw error;
  }
  throw new Error('expected the configuration to be refused');
}

const inFile = (text: string): Given => ({ texts: { 'fullmatch.yaml': text } });

const PASSWORD = 'correct%20horse%20battery';
const DATABASE_URL = `postgres://fullmatch:${PASSWORD}@db.example:5432/fullmatch`;
const KEY = '0123456789abcdef0123456789abcdef';
const CHAIN = 'chains:\n  1:\n    privateRpc:\n      - https://rpc.example/v3/${RPC_KEY}\n';

function revealed({ secrets }: LoadedConfig): Record<string, string[]> {
  const byName: Record<string, string[]> = {};
  for (const { name, secret } of secrets) (byName[name] ??= []).push(secret.reveal());
  return byName;
}

describe('Database URL', () => {
  test('is a secret, and so is its password in raw and decoded form', () => {
    const loaded = load({ environment: { DATABASE_URL } });
    expect(loaded.config.database.url?.reveal()).toBe(DATABASE_URL);
    expect(loaded.origins.get('database.url')).toBe('environment DATABASE_URL');
    expect(revealed(loaded)).toEqual({
      DATABASE_URL: [DATABASE_URL],
      'DATABASE_URL (password)': [PASSWORD, 'correct horse battery'],
    });
  });

  test('is read from the DATABASE_URL_FILE without a trailing line break', () => {
    const loaded = load({
      environment: { DATABASE_URL_FILE: 'secret/url' },
      texts: { 'secret/url': `${DATABASE_URL}\n` },
    });
    expect(loaded.config.database.url?.reveal()).toBe(DATABASE_URL);
    expect(loaded.origins.get('database.url')).toBe('environment DATABASE_URL_FILE');
  });

  test('in the configuration file is a secret named by its key', () => {
    const loaded = load({ texts: { 'fullmatch.yaml': `database: { url: "${DATABASE_URL}" }` } });
    expect(revealed(loaded)['database.url']).toEqual([DATABASE_URL]);
  });

  test('may contain its password in the query', () => {
    const url = 'postgres://db.example/x?user=u&password=open-sesame-1';
    expect(
      revealed(load({ environment: { DATABASE_URL: url } }))['DATABASE_URL (password)'],
    ).toEqual(['open-sesame-1']);
  });

  test('ignores common short passwords, which any document may contain', () => {
    const loaded = load({ environment: { DATABASE_URL: 'postgres://u:test@localhost/x' } });
    expect(Object.keys(revealed(loaded))).toEqual(['DATABASE_URL']);
  });
});

describe('Variables in privateRpc', () => {
  test.each([
    ['the environment', { RPC_KEY: KEY }, {}],
    ['a file', { RPC_KEY_FILE: '/run/secrets/key' }, { '/run/secrets/key': `${KEY}\r\n` }],
  ])('are read from %s', (_source, environment: Record<string, string>, texts) => {
    const loaded = load({ environment, texts: { 'fullmatch.yaml': CHAIN, ...texts } });
    const url = `https://rpc.example/v3/${KEY}`;
    expect(loaded.config.chains.get(1)?.privateRpc?.map((secret) => secret.reveal())).toEqual([
      url,
    ]);
    expect(revealed(loaded)).toEqual({ RPC_KEY: [KEY], 'chains.1.privateRpc[0]': [url] });
  });

  test('that are missing are reported with their chain and field', () => {
    const error = refusal({ texts: { 'fullmatch.yaml': CHAIN } });
    expect(error.code).toBe('environment_variable_missing');
    expect(error.message).toContain('fullmatch.yaml:4:9');
    for (const part of ['chain 1', 'privateRpc[0]', 'RPC_KEY'])
      expect(error.message).toContain(part);
  });

  test('are all reported if several are missing', () => {
    const text = `${CHAIN}      - https://\${USER_NAME}:\${PASS}@rpc.example\n`;
    const error = refusal({ texts: { 'fullmatch.yaml': text } });
    expect(error.details['problems']).toHaveLength(3);
  });

  test('set both as a value and as a file are rejected', () => {
    const environment = { RPC_KEY: KEY, RPC_KEY_FILE: '/key' };
    const error = refusal({ environment, texts: { 'fullmatch.yaml': CHAIN, '/key': KEY } });
    expect(error.code).toBe('invalid_configuration');
  });

  test.each([
    ['missing', {}],
    ['empty', { '/key': '\n' }],
  ])('whose file is %s are rejected', (_what, texts) => {
    const environment = { RPC_KEY_FILE: '/key' };
    const error = refusal({ environment, texts: { 'fullmatch.yaml': CHAIN, ...texts } });
    expect(error.code).toBe('configuration_file_unreadable');
  });

  test('are substituted once: a value like a variable is not expanded and is rejected', () => {
    const environment = { RPC_KEY: '${PATH}', PATH: '/secret/path' };
    const error = refusal({ environment, texts: { 'fullmatch.yaml': CHAIN } });
    expect(error.code).toBe('invalid_configuration');
    expect(error.message).not.toContain('/secret/path');
  });

  test.each(['__proto__', 'constructor', 'toString'])(
    'must be own properties: %s is missing',
    (name) => {
      const text = CHAIN.replace('RPC_KEY', name);
      expect(refusal({ texts: { 'fullmatch.yaml': text } }).code).toBe(
        'environment_variable_missing',
      );
    },
  );

  test('may have any name, including the FULLMATCH_ prefix', () => {
    const text = CHAIN.replace('RPC_KEY', 'FULLMATCH_RPC_KEY');
    const environment = { FULLMATCH_RPC_KEY: KEY };
    const loaded = load({ environment, texts: { 'fullmatch.yaml': text } });
    expect(Object.keys(revealed(loaded))).toContain('FULLMATCH_RPC_KEY');
  });

  test('are not substituted in public endpoints', () => {
    const text = 'chains: { 1: { rpc: ["https://rpc.example/${RPC_KEY}"] } }';
    const loaded = load({ environment: { RPC_KEY: KEY }, texts: { 'fullmatch.yaml': text } });
    expect(loaded.config.chains.get(1)?.rpc).toEqual(['https://rpc.example/${RPC_KEY}']);
  });
});

describe('Secrets are not shown', () => {
  const hidden = [PASSWORD, 'correct horse', KEY];

  test('by the configuration in any output format', () => {
    const loaded = load({
      environment: { DATABASE_URL, RPC_KEY: KEY },
      texts: { 'fullmatch.yaml': CHAIN },
    });
    const texts = [
      JSON.stringify({ ...loaded, chains: [...loaded.config.chains.values()] }),
      inspect(loaded, { depth: 20, showHidden: true }),
      `${String(loaded.config.database.url)} ${loaded.secrets.map(({ secret }) => secret).join()}`,
    ];
    for (const text of texts) for (const secret of hidden) expect(text).not.toContain(secret);
  });

  test.each([
    ['a wrong database URL', { environment: { DATABASE_URL: `mysql://u:${PASSWORD}@h/d` } }],
    [
      'a wrong database URL in the file',
      { texts: { 'fullmatch.yaml': `database: { url: ${KEY} }` } },
    ],
    [
      'a credential where none belongs',
      { environment: { FULLMATCH_API_PUBLIC_URL: `https://u:${KEY}@h` } },
    ],
    [
      'a private endpoint that is not a URL',
      {
        environment: { RPC_KEY: KEY },
        texts: { 'fullmatch.yaml': CHAIN.replace('https://rpc.example', 'rpc example') },
      },
    ],
    [
      'a private endpoint that is not a list',
      { texts: { 'fullmatch.yaml': `chains: { 1: { privateRpc: "https://x/${KEY}" } }` } },
    ],
    [
      'text that is not YAML',
      { texts: { 'fullmatch.yaml': `database:\n  url: "${DATABASE_URL}` } },
    ],
    ['an unquoted alias', { texts: { 'fullmatch.yaml': `database: { url: *${KEY} }` } }],
    ['an unquoted tag', { texts: { 'fullmatch.yaml': `database: { url: !${KEY} x }` } }],
    ['a wrong escape', { texts: { 'fullmatch.yaml': `database: { url: "\\q${KEY}" }` } }],
  ] satisfies [string, Given][])('by the error about %s', (_what, given) => {
    const error = refusal(given);
    const text = inspect(error, { depth: 20 }) + JSON.stringify(error.details);
    for (const secret of hidden) expect(text).not.toContain(secret);
  });

  test.each(
    ['hunter22', '84295510367', 'swordfish'].flatMap((secret): [string, string, Given][] => [
      [
        'a variable for a number',
        secret,
        { environment: { FULLMATCH_DATABASE_POOL_SIZE: secret } },
      ],
      ['a variable for a choice', secret, { environment: { FULLMATCH_LOG_LEVEL: secret } }],
      ['a variable for on or off', secret, { environment: { FULLMATCH_API_ENABLED: secret } }],
      ['a name of a file', secret, { environment: { DATABASE_URL_FILE: secret } }],
      ['a flag', secret, { flags: { 'log.level': secret } }],
      ['a number', secret, inFile(`database: { poolSize: ${secret} }`)],
      ['a quoted number', secret, inFile(`database: { poolSize: "${secret}" }`)],
      ['a URL', secret, inFile(`api: { publicUrl: "${secret}" }`)],
      ['a list', secret, inFile(`http: { trustedProxies: ["${secret}"] }`)],
      ['a pattern', secret, inFile(`chains: { 5: { name: X, txRegex: "(${secret}" } }`)],
    ]),
  )('by the error if used in place of %s: %s', (_what, secret, given) => {
    const error = refusal(given);
    const text = inspect(error, { depth: 20 }) + JSON.stringify(error.details);
    expect(text).not.toContain(secret);
  });

  test.each(['CanarySecret77q', 'swordfish', 'hunter22'])(
    'by the error if used in place of a chain id: %s',
    (secret) => {
      const error = refusal(inFile(`chains: { "${secret}": { name: X } }`));
      expect(inspect(error, { depth: 20 })).not.toContain(secret);
    },
  );

  test('even if the chain validator quotes them', () => {
    const error = refusal({
      environment: { RPC_KEY: KEY },
      texts: { 'fullmatch.yaml': CHAIN },
      validateChain: (_chainId, raw) => ({
        problems: [
          { code: 'invalid_configuration', field: 'privateRpc[0]', message: JSON.stringify(raw) },
        ],
      }),
    });
    expect(inspect(error, { depth: 20 })).not.toContain(KEY);
  });
});
