import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ListRecord } from '../src/chains/registry/list-record.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { sql } from '../src/store/database.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { startChaosUpstream, type ChaosUpstream } from './support/chaos-upstream.ts';
import { listedChain } from './support/made-up-lists.ts';
import { runInProcess } from './support/run-cli.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { NO_SHARED_DATA, sharedData } from './support/shared-data.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { waitUntil } from './support/wait-for.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const RECORDS = Array.from({ length: 40 }, (_each, index) => listedChain(index + 1));
const edit = (chainId: number, fields: Partial<ListRecord>): readonly ListRecord[] =>
  RECORDS.map((record) => (record.chainId === chainId ? { ...record, ...fields } : record));

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let testDatabase: TestDatabase;
let upstream: ChaosUpstream;
let opened: BootedService[];

beforeEach(async () => {
  opened = [];
  folder = await createTemporaryFolder();
  testDatabase = await createTestDatabase();
  upstream = await startChaosUpstream(RECORDS);
  await writeFile(path.join(folder.path, 'list.json'), JSON.stringify(RECORDS));
});
afterEach(async () => {
  for (const service of opened) await service.close();
  await upstream.close();
  await testDatabase.drop();
  await folder.remove();
});

const yamlOf = (urls: readonly string[], list = path.join(folder.path, 'list.json')): string => `
registry: { list: ${list}, defaults: false, sync: { urls: ${JSON.stringify(urls)} } }
verification: { workers: 0 }
`;
const boot = async (
  urls: readonly string[] = [upstream.url],
  everyMs = 100,
): Promise<BootedService> => {
  const service = await bootService({
    databaseUrl: testDatabase.url,
    yaml: yamlOf(urls),
    overrides: { listSyncTimes: { everyMs, pollMs: 25, deadlineMs: 700 } },
  });
  opened.push(service);
  return service;
};
const readChains = async ({ apiUrl }: BootedService) => {
  const response = await fetch(`${apiUrl}/chains`);
  const text = await response.text();
  return {
    text,
    headers: ['etag', 'last-modified'].map((name) => response.headers.get(name)),
    names: new Map(
      (JSON.parse(text) as { chainId: number; name: string }[]).map(({ chainId, name }) => [
        chainId,
        name,
      ]),
    ),
  };
};
const readHealth = async ({ apiUrl }: BootedService) =>
  (await (await fetch(`${apiUrl}/health`)).json()) as {
    reasons: { code: string; since?: string; detail: string }[];
    registry: { source: string; sha256: string; confirmedSecondsAgo?: number };
  };
const isStale = async (service: BootedService): Promise<boolean> =>
  (await readHealth(service)).reasons.some(({ code }) => code === 'list_stale');
/** Returns the number of failed transactions of the test's database; PostgreSQL counts them with a short delay. */
const readFailures = async (): Promise<number> => {
  const [row] = await testDatabase.database.query<{ failures: number }>(
    sql(
      'test failures',
      'SELECT xact_rollback::int AS failures FROM pg_stat_database WHERE datname = current_database()',
    ),
  );
  return row?.failures ?? 0;
};
const serves = (service: BootedService, chainId: number, name: string) => async () =>
  (await readChains(service)).names.get(chainId) === name;

/** Runs `fullmatch chains …` with the test's database and sources. */
const cli = async (...args: string[]) => {
  await writeFile(path.join(folder.path, 'fullmatch.yaml'), yamlOf([upstream.url]));
  return runInProcess(['chains', ...args], {
    workingDirectory: folder.path,
    environment: { DATABASE_URL: testDatabase.url },
  });
};

describe('a service with sync', () => {
  test('serves a newer list without a restart and never a torn response', async () => {
    const service = await boot();
    await waitUntil(async () => (await readHealth(service)).registry.source === upstream.url);
    const seen = new Set<string>();
    let looking = true;
    const reader = (async () => {
      while (looking) seen.add((await readChains(service)).text);
    })();
    const first = await readChains(service);
    upstream.serve(edit(7, { name: 'Seventh' }));
    await waitUntil(serves(service, 7, 'Seventh'));
    const second = await readChains(service);
    looking = false;
    await reader;
    expect([...seen].every((text) => text === first.text || text === second.text)).toBe(true);
    expect(second.headers[0]).not.toBe(first.headers[0]);
    expect((await readHealth(service)).registry.confirmedSecondsAgo).toBeTypeOf('number');
  });

  test('downloads the list only when changed, by ETag and by date', async () => {
    const conditions: unknown[] = [];
    const date = 'Wed, 21 Jan 2026 07:28:00 GMT';
    upstream.answer((response, records, { request }) => {
      const { 'if-none-match': tag, 'if-modified-since': since } = request.headers;
      conditions.push([tag, since]);
      response.writeHead(tag === '"v1"' ? 304 : 200, { etag: '"v1"', 'last-modified': date });
      response.end(tag === '"v1"' ? undefined : JSON.stringify(records));
    });
    const service = await boot();
    await waitUntil(async () => conditions.length >= 3);
    expect(conditions.slice(0, 3)).toEqual([
      [undefined, undefined],
      ['"v1"', date],
      ['"v1"', date],
    ]);
    expect(await isStale(service)).toBe(false);
  });

  test('reverts to an earlier list that its source serves again', async () => {
    const other = await startChaosUpstream(edit(7, { name: 'Seventh' }));
    try {
      let fails = false;
      upstream.answer((response, records, { request }) => {
        const known = request.headers['if-none-match'] === '"v1"';
        response.writeHead(fails ? 500 : known ? 304 : 200, { etag: '"v1"' });
        response.end(known || fails ? undefined : JSON.stringify(records));
      });
      const service = await boot([upstream.url, other.url]);
      await waitUntil(async () => (await readHealth(service)).registry.source === upstream.url);
      fails = true;
      await waitUntil(serves(service, 7, 'Seventh'));
      expect(await isStale(service)).toBe(false);
      fails = false;
      await waitUntil(serves(service, 7, 'Chain 7'));
    } finally {
      await other.close();
    }
  });

  test('reads a list from a file and reports its absence', async () => {
    const file = path.join(folder.path, 'synced.json');
    await writeFile(file, JSON.stringify(edit(7, { name: 'Seventh' })));
    const service = await boot([file]);
    await waitUntil(serves(service, 7, 'Seventh'));
    await writeFile(file, 'API_KEY=CANARY');
    await waitUntil(() => isStale(service));
    const health = JSON.stringify(await readHealth(service));
    expect(health).toContain(path.basename(file));
    expect(health).not.toContain(path.dirname(file));
    expect(health).not.toContain('CANARY');
    await writeFile(file, JSON.stringify(edit(7, { name: 'Again' })));
    await waitUntil(serves(service, 7, 'Again'));
    expect(await isStale(service)).toBe(false);
  });

  test('keeps the accepted list and the alarm across a restart without the source', async () => {
    upstream.serve(edit(7, { name: 'Seventh' }));
    const first = await boot();
    await waitUntil(serves(first, 7, 'Seventh'));
    const before = await readChains(first);
    upstream.answer((response) => response.socket?.destroy());
    await waitUntil(() => isStale(first));
    const alarm = (await readHealth(first)).reasons.find(({ code }) => code === 'list_stale');
    await first.close();
    const second = await boot();
    expect(await readChains(second)).toEqual(before);
    await waitUntil(() => isStale(second));
    const later = (await readHealth(second)).reasons.find(({ code }) => code === 'list_stale');
    expect(later?.since).toBe(alarm?.since);
  });

  test('serves its embedded list again once the source is no longer configured', async () => {
    upstream.serve(edit(7, { name: 'Seventh' }));
    const first = await boot();
    await waitUntil(serves(first, 7, 'Seventh'));
    await first.close();
    expect((await readChains(await boot([]))).names.get(7)).toBe('Chain 7');
  });

  test('stops without waiting for an unresponsive source', async () => {
    upstream.answer(() => undefined);
    const service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: yamlOf([upstream.url]),
      overrides: { listSyncTimes: { everyMs: 100, pollMs: 25, deadlineMs: 60_000 } },
    });
    await waitUntil(async () => upstream.requests() > 0);
    // The source has a timeout of one minute, the test less than three.
    await service.close();
    // Another process repeats the abandoned attempt.
    upstream.serve(edit(7, { name: 'Seventh' }));
    const next = await boot([upstream.url], 3_600_000);
    await waitUntil(serves(next, 7, 'Seventh'));
  });
});

describe('a service whose database rejects sync queries', () => {
  test.each([
    ['reading the state', 'chain_list_sync'],
    ['storing a list', 'chain_list_texts'],
  ])('reports the failure from the start and while it lasts: %s', async (_what, table) => {
    const rename = (from: string, to: string) =>
      testDatabase.database.query(
        sql(`test rename ${from}`, `ALTER TABLE ${from} RENAME TO ${to}`),
      );
    await rename(table, 'gone');
    const service = await boot();
    await waitUntil(() => isStale(service));
    const alarm = async () =>
      (await readHealth(service)).reasons.find(({ code }) => code === 'list_stale');
    const { since } = (await alarm())!;
    const failures = await readFailures();
    await waitUntil(async () => (await readFailures()) >= failures + 3);
    const later = await alarm();
    expect(later?.since).toBe(since);
    expect(later?.detail).toContain(table);
    await rename('gone', table);
    await waitUntil(async () => !(await isStale(service)));
    upstream.serve(edit(7, { name: 'Seventh' }));
    await waitUntil(serves(service, 7, 'Seventh'));
  });
});

describe('several services on one database', () => {
  test('share one request to the source', async () => {
    upstream.serve(edit(7, { name: 'Seventh' }));
    const everyMs = 3_600_000;
    const first = await boot([upstream.url], everyMs);
    await waitUntil(serves(first, 7, 'Seventh'));
    const others = [await boot([upstream.url], everyMs), await boot([upstream.url], everyMs)];
    for (const service of others) await waitUntil(serves(service, 7, 'Seventh'));
    expect(upstream.requests()).toBe(1);
  });

  test('serve the same list with the same headers', async () => {
    const services = [
      await boot(undefined, 400),
      await boot(undefined, 400),
      await boot([upstream.url], 400),
    ];
    await waitUntil(async () => upstream.requests() >= 2);
    upstream.serve(edit(7, { name: 'Seventh' }));
    for (const service of services) await waitUntil(serves(service, 7, 'Seventh'));
    const answers = await Promise.all(services.map(readChains));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    upstream.answer((response) => response.writeHead(500).end());
    for (const service of services) await waitUntil(() => isStale(service));
    upstream.serve(RECORDS);
    for (const service of services) await waitUntil(async () => !(await isStale(service)));
  });
});

describe('fullmatch chains sync', () => {
  test('prints what a dry run would change, changes nothing, then accepts it', async () => {
    await cli('sync');
    upstream.serve([
      ...edit(7, { name: 'Renamed', rpc: ['https://other.example'] })
        .filter(({ chainId }) => chainId !== 9)
        .map((record) =>
          record.chainId === 8
            ? { ...record, name: 'Moonrock', redFlags: ['reusedChainId'] }
            : record,
        ),
      listedChain(99),
    ]);
    const dry = await cli('sync', '--dry-run');
    expect(dry.exitCode).toBe(0);
    expect(dry.stdout).toContain('would be accepted');
    expect(dry.stdout).toMatch(/^identity +8 +Chain 8 \(c8\) +Moonrock \(c8\)$/m);
    expect(dry.stdout).toMatch(/^removed +9 +Chain 9 \(c9\) +-$/m);
    expect(dry.stdout).toMatch(/^renamed +7 +Chain 7 \(c7\) +Renamed \(c7\)$/m);
    expect(dry.stdout).toMatch(/^added +99 +- +Chain 99 \(c99\)$/m);
    expect(dry.stdout).toMatch(/^endpoints +7 +https:\/\/rpc-7.example +https:\/\/other.example$/m);
    // The dry run stored nothing: the list counts as new again.
    const accepted = await cli('sync', '--json');
    expect(JSON.parse(accepted.stdout)).toMatchObject([
      {
        status: 'accepted',
        difference: {
          renamed: [{ chainId: 7 }, { chainId: 8 }],
          identityChanged: [{ chainId: 8 }],
        },
      },
    ]);
    expect((await cli('sync')).stdout).toContain('unchanged');
  });

  test('rejects a list that drops a chain with contracts until the operator accepts that exact list', async () => {
    await saveMatch(
      testDatabase.database,
      sampleContract(9, sampleAddress(1), { runtimeMatch: 'full' }),
    );
    const service = await boot([upstream.url], 3_600_000);
    await waitUntil(async () => (await readHealth(service)).registry.source === upstream.url);
    upstream.serve(RECORDS.filter(({ chainId }) => chainId !== 9));
    const refused = await cli('sync', '--json');
    expect(refused.exitCode).toBe(6);
    const [{ sha256 }] = JSON.parse(refused.stdout) as [{ sha256: string }];
    await waitUntil(() => isStale(service));
    expect((await readChains(service)).names.get(9)).toBe('Chain 9');

    expect((await cli('sync', '--accept', 'f'.repeat(64))).exitCode).toBe(6);
    expect((await cli('sync', '--accept', 'xyz')).exitCode).toBe(1);
    // Another list with the same hash prefix takes only seconds to construct.
    expect((await cli('sync', '--accept', sha256.slice(0, 12))).exitCode).toBe(1);
    expect((await cli('sync', '--accept', sha256)).exitCode).toBe(0);
    await waitUntil(async () => !(await isStale(service)));
    // A chain with contracts keeps a record, whatever the list contains.
    await waitUntil(serves(service, 9, 'Unknown chain 9'));
  });

  test('holds back a new name with new endpoints for a chain in use until the operator accepts it', async () => {
    await saveMatch(
      testDatabase.database,
      sampleContract(9, sampleAddress(1), { runtimeMatch: 'full' }),
    );
    const service = await boot([upstream.url], 50);
    const heldBack = async () =>
      (await readHealth(service)).reasons.find(({ code }) => code === 'list_records_held_back');
    const forged = edit(9, { name: 'Moonrock', shortName: 'moon', rpc: ['https://forger.dev'] });
    upstream.serve([...forged, listedChain(50)]);
    await waitUntil(serves(service, 50, 'Chain 50'));
    const before = await readChains(service);
    expect(before.names.get(9)).toBe('Chain 9');
    expect(before.text).not.toContain('forger.dev');
    await waitUntil(async () => (await heldBack()) !== undefined);
    expect(await isStale(service)).toBe(false);

    // Other changes are still applied; the held-back name does not resolve.
    upstream.serve([...forged, listedChain(50), listedChain(51)]);
    await waitUntil(serves(service, 51, 'Chain 51'));
    expect((await readChains(service)).names.get(9)).toBe('Chain 9');
    expect((await fetch(`${service.apiUrl}/v1/chains/moon`)).status).toBe(404);
    const unchanged = await cli('sync', '--json');
    expect(unchanged.exitCode).toBe(0);
    const [{ sha256, ...outcome }] = JSON.parse(unchanged.stdout) as [{ sha256: string }];
    expect(outcome).toMatchObject({
      status: 'unchanged',
      heldBack: [{ chainId: 9, before: { name: 'Chain 9' }, after: { name: 'Moonrock' } }],
    });
    expect((await heldBack())?.detail).toContain(`--accept ${sha256}`);
    expect((await cli('sync', '--dry-run')).stdout).toContain(`--accept ${sha256}`);
    await service.close();
    const again = await boot([upstream.url], 50);
    expect((await readChains(again)).names.get(9)).toBe('Chain 9');

    expect((await cli('sync', '--accept', sha256)).exitCode).toBe(0);
    await waitUntil(serves(again, 9, 'Moonrock'));
    await waitUntil(
      async () =>
        !(await readHealth(again)).reasons.some(({ code }) => code === 'list_records_held_back'),
    );
    expect((await cli('sync')).stdout).toContain('unchanged');
    expect((await readChains(again)).names.get(9)).toBe('Moonrock');
  });

  test('rejects a gradually shrinking list, measured against the one last accepted by the operator', async () => {
    const offer = async (chains: number, ...args: string[]): Promise<number> => {
      upstream.serve(RECORDS.slice(0, chains));
      return (await cli('sync', ...args)).exitCode;
    };
    expect([await offer(40), await offer(38), await offer(37)]).toEqual([0, 0, 6]);
    const [{ sha256 }] = JSON.parse((await cli('sync', '--json')).stdout) as [{ sha256: string }];
    expect(await offer(37, '--accept', sha256)).toBe(0);
    expect(await offer(36)).toBe(0);
  });

  test('names the configuration key if there is no source', async () => {
    const run = await runInProcess(['chains', 'sync'], {
      workingDirectory: folder.path,
      environment: { DATABASE_URL: testDatabase.url },
    });
    expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining('registry.sync.urls')]);
  });
});

describe('the real public list', () => {
  const real = sharedData('public-chain-list.json') as readonly ListRecord[] | undefined;
  test.skipIf(real === undefined)(
    `replaces the embedded one, and half of it is rejected (${NO_SHARED_DATA} otherwise)`,
    async () => {
      upstream.serve(real!);
      const service = await bootService({
        databaseUrl: testDatabase.url,
        yaml: `registry: { sync: { urls: ['${upstream.url}'] } }\nverification: { workers: 0 }\n`,
        overrides: { listSyncTimes: { everyMs: 300, pollMs: 50 } },
      });
      opened.push(service);
      await waitUntil(async () => (await readHealth(service)).registry.source === upstream.url);
      const before = await readChains(service);
      expect(before.names.size).toBe(real!.length);
      upstream.serve(real!.filter((_record, index) => index % 2 === 0));
      await waitUntil(() => isStale(service));
      expect(await readChains(service)).toEqual(before);
    },
  );
});
