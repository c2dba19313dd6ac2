import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { testDatabaseUrl } from '../../test/support/global-setup.ts';
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts';
import { administer } from '../../test/support/test-database.ts';
import { Secret } from '../lib/secret.ts';
import { silentLogger } from '../log.ts';
import { connectClient, targetOfUrl } from './connection-target.ts';
import { migrate } from './migrate.ts';
import { openStore } from './open-store.ts';

let temporary: Awaited<ReturnType<typeof createTemporaryFolder>>;
let folder = '';
let url = '';
let client: Client;
let name = '';

const connect = (): Promise<Client> =>
  connectClient(targetOfUrl(new Secret(url), 'fullmatch test'));
const write = (file: string, text: string): Promise<void> =>
  writeFile(path.join(folder, file), text);
const numbers = async (): Promise<number[]> => {
  const result = await client.query<{ number: number }>(
    'SELECT number FROM schema_migrations ORDER BY number',
  );
  return result.rows.map((row) => row.number);
};

beforeAll(async () => {
  temporary = await createTemporaryFolder();
});
afterAll(() => temporary.remove());
beforeEach(async () => {
  name = `empty_${randomBytes(6).toString('hex')}`;
  await administer((admin) => admin.query(`CREATE DATABASE ${name}`));
  url = testDatabaseUrl(inject('testServer').socketFolder, name);
  client = await connect();
  folder = path.join(temporary.path, name);
  await mkdir(folder);
  await write('0001-boxes.sql', 'CREATE TABLE boxes (id integer);\nINSERT INTO boxes VALUES (1);');
  await write('0002-lids.sql', 'CREATE TABLE lids (id integer);');
});
afterEach(async () => {
  await client.end();
  await administer((admin) => admin.query(`DROP DATABASE ${name} WITH (FORCE)`));
});

describe('Migrations', () => {
  test('are applied once, in order, and recorded', async () => {
    const applied = await migrate(client, { folder });
    expect(applied.map(({ number, name: file }) => [number, file])).toEqual([
      [1, '0001-boxes'],
      [2, '0002-lids'],
    ]);
    expect(await migrate(client, { folder })).toEqual([]);
    expect(await numbers()).toEqual([1, 2]);
  });

  test('are applied once by 20 concurrent processes', async () => {
    await write('0002-lids.sql', 'SELECT pg_sleep(0.1); CREATE TABLE lids (id integer);');
    const clients = await Promise.all(Array.from({ length: 20 }, connect));
    const applied = await Promise.all(clients.map((starter) => migrate(starter, { folder })));
    await Promise.all(clients.map((starter) => starter.end()));
    // Two of the starters may have applied one each.
    expect(
      applied
        .flat()
        .map(({ number }) => number)
        .sort(),
    ).toEqual([1, 2]);
    expect((await client.query('SELECT * FROM boxes')).rowCount).toBe(1);
  });

  test('roll back a failing file, keep earlier ones and continue once it is fixed', async () => {
    await write('0002-lids.sql', 'CREATE TABLE lids (id integer); SELECT 1 / 0;');
    await expect(migrate(client, { folder })).rejects.toMatchObject({
      code: 'database_error',
      details: { migration: '0002-lids', sqlstate: '22012' },
    });
    expect(await numbers()).toEqual([1]);
    expect((await client.query(`SELECT to_regclass('lids') AS lids`)).rows).toEqual([
      { lids: null },
    ]);
    await write('0002-lids.sql', 'CREATE TABLE lids (id integer);');
    expect(await migrate(client, { folder })).toHaveLength(1);
  });

  test('reject a newer schema and leave it unchanged', async () => {
    await migrate(client, { folder });
    await client.query(
      `INSERT INTO schema_migrations (number, name, sha256) VALUES (3, '0003-keys', 'x')`,
    );
    await expect(migrate(client, { folder })).rejects.toMatchObject({
      code: 'schema_too_new',
      details: { database_version: 3, known_version: 2 },
    });
    expect(await numbers()).toEqual([1, 2, 3]);
  });

  test('reject a file changed after it was applied, except for line endings', async () => {
    await migrate(client, { folder });
    await write(
      '0001-boxes.sql',
      'CREATE TABLE boxes (id integer);\r\nINSERT INTO boxes VALUES (1);',
    );
    expect(await migrate(client, { folder })).toEqual([]);
    await write('0001-boxes.sql', 'CREATE TABLE boxes (id bigint);');
    await expect(migrate(client, { folder })).rejects.toMatchObject({
      code: 'database_error',
      details: { migration: '0001-boxes' },
    });
  });

  test('reject a gap, a duplicate number and a malformed name', async () => {
    for (const file of ['0004-gap.sql', '0002-twice.sql', '0003 name.sql']) {
      const other = path.join(folder, file.replace('.sql', ''));
      await mkdir(other);
      for (const known of ['0001-boxes.sql', '0002-lids.sql']) {
        await copyFile(path.join(folder, known), path.join(other, known));
      }
      await writeFile(path.join(other, file), 'SELECT 1');
      await expect(migrate(client, { folder: other })).rejects.toMatchObject({
        code: 'internal_error',
      });
    }
  });

  test('reject a file that ends its own transaction', async () => {
    await write('0002-lids.sql', 'COMMIT; CREATE TABLE lids (id integer);');
    await expect(migrate(client, { folder })).rejects.toMatchObject({ code: 'internal_error' });
    expect(await numbers()).toEqual([1]);
  });

  test('are applied when 20 stores open an empty database at once', async () => {
    const stores = await Promise.all(
      Array.from({ length: 20 }, () =>
        openStore({ url: new Secret(url), poolSize: 1, dataDir: folder }, silentLogger),
      ),
    );
    await Promise.all(stores.map((store) => store.close()));
    expect((await numbers())[0]).toBe(1);
    expect(stores[0]?.server).toMatchObject({ embedded: false, joined: false });
  });
});
