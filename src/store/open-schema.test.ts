import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { Secret } from '../lib/secret.ts';
import { silentLogger } from '../log.ts';
import { targetOfUrl } from './connection-target.ts';
import { sql } from './database.ts';
import { hasSchema, openSchema } from './open-schema.ts';

const WHERE = sql('read schema', 'SELECT current_schema() AS schema');
const COUNT = sql(
  'count tables',
  `SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = $1`,
);

describe('Schema tables', () => {
  let testDatabase: TestDatabase;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
  });
  afterAll(() => testDatabase.drop());
  const target = (url = testDatabase.url) => targetOfUrl(new Secret(url), 'test');

  test('are created once by concurrent processes, with the same tables as the default schema', async () => {
    expect(await hasSchema(target(), 'apart')).toBe(false);
    const pools = await Promise.all(
      Array.from({ length: 4 }, () => openSchema(target(), 'apart', 2, silentLogger)),
    );
    const [tables] = await testDatabase.database.query<{ tables: number }>(COUNT, ['apart']);
    const [others] = await testDatabase.database.query<{ tables: number }>(COUNT, ['public']);
    expect(tables?.tables).toBe(others?.tables);
    for (const pool of pools) {
      expect(await pool.database.query(WHERE)).toEqual([{ schema: 'apart' }]);
      await pool.close();
    }
    expect(await hasSchema(target(), 'apart')).toBe(true);
  });

  test('are rejected if the connection would use the default schema', async () => {
    const { url } = testDatabase;
    const own = `${url}${url.includes('?') ? '&' : '?'}options=-c%20search_path%3Dpublic`;
    const opened = openSchema(target(own), 'apart', 2, silentLogger);
    await expect(opened).rejects.toMatchObject({
      code: 'invalid_configuration',
      details: { key: 'database.url' },
    });
  });
});
