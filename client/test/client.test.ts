import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { saveMatch } from '../../src/repository/save-matches.ts';
import { bootService, type BootedService } from '../../test/support/booted-service.ts';
import { sampleAddress, sampleContract } from '../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { createFullmatchClient, FullmatchRequestError } from '../src/index.ts';

let testDatabase: TestDatabase;
let service: BootedService;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  await saveMatch(
    testDatabase.database,
    sampleContract(1, sampleAddress(1), { runtimeMatch: 'full' }),
  );
  service = await bootService({ databaseUrl: testDatabase.url });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

describe('the client', () => {
  test('reads both documents, and closing slashes in its URLs do not matter', async () => {
    const client = createFullmatchClient({
      apiUrl: `${service.apiUrl}/server//`,
      repositoryUrl: `${service.repositoryUrl}/`,
    });
    expect((await client.chains()).find(({ chainId }) => chainId === 1)?.shortName).toBe('eth');
    expect(await client.statistics()).toEqual({ '1': { full_match: 1, partial_match: 0 } });
  });

  test.each([1, '1', '0x1', 'eip155:1', 'eth'])('finds a chain by %s', async (reference) => {
    const client = createFullmatchClient(service);
    expect((await client.chain(reference))?.chainId).toBe(1);
  });

  test('reads how the endpoints of a chain are', async () => {
    const client = createFullmatchClient(service);
    const health = await client.chainHealth('eth');
    expect(health).toMatchObject({ chainId: 1, state: 'not_probed' });
    expect(health?.reasons[0]?.code).toBe('not_configured');
    expect(await client.chainHealth(999_999_999_999)).toBeUndefined();
  });

  test('says undefined of a chain that the service does not know, and throws for a reference that is none', async () => {
    const client = createFullmatchClient(service);
    expect(await client.chain(999_999_999_999)).toBeUndefined();
    await expect(client.chain('0x00ffffffffffffffffffffff')).rejects.toBeInstanceOf(
      FullmatchRequestError,
    );
  });

  test('finds chains a page at a time, with the fields that are asked for', async () => {
    const client = createFullmatchClient(service);
    const search = { q: 'sepolia', testnet: true, fields: ['name'], limit: 2 } as const;
    const first = await client.findChains(search);
    expect(first.results.map((record) => Object.keys(record))).toEqual([
      ['name', 'chainId'],
      ['name', 'chainId'],
    ]);
    expect(first.total).toBeGreaterThan(first.matching);
    const second = await client.findChains({ ...search, after: first.next ?? 0 });
    expect(second.matching).toBe(first.matching);
    expect(second.results[0]!.chainId).toBeGreaterThan(first.results[1]!.chainId);
    expect((await client.findChains()).results).toHaveLength(100);
  });

  test('reads statistics over time, and lists and finds contracts', async () => {
    const client = createFullmatchClient(service);
    const { totals } = await client.statisticsOverview();
    expect(totals).toMatchObject({ full: 1, partial: 0, chains: 1 });
    const { points, chains } = await client.statisticsHistory({ chains: [1, 5], interval: 'week' });
    expect(chains).toEqual([1, 5]);
    expect(points.at(-1)).toMatchObject({ full: 1, partial: 0 });
    const { results } = await client.contracts({ chain: 1, match: 'full', limit: 10 });
    expect(results.map(({ address }) => address)).toEqual([sampleAddress(1)]);
    expect((await client.searchContracts('sample')).results).toEqual(results);
    expect(await client.sameCode(1, sampleAddress(1))).toEqual({ results: [], next: null });
    expect(client.eventsUrl).toBe(`${service.apiUrl}/v1/events`);
  });

  test('says where the fields of a chain come from', async () => {
    const client = createFullmatchClient(service);
    const details = await client.chainDetails('eth');
    expect(details).toMatchObject({ record: { chainId: 1 }, testnet: false, hasIcon: false });
    expect(Object.keys(details?.origins ?? {})).toEqual(Object.keys(details?.record ?? {}));
    expect(await client.chainDetails(999_999_999_999)).toBeUndefined();
  });

  test('gives the code of a problem, and refuses what is no JSON', async () => {
    const client = createFullmatchClient({
      apiUrl: `${service.apiUrl}/nowhere`,
      repositoryUrl: `${service.apiUrl}/healthz?`,
    });
    await expect(client.chains()).rejects.toMatchObject({ status: 404, code: 'route_not_found' });
    await expect(client.statistics()).rejects.toMatchObject({ status: 200, code: undefined });
  });

  test('ends when its signal says so', async () => {
    const client = createFullmatchClient(service);
    await expect(client.chains({ signal: AbortSignal.abort() })).rejects.toThrow();
  });
});
