import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { readEmbeddedList } from '../chains/list/chain-list.ts';
import { Secret } from '../lib/secret.ts';
import { silentLogger } from '../log.ts';
import { sql } from '../store/database.ts';
import { saveMatch } from '../repository/matches/save-matches.ts';
import { type Database } from '../store/database.ts';
import { openPublication, type Publication, type RegistryInputs } from './publication.ts';
import { withdrawMatch } from '../repository/matches/withdraw-match.ts';

const NEVER_MS = 2 ** 31 - 1;

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

const inputs = async (): Promise<RegistryInputs> => ({
  list: await readEmbeddedList(),
  options: { include: 'configured', defaults: false, localChains: false },
  configured: new Map(),
  secrets: [],
});

const serve = {
  served: { brotliDelayMs: NEVER_MS, events: { maxClients: 1, connectionsPerClient: 1 } },
};

/** The currently published document. */
function read(publication: Publication, name: 'chains' | 'statistics'): string {
  return publication.served?.documents.current[name]?.bodies.identity.toString() ?? '';
}

const open = async (pollMs: number, database: Database = testDatabase.database) =>
  openPublication(await inputs(), database, silentLogger, { ...serve, pollMs });

test('publishes a stored or withdrawn match on notification alone, with its chain record', async () => {
  const publication = await open(NEVER_MS);
  const address = sampleAddress(1);
  await saveMatch(testDatabase.database, sampleContract(1, address, { runtimeMatch: 'full' }));
  await expect
    .poll(() => read(publication, 'statistics'))
    .toContain('"1":{"full_match":1,"partial_match":0}');
  expect(read(publication, 'chains')).toContain('"chainId":1,');
  expect(publication.registry.chains.map(({ record }) => record.chainId)).toContain(1);
  await withdrawMatch(testDatabase.database, { chainId: 1, address, reason: 'test' });
  await expect.poll(() => read(publication, 'statistics')).toContain('"1":{"full_match":0');
  await publication.close();
});

test('publishes a change with a lost notification by polling', async () => {
  const publication = await open(50);
  const statement = sql(
    'test change',
    `INSERT INTO chain_counts (chain_id, full_match) VALUES (2, 5)`,
  );
  await testDatabase.database.query(statement);
  await expect.poll(() => read(publication, 'statistics')).toContain('"2":{"full_match":5');
  await publication.close();
});

test('keeps the published document while counts cannot be read, then retries', async () => {
  let fails = false;
  const { database } = testDatabase;
  const failing: Database = {
    ...wrap(database),
    limited: () => ({
      ...wrap(database),
      query: async (statement, values) => {
        if (fails) throw new Error('once');
        return database.query(statement, values);
      },
    }),
  };
  const publication = await open(10, failing);
  const before = read(publication, 'statistics');
  fails = true;
  await expect.poll(() => publication.facts.database?.reachable).toBe(false);
  expect(read(publication, 'statistics')).toBe(before);
  fails = false;
  await expect.poll(() => publication.facts.database?.reachable).toBe(true);
  await publication.close();
});

const wrap = (database: Database): Database => ({
  acknowledged: database.acknowledged,
  query: (statement, values) => database.query(statement, values),
  transaction: (work) => database.transaction(work),
  session: (work) => database.session(work),
  listen: (channel, onNotify) => database.listen(channel, onNotify),
  limited: (timeLimitMs) => database.limited(timeLimitMs),
});

test('reports a failing event follower until it recovers, and still updates stats.json', async () => {
  const publication = await open(20);
  const { database } = testDatabase;
  const refuse = sql(
    'test refuse',
    `ALTER TABLE daily_counts ADD CONSTRAINT refused CHECK (chain_id <> 77) NOT VALID`,
  );
  await database.query(refuse);
  await saveMatch(database, sampleContract(77, sampleAddress(2), { runtimeMatch: 'full' }));
  await expect.poll(() => publication.facts.feedFailingSince).toBeInstanceOf(Date);
  await expect.poll(() => read(publication, 'statistics')).toContain('"77":{"full_match":1');
  await database.query(sql('test allow', 'ALTER TABLE daily_counts DROP CONSTRAINT refused'));
  await expect.poll(() => publication.facts.feedFailingSince).toBeUndefined();
  await publication.close();
});

test('leaves the registry and both documents unchanged if inputs cannot be published', async () => {
  const publication = await open(NEVER_MS);
  const before = [read(publication, 'chains'), publication.registry, publication.inputs];
  const secrets = [{ name: 'a secret', secret: new Secret('Ethereum Mainnet') }];
  await expect(publication.replace({ secrets })).rejects.toMatchObject({
    code: 'secret_in_document',
  });
  expect([read(publication, 'chains'), publication.registry, publication.inputs]).toEqual(before);
  await publication.close();
});

test('keeps the registry without making documents if there are no hosts', async () => {
  const publication = await openPublication(await inputs(), testDatabase.database, silentLogger);
  expect(publication.served).toBeUndefined();
  expect(publication.facts).not.toHaveProperty('documents');
  expect(publication.registry.chains.map(({ record }) => record.chainId)).toContain(1);
  await publication.close();
});
