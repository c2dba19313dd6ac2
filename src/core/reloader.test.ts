import { describe, expect, test } from 'vitest';
import { configSources } from '../../test/support/config-sources.ts';
import { type LoadedConfig } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { FullmatchError } from '../errors.ts';
import { createLogger } from '../log.ts';
import { Reloader } from './reloader.ts';

const KEYED = (key: string): string =>
  `chains: { 5: { privateRpc: ["https://a.example/${key}"] } }`;

/** A reloader whose file and clock the test controls, and a record of what it applied and logged. */
function prepare(yaml = '') {
  const world = {
    yaml,
    clock: 0,
    loads: 0,
    applied: [] as LoadedConfig[],
    log: [] as string[],
    apply: async (): Promise<void> => undefined,
  };
  const load = (): LoadedConfig => {
    world.loads += 1;
    return loadConfig(configSources({ texts: { 'fullmatch.yaml': world.yaml } }));
  };
  const apply = async (next: LoadedConfig): Promise<void> => {
    await world.apply();
    world.applied.push(next);
  };
  const started = load();
  const log = createLogger('debug', { write: (line) => void world.log.push(line) });
  const parts = { started, load, apply, now: () => new Date(world.clock) };
  return { world, reloader: new Reloader(parts, log) };
}

describe('Reload', () => {
  test('applies live changes and lists those that require a restart until it happens', async () => {
    const { world, reloader } = prepare();
    world.clock = 5000;
    world.yaml = 'log: { level: debug }\napi: { port: 1 }';
    const first = { taken: true, changed: ['log.level'], restart: ['api.port'] };
    expect(await reloader.reload()).toEqual(first);
    expect(world.applied[0]?.config.log.level).toBe('debug');
    expect(reloader.state).toEqual({ loadedAt: new Date(5000) });
    expect(await reloader.reload()).toEqual({ taken: true, changed: [], restart: ['api.port'] });
    world.yaml = 'log: { level: debug }';
    expect(await reloader.reload()).toEqual({ taken: true, changed: [], restart: [] });
  });

  test('of a bad file changes nothing and reports since when and why, until fixed', async () => {
    const { world, reloader } = prepare();
    world.clock = 1000;
    world.yaml = 'lgo: { level: debug }';
    const outcome = await reloader.reload();
    expect(outcome).toMatchObject({ taken: false, code: 'unknown_configuration_key' });
    expect(outcome.reason).toContain("unknown key 'lgo'");
    world.clock = 2000;
    await reloader.reload();
    expect(world.applied).toEqual([]);
    expect(reloader.state).toEqual({
      loadedAt: new Date(0),
      refusal: {
        since: new Date(1000),
        detail: 'Unknown configuration key at fullmatch.yaml:1:1',
      },
    });
    const lines = world.log.map((line) => JSON.parse(line) as { event: string; code: string });
    expect(lines).toMatchObject([
      { event: 'configuration_refused', code: 'unknown_configuration_key' },
      { event: 'configuration_refused', code: 'unknown_configuration_key' },
    ]);
    world.clock = 3000;
    world.yaml = '';
    expect(await reloader.reload()).toMatchObject({ taken: true });
    expect(reloader.state).toEqual({ loadedAt: new Date(3000) });
  });

  test('that fails to apply is rejected, and later compared with the active configuration', async () => {
    const { world, reloader } = prepare();
    world.yaml = 'log: { level: debug }';
    world.apply = () => Promise.reject(new FullmatchError('secret_in_document', 'Chain 5: rpc'));
    expect(await reloader.reload()).toEqual({
      taken: false,
      changed: [],
      restart: [],
      code: 'secret_in_document',
      reason: 'Chain 5: rpc',
    });
    world.apply = () => Promise.reject(new Error('hunter2'));
    expect(await reloader.reload()).toMatchObject({ taken: false, code: 'internal_error' });
    expect(reloader.state.refusal?.detail).not.toContain('hunter2');
    world.apply = async () => undefined;
    expect(await reloader.reload()).toMatchObject({ changed: ['log.level'] });
  });

  test("does not reveal the file's text publicly", async () => {
    const { world, reloader } = prepare();
    world.yaml =
      'log: { level: correct-horse }\n"correct-horse/x": 1\nchains: { correct-horse: 1 }';
    const { reason } = await reloader.reload();
    expect(reason).toContain('log.level: expected one of debug');
    expect(reason).not.toContain('correct-horse');
    expect(reloader.state.refusal?.detail).not.toContain('correct-horse');
    expect(reloader.state.refusal?.detail).toContain('fullmatch.yaml:1:');
  });

  test('keeps the secrets of all previous configurations', async () => {
    const [one, two] = ['0123456789abcdef-one', '0123456789abcdef-two'];
    const { world, reloader } = prepare(KEYED(one));
    world.yaml = KEYED(two);
    await reloader.reload();
    world.yaml = '';
    await reloader.reload();
    const names = world.applied.map(({ secrets }) => secrets.map(({ name }) => name));
    const earlier = 'chains.5.privateRpc[0] (of an earlier configuration)';
    expect(names).toEqual([
      ['chains.5.privateRpc[0]', earlier],
      [earlier, earlier],
    ]);
    const values = world.applied[1]!.secrets.map(({ secret }) => secret.reveal());
    expect(values.sort()).toEqual([one, two].map((key) => `https://a.example/${key}`));
  });

  test('requested during another one reads the file once more for all requesters', async () => {
    const { world, reloader } = prepare();
    let release = (): void => undefined;
    world.apply = () => new Promise((resolve) => (release = resolve));
    const first = reloader.reload();
    await new Promise((resolve) => setImmediate(resolve));
    world.yaml = 'log: { level: debug }';
    const others = [reloader.reload(), reloader.reload(), reloader.reload()];
    world.apply = async () => undefined;
    release();
    expect(await first).toMatchObject({ changed: [] });
    for (const other of others) expect(await other).toMatchObject({ changed: ['log.level'] });
    expect(world.loads).toBe(3);
  });
});
