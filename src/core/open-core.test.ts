import { afterAll, beforeAll, expect, test } from 'vitest';
import { configSources } from '../../test/support/config-sources.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { loadConfig } from '../config/load-config.ts';
import { silentLogger } from '../log.ts';
import { sql } from '../store/database.ts';
import { type Store } from '../store/open-store.ts';
import { type ChainAccess } from './chain-access.ts';
import { type CoreOptions, openCore } from './open-core.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

const ENVIRONMENT = { FULLMATCH_REGISTRY_INCLUDE: 'configured' };

/** A core on the test's database that records when its store is opened and closed. */
function openTestCore(options: Omit<CoreOptions, 'log' | 'openStore'>) {
  const done: string[] = [];
  const openStore = async (): Promise<Store> => {
    done.push('opened');
    return {
      database: testDatabase.database,
      server: { version: '', embedded: false, joined: false },
      condition: () => ({ troubles: [] }),
      requireSpace: async () => undefined,
      openSchema: async () => testDatabase.database,
      hasSchema: async () => false,
      forgetAcknowledged: async () => undefined,
      onSnapshot: () => Promise.reject(new Error('no client')),
      onClient: () => Promise.reject(new Error('no client')),
      close: async () => void done.push('closed'),
    };
  };
  const loaded = loadConfig(configSources({ environment: ENVIRONMENT }));
  const core = openCore(loaded, { ...options, log: async () => silentLogger, openStore });
  return { core, done };
}

test('opens requested parts and their dependencies once, and closes them', async () => {
  const { core, done } = openTestCore({ registry: 'configured' });
  await core.registry();
  await core.chains();
  expect(done).toEqual([]);
  await Promise.all([core.store(), core.store()]);
  await core.close();
  expect(done).toEqual(['opened', 'closed']);
});

test('includes chains with contracts only in the stored registry', async () => {
  const statement = sql(
    'test chain',
    `INSERT INTO chain_counts (chain_id, full_match) VALUES (77, 1)`,
  );
  await testDatabase.database.query(statement);
  for (const [registry, knows] of [
    ['configured', false],
    ['stored', true],
    ['published', true],
  ] as const) {
    const { core } = openTestCore({ registry });
    const { chains } = (await core.registry()).registry;
    expect(chains.some(({ record }) => record.chainId === 77)).toBe(knows);
    await core.close();
  }
});

test('publishes the registry without documents if there are no hosts', async () => {
  const now = new Date('2026-02-03T04:05:06Z');
  const { core } = openTestCore({ registry: 'published', now: () => now });
  const publication = await core.publication();
  expect(publication.served).toBeUndefined();
  expect(publication.facts.registry?.loadedAt).toEqual(now);
  expect(publication.facts.statistics?.confirmedAt).toEqual(now);
  await core.close();
});

test('allows replacing the chain access, also for verifications', async () => {
  const findCreation: ChainAccess['findCreation'] = async () => ({ methods: [] });
  const chainAccess = (access: ChainAccess): ChainAccess => ({ ...access, findCreation });
  const { core } = openTestCore({ registry: 'configured', chainAccess });
  expect((await core.verificationParts()).findCreation).toBe(findCreation);
  await core.close();
});

test('closes everything, including late additions and parts still opening, despite a failure', async () => {
  const { core, done } = openTestCore({ registry: 'configured' });
  void core.store();
  core.closers.add({ close: () => Promise.reject(new Error('stuck')) });
  await expect(core.close()).rejects.toThrow('stuck');
  expect(done).toEqual(['opened', 'closed']);
});
