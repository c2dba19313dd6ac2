// The service behind PgBouncer in transaction mode: each transaction may run on a different server
// connection.
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Secret } from '../src/lib/secret.ts';
import { silentLogger } from '../src/log.ts';
import { sql } from '../src/store/database.ts';
import { openStore, type Store } from '../src/store/open-store.ts';
import { createDatabasePool } from '../src/store/pool.ts';
import { targetOfUrl } from '../src/store/connection-target.ts';
import {
  configOf,
  deploy,
  findAnvil,
  NO_ANVIL,
  startAnvil,
  VERIFIED_CHAIN_ID,
  type Anvil,
} from './support/anvil.ts';
import { type BootedService, bootService } from './support/booted-service.ts';
import { manyContracts, writeExampleTree } from './support/example-tree.ts';
import { startGateway, type IpfsGateway } from './support/ipfs-gateway.ts';
import {
  findPgBouncer,
  NO_PGBOUNCER,
  type PgBouncer,
  startPgBouncer,
} from './support/pgbouncer.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { verifyOverV2 } from './support/verification-client.ts';

const absent = findPgBouncer() === undefined;
const withoutNode = absent || findAnvil() === undefined;
const why = absent ? ` (${NO_PGBOUNCER})` : withoutNode ? ` (${NO_ANVIL})` : '';
const LICENSE = '// SPDX-License-Identifier: MIT\n';
const IMPORTED = 12;

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let bouncer: PgBouncer;
beforeAll(async () => {
  folder = await createTemporaryFolder();
  if (!absent) bouncer = await startPgBouncer(inject('testServer').socketFolder);
});
afterAll(async () => {
  if (!absent) await bouncer.stop();
  await folder.remove();
});

const nameOf = ({ url }: TestDatabase): string =>
  new URL(url.replace('@/', '@host/')).pathname.slice(1);
const open = (url: string, listenUrl?: string): Promise<Store> =>
  openStore(
    {
      url: new Secret(url),
      ...(listenUrl !== undefined && { listenUrl: new Secret(listenUrl) }),
      poolSize: 8,
      dataDir: folder.path,
    },
    silentLogger,
  );

describe.skipIf(withoutNode).each(['told by DATABASE_LISTEN_URL', 'that looks from time to time'])(
  `a service behind PgBouncer %s${why}`,
  (how) => {
    const isTold = how.startsWith('told');
    let testDatabase: TestDatabase;
    let anvil: Anvil;
    let gateway: IpfsGateway;
    let service: BootedService;
    let environment: Record<string, string>;
    beforeAll(async () => {
      [testDatabase, anvil, gateway] = await Promise.all([
        createTestDatabase(),
        startAnvil({ chainId: VERIFIED_CHAIN_ID }),
        startGateway(),
      ]);
      const databaseUrl = bouncer.urlOf(nameOf(testDatabase));
      environment = isTold ? { DATABASE_LISTEN_URL: testDatabase.url } : {};
      const yaml = configOf(
        anvil,
        `    monitor: true\nmonitor: { gateways: ["${gateway.url}"] }\n`,
      );
      service = await bootService({ databaseUrl, yaml, environment });
      environment['DATABASE_URL'] = databaseUrl;
    });
    afterAll(async () => {
      await service.close();
      await gateway.close();
      await anvil.stop();
      await testDatabase.drop();
    });

    const counts = async (): Promise<unknown> =>
      await (await fetch(`${service.repositoryUrl}/stats.json`)).json();

    test('verifies, finds contracts and sources by itself, imports, and counts everything', async () => {
      const source = (name: string): string =>
        `${LICENSE}contract ${name} { uint256 public kept${name} = 7; }`;
      const contracts = await Promise.all(
        ['One', 'Two', 'Three'].map(async (name) => {
          const input = inputOf({ 'a.sol': source(name) }, { evmVersion: 'shanghai' });
          return { name, input, ...(await compileAsDeveloper('0.8.37', input, 'a.sol', name)) };
        }),
      );
      // The monitor verifies the third one, whose sources it finds at the gateway.
      gateway.addFile(Buffer.from(contracts[2]?.metadata ?? ''));
      gateway.addFile(Buffer.from(source('Three')));
      const deployed: string[] = [];
      for (const { creationCode } of contracts)
        deployed.push((await deploy(anvil, creationCode)).address);
      const jobs = await Promise.all(
        contracts.slice(0, 2).map(({ name, input }, index) =>
          verifyOverV2(service.apiUrl, deployed[index] ?? '', {
            stdJsonInput: input,
            compilerVersion: '0.8.37',
            contractIdentifier: `a.sol:${name}`,
          }),
        ),
      );
      expect(jobs.map(({ contract }) => contract.match)).toEqual(['exact_match', 'exact_match']);
      await expect
        .poll(counts)
        .toEqual({ [VERIFIED_CHAIN_ID]: { full_match: 3, partial_match: 0 } });
      const tree = path.join(folder.path, isTold ? 'told' : 'looking');
      await writeExampleTree(tree, { layout: 'v2', contracts: manyContracts(IMPORTED) });
      const imported = await runInProcess(['import', tree], {
        environment: { ...environment, FULLMATCH_REGISTRY_INCLUDE: 'configured' },
        workingDirectory: folder.path,
      });
      if (!isTold) {
        // An import stages rows in temporary tables of its connection, which a pooler hands to others after
        // each transaction.
        expect(imported.exitCode).not.toBe(0);
        expect(imported.stderr).toContain('DATABASE_LISTEN_URL');
      } else expect(imported.exitCode, imported.stderr).toBe(0);
      await expect
        .poll(async () => {
          const all = (await counts()) as Record<string, Record<string, number>>;
          const each = Object.values(all).flatMap((chain) => Object.values(chain));
          return each.reduce((sum, count) => sum + count, 0);
        })
        .toBe(3 + (isTold ? IMPORTED : 0));
      const recounted = await runInProcess(['recount'], {
        environment,
        workingDirectory: folder.path,
      });
      expect(recounted.exitCode, recounted.stdout).toBe(0);
    });
  },
);

describe.skipIf(absent)(`a store behind PgBouncer${absent ? ` (${NO_PGBOUNCER})` : ''}`, () => {
  let testDatabase: TestDatabase;
  let url: string;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    url = bouncer.urlOf(nameOf(testDatabase));
  });
  afterAll(() => testDatabase.drop());

  const BACKEND = sql('test backend', 'SELECT pg_backend_pid() AS pid, pg_sleep(0.01)');
  const PREPARED = sql(
    'test prepared',
    'SELECT count(*)::int AS count FROM pg_prepared_statements',
  );

  test('leaks no session state, whichever server connection a transaction gets', async () => {
    const store = await open(url);
    const { database } = store;
    const rows = await Promise.all(
      Array.from({ length: 40 }, () => database.query<{ pid: number }>(BACKEND)),
    );
    expect(new Set(rows.map(([row]) => row?.pid)).size).toBeGreaterThan(1);
    const limits = await Promise.all(
      Array.from({ length: 10 }, () =>
        database.transaction(async (transaction) => {
          const [inside] = await transaction.query<{ limit: string }>(
            sql(
              'test limit',
              `SELECT current_setting('statement_timeout') AS limit, pg_sleep(0.01)`,
            ),
          );
          return inside?.limit;
        }),
      ),
    );
    expect(new Set(limits)).toEqual(new Set(['2min']));
    const [outside] = await database.query<{ limit: string }>(
      sql('test limit outside', `SELECT current_setting('statement_timeout') AS limit`),
    );
    expect(outside?.limit).toBe('0');
    expect(await database.query(PREPARED)).toEqual([{ count: 0 }]);
    await store.close();
  });

  test('detects a PgBouncer that accepts and drops session settings', async () => {
    const lenient = await startPgBouncer(inject('testServer').socketFolder, [
      'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout',
    ]);
    const target = targetOfUrl(new Secret(lenient.urlOf(nameOf(testDatabase))), 'test');
    // A pool on which nothing connected before, like that of an import.
    const pool = createDatabasePool(target, 8, silentLogger);
    await Promise.all(Array.from({ length: 40 }, () => pool.database.query(BACKEND)));
    expect(target.isPooled).toBe(true);
    await pool.close();
    await lenient.stop();
  });

  test('cancels a timed-out query although it does not know the server process', async () => {
    const store = await open(url);
    const running = sql(
      'test running',
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND query = 'SELECT pg_sleep(100)' AND state = 'active'`,
    );
    const sleeping = store.database.limited(500).query(sql('test sleep', 'SELECT pg_sleep(100)'));
    await expect(sleeping).rejects.toMatchObject({ code: 'database_unreachable' });
    await expect.poll(() => testDatabase.database.query(running)).toEqual([{ count: 0 }]);
    await store.close();
  });

  test('rejects session features unless DATABASE_LISTEN_URL provides them', async () => {
    const pooled = await open(url);
    expect(() => pooled.onClient(async () => undefined)).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    );
    await expect(pooled.openSchema('apart')).rejects.toMatchObject({
      code: 'invalid_configuration',
    });
    await pooled.close();
    const both = await open(url, testDatabase.url);
    const heard: (string | undefined)[] = [];
    const stop = await both.database.listen('test_channel', (payload) => heard.push(payload));
    await both.database.query(sql('test tell', `SELECT pg_notify('test_channel', 'told')`));
    await expect.poll(() => heard).toEqual(['told']);
    await stop();
    const kept = await both.onClient(async (client) => {
      await client.query('CREATE TEMP TABLE kept (number int)');
      return client.query('SELECT * FROM kept');
    });
    expect(kept.rows).toEqual([]);
    await both.openSchema('apart');
    await both.close();
  });

  test('rejects a DATABASE_LISTEN_URL to another database or to a pooler', async () => {
    const other = await createTestDatabase();
    await expect(open(url, other.url)).rejects.toMatchObject({ code: 'invalid_configuration' });
    await expect(open(url, url)).rejects.toMatchObject({ code: 'invalid_configuration' });
    await other.drop();
  });
});
