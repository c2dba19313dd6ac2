import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { configSources } from '../../test/support/config-sources.ts';
import { FullmatchError, type ErrorCode } from '../errors.ts';
import { loadConfig } from './load-config.ts';
import { type Problem } from './problems.ts';
import { SETTINGS, type SettingKey } from './settings.ts';

type Given = Parameters<typeof configSources>[0];

const load = (given: Given = {}) => loadConfig(configSources(given));

/** Returns the problems for which a configuration is rejected. */
function problemsOf(given: Given): {
  code: ErrorCode;
  problems: readonly Problem[];
  message: string;
} {
  try {
    load(given);
  } catch (error) {
    if (!(error instanceof FullmatchError)) throw error;
    const problems = error.details['problems'] as readonly Problem[];
    return { code: error.code, problems, message: error.message };
  }
  throw new Error('expected the configuration to be refused');
}

const file = (text: string) => ({ texts: { 'fullmatch.yaml': text } });

describe('Defaults', () => {
  test('apply if nothing is configured', () => {
    const { config, origins, secrets, file: read } = load();
    expect(config).toMatchObject({
      host: '127.0.0.1',
      api: { enabled: true, port: 5555, prefix: '/server' },
      repository: { enabled: true, port: 10_000 },
      metrics: { enabled: false, port: 9464 },
      dataDir: '/srv/fullmatch-data',
      database: { poolSize: 10, minFreeBytes: 268_435_456 },
      registry: { include: 'all', defaults: true, localChains: false },
    });
    expect(config.compilers.folder).toBe('/srv/fullmatch-data/compilers');
    expect(config.chainsDirectory).toBe('/srv/chains.d');
    expect(config.chains.size).toBe(0);
    expect(new Set(origins.values())).toEqual(new Set(['default']));
    expect(secrets).toEqual([]);
    expect(read).toBeUndefined();
  });

  test('omit optional keys instead of setting undefined', () => {
    const { config } = load();
    expect(Object.keys(config.api)).toEqual(['enabled', 'port', 'prefix']);
    expect(Object.keys(config.database)).toEqual([
      'poolSize',
      'minFreeBytes',
      'sharedBuffersBytes',
      'maxConnections',
    ]);
  });

  test('apply to an empty file and empty sections', () => {
    expect(load(file('')).config).toEqual(load().config);
    expect(load(file('# nothing\napi:\nchains:\n')).config).toEqual(load().config);
  });
});

/** Valid values of each key as text, none of them the default. */
const SAMPLES: Readonly<Record<string, readonly [string, string, string]>> = {
  host: ['0.0.0.0', '::1', 'localhost'],
  'api.port': ['1', '2', '3'],
  'api.prefix': ['/a', '/b/c', '/c'],
  'log.level': ['debug', 'warn', 'error'],
  'registry.defaults': ['false', 'true', 'false'],
  'registry.include': ['configured', 'all', 'configured'],
  'limits.requestBytes': ['2048', '4096', '8192'],
};

describe('Precedence', () => {
  test('is flags, environment, file, defaults for every key and combination of layers', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...(Object.keys(SAMPLES) as SettingKey[])),
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        (key, inFlag, inEnvironment, inFile) => {
          const [first, second, third] = SAMPLES[key]!;
          const setting = SETTINGS.get(key)!;
          const name = setting.variable;
          const steps = key.split('.');
          const yaml =
            steps.length === 2 ? `${steps[0]}: { ${steps[1]}: ${third} }` : `${key}: ${third}`;
          const { config, origins } = load({
            flags: inFlag ? { [key]: first } : {},
            environment: inEnvironment ? { [name]: second } : {},
            texts: inFile ? { 'fullmatch.yaml': yaml } : {},
          });
          const expected = inFlag
            ? [first, `flag ${setting.flag ?? `--${key}`}`]
            : inEnvironment
              ? [second, `environment ${name}`]
              : inFile
                ? [third, 'fullmatch.yaml']
                : [String(setting.default), 'default'];
          const value = steps.reduce<unknown>(
            (at, step) => (at as Record<string, unknown>)[step],
            config,
          );
          expect([String(value), origins.get(key)]).toEqual(expected);
        },
      ),
    );
  });

  test('reports an origin for every key', () => {
    expect([...load().origins.keys()]).toEqual([...SETTINGS.keys()]);
  });

  test('still rejects an invalid value overridden by a higher layer', () => {
    const { code } = problemsOf({ flags: { 'api.port': '1' }, ...file('api: { port: many }') });
    expect(code).toBe('invalid_configuration');
  });
});

describe('Configuration file', () => {
  test('is taken from --config, else FULLMATCH_CONFIG, else fullmatch.yaml', () => {
    const texts = {
      'fullmatch.yaml': 'api: { port: 1 }',
      'other.yaml': 'api: { port: 2 }',
      '/etc/third.yaml': 'api: { port: 3 }',
    };
    const environment = { FULLMATCH_CONFIG: 'other.yaml' };
    expect(load({ texts }).config.api.port).toBe(1);
    expect(load({ texts, environment }).config.api.port).toBe(2);
    const third = load({ texts, environment, flags: { config: '/etc/third.yaml' } });
    expect(third.config.api.port).toBe(3);
    expect(third.file).toBe('/etc/third.yaml');
    expect(third.origins.get('api.port')).toBe('/etc/third.yaml');
  });

  test('must exist if named explicitly', () => {
    const { code, problems } = problemsOf({ flags: { config: 'none.yaml' } });
    expect(code).toBe('configuration_file_unreadable');
    expect(problems[0]?.where).toBe('flag --config');
  });

  test('named fullmatch.yml is rejected instead of ignored', () => {
    const { code } = problemsOf({ texts: { 'fullmatch.yml': 'host: localhost' } });
    expect(code).toBe('configuration_file_unreadable');
  });

  test('is the base of its relative paths; flags and variables use the working directory', () => {
    const texts = {
      '/etc/fullmatch/f.yaml':
        'dataDir: data\ndatabase: { binaries: bin }\nregistry: { list: l.json }',
    };
    const flags = { config: '/etc/fullmatch/f.yaml' };
    const { config } = load({ texts, flags });
    expect(config.dataDir).toBe('/etc/fullmatch/data');
    expect(config.database.binaries).toBe('/etc/fullmatch/bin');
    expect(config.registry.list).toBe('/etc/fullmatch/l.json');
    expect(load({ texts, flags: { ...flags, dataDir: 'data' } }).config.dataDir).toBe('/srv/data');
    const environment = { FULLMATCH_DATA_DIR: 'data' };
    expect(load({ texts, flags, environment }).config.dataDir).toBe('/srv/data');
  });

  test('is the base of the chains folder; compilers are below the data directory', () => {
    const texts = { '/etc/fullmatch/f.yaml': 'dataDir: data' };
    const { config } = load({ texts, flags: { config: '/etc/fullmatch/f.yaml' } });
    expect(config.chainsDirectory).toBe('/etc/fullmatch/chains.d');
    expect(config.compilers.folder).toBe('/etc/fullmatch/data/compilers');
  });
});

describe('Unknown keys', () => {
  test.each([
    ['the top level', 'registy: {}', '1:1', "'registry'"],
    ['a section', 'host: localhost\napi:\n  prot: 1', '3:3', "'port'"],
    ['another section', 'limits:\n  requestByte: 1', '2:3', "'requestBytes'"],
    ['the wrong level', 'port: 1', '1:1', "'api.port'"],
    ['the wrong case', 'datadir: x', '1:1', "'dataDir'"],
    ['an entry of chains', 'chains:\n  1:\n    suported: true', '3:5', "'supported'"],
  ])('at %s are rejected with their position and a suggestion', (_where, text, place, meant) => {
    const { code, problems } = problemsOf(file(text));
    expect(code).toBe('unknown_configuration_key');
    expect(problems).toHaveLength(1);
    expect(problems[0]?.where).toBe(`fullmatch.yaml:${place}`);
    expect(problems[0]?.message).toContain(meant);
  });

  test('without a close match are rejected with the list of valid keys', () => {
    const { problems } = problemsOf(file('metrics: { zzz: 1 }'));
    expect(problems[0]?.message).toContain('enabled, port');
  });

  test.each([
    ['the top level', (key: string) => `${key}: 1`, '1:1'],
    ['a section', (key: string) => `host: localhost\napi:\n  ${key}: 1`, '3:3'],
    ['the chains', (key: string) => `chains:\n  ${key}: {}`, '2:3'],
    ['an entry of chains', (key: string) => `chains:\n  1:\n    ${key}: true`, '3:5'],
    [
      'a field of an entry of chains',
      (key: string) => `chains:\n  1:\n    nativeCurrency:\n      ${key}: true`,
      '4:7',
    ],
    ['two lines', (key: string) => `host: localhost\n${key}: 1\n${key}: 1`, '2:1'],
  ])('at %s are not quoted if they may be secrets', (_where, textOf, place) => {
    for (const key of [
      'https://rpc.example.org/v3/hunter2hunter2',
      'wss://user:hunter2@rpc.example.org',
      '"hunter2 with words"',
      `hunter2${'a'.repeat(60)}`,
      'key.hunter2',
    ]) {
      const { message, problems } = problemsOf(file(textOf(key)));
      expect(JSON.stringify({ message, problems })).not.toContain('hunter2');
      expect(problems.map(({ where }) => where)).toContain(`fullmatch.yaml:${place}`);
    }
  });

  test.each(['api.port: 1', 'registry: { sync.urls: [a.json] }'])(
    'spelled with a dot are rejected, so that each key has one place: %s',
    (text) => {
      expect(problemsOf(file(text)).code).toBe('unknown_configuration_key');
    },
  );

  test.each(['__proto__', 'constructor', 'toString'])(
    'named %s are rejected like any other',
    (name) => {
      expect(problemsOf(file(`${name}: { host: x }`)).code).toBe('unknown_configuration_key');
    },
  );

  test.each([
    ['FULLMATCH_API_PROT', 'FULLMATCH_API_PORT'],
    ['FULLMATCH_DATABASE_URL', 'DATABASE_URL'],
    ['FULLMATCH_DATADIR', 'FULLMATCH_DATA_DIR'],
  ])('in the environment are rejected: %s', (name, meant) => {
    const { code, problems } = problemsOf({ environment: { [name]: '1' } });
    expect(code).toBe('unknown_configuration_key');
    expect(problems[0]?.where).toBe(`environment ${name}`);
    expect(problems[0]?.message).toContain(`'${meant}'`);
  });

  test('in the environment are not quoted if they may be secrets', () => {
    const environment = { 'FULLMATCH_https://hunter2@a.example': '1' };
    const { code, message, problems } = problemsOf({ environment });
    expect(code).toBe('unknown_configuration_key');
    expect(JSON.stringify({ message, problems })).not.toContain('hunter2');
  });

  test('of other programs in the environment are ignored', () => {
    expect(() => load({ environment: { PATH: '/bin', PORT: '1', __proto__x: 'y' } })).not.toThrow();
  });
});

describe('Invalid values', () => {
  test.each([
    ['host: 0', 'host'],
    ['host: a b', 'host'],
    ['host:', 'host'],
    ['api: { port: 65536 }', 'api.port'],
    ['api: { port: -1 }', 'api.port'],
    ['api: { port: 1.5 }', 'api.port'],
    ['api: { port: "5555" }', 'api.port'],
    ['api: { port: [1] }', 'api.port'],
    ['api: { enabled: yes }', 'api.enabled'],
    ['api: { prefix: server }', 'api.prefix'],
    ['api: { prefix: /server/ }', 'api.prefix'],
    ['api: { prefix: /../x }', 'api.prefix'],
    ['api: { publicUrl: ftp://x }', 'api.publicUrl'],
    ['api: { publicUrl: "https://user:pass@x" }', 'api.publicUrl'],
    ['registry: { include: some }', 'registry.include'],
    ['database: { poolSize: 0 }', 'database.poolSize'],
    ['database: { url: mysql://x }', 'database.url'],
    ['log: { level: trace }', 'log.level'],
  ])('%s is rejected with its key', (text, key) => {
    const { code, problems } = problemsOf(file(text));
    expect(code).toBe('invalid_configuration');
    expect(problems.map((problem) => problem.key)).toEqual([key]);
    expect(problems[0]?.message).toContain('expected');
  });

  test.each([
    ['api: { port: 65536 }', 'found 65536'],
    ['api: { port: "5555" }', 'found a text'],
    ['api: { enabled: yes }', 'found a text'],
    ['database: { poolSize: 84295510367 }', 'found a number'],
    ['api: { port: [1] }', 'found a list'],
  ])('%s is reported by the value found, without possible secrets', (text, found) => {
    expect(problemsOf(file(text)).problems[0]?.message).toContain(found);
  });

  test.each([
    ['api:\n  port: [\n', 'a closing ] is missing'],
    ['api:\n  port: [1, 2\nhost: x\n', 'a closing ] is missing'],
    ['api: {\n  port: 1\n', 'a closing } is missing'],
  ])('an unclosed bracket is reported for %j', (text, problem) => {
    expect(problemsOf(file(text)).problems[0]?.message).toContain(problem);
  });

  test.each(['api: 5555', 'api: [1]', '- host', 'just text'])(
    'a section that is not a map is rejected: %s',
    (text) => {
      expect(problemsOf(file(text)).code).toBe('invalid_configuration');
    },
  );

  test.each(['0x10', '1e3', '+1', ' 1', '01', '1.0', 'many', '99999999999999999999'])(
    'a port in a variable or flag must be plain digits, not %j',
    (text) => {
      expect(problemsOf({ environment: { FULLMATCH_API_PORT: text } }).problems).toHaveLength(1);
      expect(problemsOf({ flags: { 'api.port': text } }).problems).toHaveLength(1);
    },
  );

  test('are reported all at once from every source', () => {
    const { code, problems, message } = problemsOf({
      flags: { 'log.level': 'loud' },
      environment: { FULLMATCH_API_PORT: 'x', FULLMATCH_HSOT: 'y' },
      ...file('hots: x\napi: { enabled: 1 }\nchains:\n  x: {}\n  1: { supported: maybe }'),
    });
    expect(code).toBe('invalid_configuration');
    expect(problems.map((problem) => problem.where)).toEqual([
      'fullmatch.yaml:1:1',
      'fullmatch.yaml:2:8',
      'flag --log-level',
      'environment FULLMATCH_API_PORT',
      'fullmatch.yaml:4:3',
      'fullmatch.yaml:5:8',
      'environment FULLMATCH_HSOT',
    ]);
    for (const problem of problems) expect(message).toContain(problem.message);
  });
});

describe('Combinations of keys', () => {
  test('rejects two listeners on one port, but not two free ports', () => {
    expect(
      problemsOf({ flags: { 'api.port': '7', 'repository.port': '7' } }).problems[0]?.key,
    ).toBe('repository.port');
    expect(problemsOf(file('metrics: { enabled: true, port: 5555 }')).problems[0]?.key).toBe(
      'metrics.port',
    );
    expect(load({ flags: { 'api.port': '0', 'repository.port': '0' } }).config.api.port).toBe(0);
  });

  test('ignores the port of a disabled host', () => {
    expect(() => load(file('api: { enabled: false, port: 10000 }'))).not.toThrow();
    expect(() => load(file('metrics: { port: 5555 }'))).not.toThrow();
  });

  test('rejects a process that would serve nothing', () => {
    const text = 'api: { enabled: false }\nrepository: { enabled: false }';
    expect(problemsOf(file(text)).code).toBe('invalid_configuration');
  });
});

describe('Normalization', () => {
  test('removes the trailing slash of a public URL', () => {
    const { config } = load(file('api: { publicUrl: https://x.example/a/ }'));
    expect(config.api.publicUrl).toBe('https://x.example/a');
  });

  test('treats the prefix / as no prefix', () => {
    expect(load({ environment: { FULLMATCH_API_PREFIX: '/' } }).config.api.prefix).toBe('');
  });
});

describe('Sources of the public list', () => {
  const urlsOf = (value: string): readonly string[] =>
    loadConfig(
      configSources({
        texts: { 'conf/a.yaml': `registry: { sync: { urls: ${value} } }` },
        flags: { config: 'conf/a.yaml' },
      }),
    ).config.registry.sync.urls;

  test('are empty by default', () => {
    expect(loadConfig(configSources()).config.registry.sync.urls).toEqual([]);
  });

  test('are URLs or files next to the configuration file, in order', () => {
    expect(urlsOf('[https://a.example/chains.json, ./b.json]')).toEqual([
      'https://a.example/chains.json',
      '/srv/conf/b.json',
    ]);
    expect(urlsOf('https://a.example/chains.json')).toEqual(['https://a.example/chains.json']);
  });

  test('may be separated by commas or white space in a variable', () => {
    const environment = { FULLMATCH_REGISTRY_SYNC_URLS: 'https://a.example/c.json, b.json' };
    expect(loadConfig(configSources({ environment })).config.registry.sync.urls).toEqual([
      'https://a.example/c.json',
      '/srv/b.json',
    ]);
  });

  test.each([
    '[ftp://a.example/chains.json]',
    '[https://user:secret@a.example/chains.json]',
    '[https://a.example/chains.json?key=secret]',
    '[a.json, a.json]',
    '[7]',
    '[""]',
  ])('are rejected when they are %s', (value) => {
    expect(() => urlsOf(value)).toThrow(expect.objectContaining({ code: 'invalid_configuration' }));
  });
});
