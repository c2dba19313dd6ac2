// PostgreSQL is killed, restarted and failed over to its standby while services and writers run.
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { Secret } from '../src/lib/secret.ts';
import { silentLogger } from '../src/log.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { openStore, type Store } from '../src/store/open-store.ts';
import { type BootedService, bootService } from './support/booted-service.ts';
import { type PostgresCluster, startCluster } from './support/postgres-cluster.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';

const YAML =
  'registry: { include: configured, defaults: false }\nchains: { 1: { supported: true } }\nhealth: { enabled: false }\nmonitor: { enabled: false }\nmetrics: { enabled: true, port: 0 }\n';
const WRITERS = 3;
/** Number of stores between two incidents. */
const STEP = 30;

let closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  closers = [];
});

async function boot(cluster: PostgresCluster, dataDir: string): Promise<BootedService> {
  const environment = { FULLMATCH_DATA_DIR: dataDir };
  return bootService({ databaseUrl: cluster.url, yaml: YAML, environment });
}

async function open(cluster: PostgresCluster, dataDir: string): Promise<Store> {
  const url = new Secret(cluster.url);
  const store = await openStore({ url, poolSize: WRITERS + 1, dataDir }, silentLogger);
  closers.push(() => store.close());
  return store;
}

async function start(isSynchronous: boolean) {
  const folder = await createTemporaryFolder();
  closers.push(() => folder.remove());
  const cluster = await startCluster(isSynchronous);
  closers.push(() => cluster.close());
  return { folder: folder.path, cluster };
}

const reasonsOf = async ({ apiUrl }: BootedService): Promise<readonly string[]> => {
  const { reasons } = (await (await fetch(`${apiUrl}/health`)).json()) as {
    reasons: { code: string }[];
  };
  return reasons.map(({ code }) => code);
};
const statisticsOf = async ({ repositoryUrl }: BootedService): Promise<string> =>
  (await fetch(`${repositoryUrl}/stats.json`)).text();

describe('PostgreSQL with a synchronous standby', () => {
  test('survives kills, restarts and failovers without losing anything acknowledged', async () => {
    const { folder, cluster } = await start(true);
    const services: BootedService[] = [];
    for (const name of ['one', 'two']) {
      const service = await boot(cluster, path.join(folder, name));
      services.push(service);
      closers.push(() => service.close());
    }
    const [first, second] = services as [BootedService, BootedService];
    const { database } = await open(cluster, path.join(folder, 'writers'));
    const acknowledged = new Set<string>();
    let next = 0;
    let isWriting = true;
    const write = async (): Promise<void> => {
      while (isWriting) {
        const address = sampleAddress((next += 1));
        try {
          await saveMatches(database, [sampleContract(1, address, { runtimeMatch: 'full' })]);
          acknowledged.add(address);
        } catch (error) {
          expect(['database_unreachable', 'database_unavailable']).toContain(
            (error as { code?: string }).code,
          );
          await wait(20);
        }
      }
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, write));
    const goesOn = async (): Promise<void> => {
      const before = acknowledged.size;
      await expect.poll(() => acknowledged.size).toBeGreaterThan(before + STEP);
    };
    await goesOn();
    const read = (): Promise<Response> =>
      fetch(`${first.apiUrl}/v2/contract/1/${sampleAddress(1)}`);
    expect((await read()).status).toBe(200);

    await cluster.primary.kill();
    const down = await read();
    expect(down.status).toBe(503);
    expect(down.headers.get('retry-after')).not.toBeNull();
    expect(await down.json()).toMatchObject({ customCode: 'database_unreachable' });
    expect((await fetch(`${first.repositoryUrl}/stats.json`)).status).toBe(200);
    await cluster.primary.start();
    await goesOn();

    await cluster.primary.kill();
    await cluster.standby.query('SELECT pg_promote()');
    await goesOn();
    await expect.poll(async () => (await read()).status).toBe(200);
    isWriting = false;
    await writing;

    const rows = await cluster.standby.query<{ address: string }>(
      `SELECT '0x' || encode(address, 'hex') AS address FROM current_matches`,
    );
    const stored = new Set(rows.map(({ address }) => address));
    expect([...acknowledged].filter((address) => !stored.has(address))).toEqual([]);
    const counted = `{"1":{"full_match":${stored.size},"partial_match":0}}`;
    for (const service of [first, second]) {
      await expect.poll(() => statisticsOf(service)).toBe(counted);
      await expect.poll(() => reasonsOf(service)).toEqual([]);
    }
  });
});

describe('a standby that lags behind', () => {
  test('is reported when promoted over a primary that acknowledged more, also after a restart', async () => {
    const { folder, cluster } = await start(false);
    const dataDir = path.join(folder, 'service');
    let service = await boot(cluster, dataDir);
    const { database } = await open(cluster, path.join(folder, 'writer'));
    const store = (number: number): Promise<unknown> =>
      saveMatches(database, [sampleContract(1, sampleAddress(number), { runtimeMatch: 'full' })]);
    await store(1);
    await cluster.catchUp();
    await cluster.standby.kill();
    await store(2);
    await expect.poll(() => statisticsOf(service)).toBe('{"1":{"full_match":2,"partial_match":0}}');
    const file = path.join(dataDir, 'acknowledged.json');
    await expect
      .poll(async () => (JSON.parse(await readFile(file, 'utf8')) as { newest: [] }).newest.length)
      .toBe(2);
    await cluster.primary.kill();
    await cluster.standby.start();
    await cluster.standby.query('SELECT pg_promote()');

    await expect.poll(() => reasonsOf(service)).toEqual(['database_behind']);
    await expect.poll(() => statisticsOf(service)).toBe('{"1":{"full_match":1,"partial_match":0}}');
    expect(service.logText()).toContain('"event":"database_behind"');
    const metrics = await (await fetch(`${service.metricsUrl ?? ''}/metrics`)).text();
    expect(metrics).toContain('fullmatch_database_behind 1');
    // The service continues; the next stored events have the number of the lost event or a later one.
    await store(3);
    await service.close();
    service = await boot(cluster, dataDir);
    expect(await reasonsOf(service)).toEqual(['database_behind']);
    await service.close();
    await rm(file);
    service = await boot(cluster, dataDir);
    closers.push(() => service.close());
    expect(await reasonsOf(service)).toEqual([]);
  });
});
