// Statistics over time, contract lists and contract searches through the API host of a complete service.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type z } from '@hono/zod-openapi';
import { contractPageSchema } from '../src/http/api/statistics/contract-list-routes.ts';
import { historySchema, overviewSchema } from '../src/http/api/statistics/statistics-routes.ts';
import { bytesToHex, checksumAddress, type Hex } from '../src/lib/hex.ts';
import { keccak256 } from '../src/lib/keccak.ts';
import { saveMatch, saveMatches } from '../src/repository/matches/save-matches.ts';
import { type VerifiedContract } from '../src/repository/matches/verified-contract.ts';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { sql } from '../src/store/database.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { followed } from './support/followed.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const CODE = Buffer.from('60036004', 'hex');
const PROXY: Hex = '0xabcdefabcdefabcdefabcdefabcdefabcdefabcd';

const WAITING = sql(
  'test waiting',
  `SELECT FROM pg_locks WHERE relation = 'compiler_counts'::regclass AND NOT granted`,
);

const COUNTED = sql('test counted', 'SELECT FROM chain_activity WHERE chain_id = 78');

let testDatabase: TestDatabase;
let service: BootedService;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  await saveMatches(testDatabase.database, [
    named(1, PROXY, 'UUPSProxy', 'full'),
    named(10, PROXY, 'UUPSProxy', 'partial'),
    named(1, sampleAddress(2), 'My_Token', 'partial'),
    { ...named(5, sampleAddress(3), 'token100%', 'full'), deployment: {} },
  ]);
  service = await bootService({ databaseUrl: testDatabase.url });
  await followed(service, testDatabase.database);
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

/** A verified contract with a given name and the bytecode {@link CODE}. */
function named(
  chainId: number,
  address: Hex,
  name: string,
  runtimeMatch: 'full' | 'partial',
): VerifiedContract {
  const sample = sampleContract(chainId, address, { runtimeMatch });
  const { compilation } = sample;
  return {
    ...sample,
    origin: 'verified',
    deployment: { runtimeCode: CODE },
    compilation: { ...compilation, name, metadata: JSON.stringify({ name }) },
  };
}

const ask = (path: string, init?: RequestInit): Promise<Response> =>
  fetch(`${service.apiUrl}${path}`, init);

async function readPage(path: string): Promise<z.infer<typeof contractPageSchema>> {
  const response = await ask(path);
  expect(response.status).toBe(200);
  return contractPageSchema.parse(await response.json());
}

async function readOverview(): Promise<z.infer<typeof overviewSchema>> {
  return overviewSchema.parse(await (await ask('/v1/statistics')).json());
}

/** Returns the addresses from all pages of `limit` contracts each. */
async function readAllPages(path: string, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (let after = ''; ;) {
    const page = await readPage(`${path}&limit=${limit}${after}`);
    expect(page.results.length).toBeLessThanOrEqual(limit);
    found.push(...page.results.map(({ chainId, address }) => `${chainId} ${address}`));
    if (page.next === null) return found;
    after = `&after=${encodeURIComponent(page.next)}`;
  }
}

describe('GET /v1/statistics', () => {
  test('returns consistent totals, chains, origins and compilers', async () => {
    const overview = await readOverview();
    const claimed = { full: 0, partial: 0 };
    expect(overview.totals).toEqual({ full: 2, partial: 2, claimed, chains: 3, uniqueCodes: 1 });
    expect(overview.changes).toEqual({
      day: { full: 2, partial: 2, claimed },
      week: { full: 2, partial: 2, claimed },
    });
    expect(overview.eventNumber).toBe('4');
    expect(overview.position).toBe('4');
    expect(overview.chains.map(({ chainId, share }) => [chainId, share])).toEqual([
      [1, 0.5],
      [5, 1],
      [10, 0],
    ]);
    expect(overview.chains[0]).toMatchObject({ name: 'Ethereum Mainnet', full: 1, partial: 1 });
    expect(overview.origins.verified).toEqual({ full: 2, partial: 2 });
    expect(overview.compilers).toEqual([
      { language: 'solidity', version: '0.8.37+commit.00000000', full: 2, partial: 2, claimed },
    ]);
  });

  test('returns the same bytes until something changes, and 304 for a known ETag', async () => {
    const first = await ask('/v1/statistics');
    const etag = first.headers.get('etag') ?? '';
    expect((await ask('/v1/statistics', { headers: { 'if-none-match': etag } })).status).toBe(304);
    const before = await readOverview();
    await saveMatch(testDatabase.database, named(77, sampleAddress(9), 'Later', 'full'));
    await expect.poll(async () => (await readOverview()).totals.full).toBe(before.totals.full + 1);
    await withdrawMatch(testDatabase.database, {
      chainId: 77,
      address: sampleAddress(9),
      reason: 'a test',
    });
    await expect.poll(async () => (await readOverview()).totals.full).toBe(before.totals.full);
    const chain = (await readOverview()).chains.find(({ chainId }) => chainId === 77);
    expect(chain).toMatchObject({ full: 0, partial: 0, share: null });
    expect(chain?.lastVerifiedAt).not.toBeNull();
  });

  test('returns the previous counts while the database blocks', async () => {
    const { database } = testDatabase;
    const before = await readOverview();
    await saveMatch(database, named(78, sampleAddress(10), 'Waiting', 'full'));
    await expect.poll(async () => (await database.query(COUNTED)).length).toBe(1);
    await database.transaction(async (transaction) => {
      await transaction.query(sql('test lock', 'LOCK TABLE compiler_counts'));
      const isWaiting = async (): Promise<boolean> => {
        expect(await readOverview()).toEqual(before);
        return (await database.query(WAITING)).length > 0;
      };
      await expect.poll(isWaiting).toBe(true);
      // The lock is held until this request has completed.
      expect(await readOverview()).toEqual(before);
    });
    await expect.poll(async () => (await readOverview()).totals.full).toBe(before.totals.full + 1);
  });
});

describe('GET /v1/statistics/history', () => {
  const readHistory = async (query: string): Promise<z.infer<typeof historySchema>> =>
    historySchema.parse(await (await ask(`/v1/statistics/history?${query}`)).json());

  test('starts at zero, ends at the current counts and explains drops', async () => {
    const history = await readHistory('');
    expect(history).toMatchObject({ interval: 'day', chains: null });
    expect(history.position).toBe((await readOverview()).position);
    expect(history.points).toHaveLength(90);
    const { full, partial, claimed } = (await readOverview()).totals;
    expect(history.points.at(-1)).toEqual({ date: history.to, full, partial, claimed });
    expect(history.points[0]).toMatchObject({ full: 0, partial: 0 });
    expect(history.withdrawals).toEqual([
      {
        ...{ date: history.to, chainId: 77, full: -1, partial: 0, reason: 'a test' },
        claimed: { full: 0, partial: 0 },
      },
    ]);
  });

  test('counts claims apart, until they are verified or withdrawn', async () => {
    const { database } = testDatabase;
    const path = 'chain=79';
    const claim = (number: number): VerifiedContract => ({
      ...named(79, sampleAddress(number), 'Claim', 'full'),
      origin: 'imported',
    });
    const lastOf = async () => (await readHistory(path)).points.at(-1);
    const expectCounts = async (full: number, claims: number): Promise<void> => {
      const claimed = { full: claims, partial: 0 };
      await expect.poll(lastOf).toMatchObject({ full, partial: 0, claimed });
      const { chains, totals, changes } = await readOverview();
      expect(chains.find(({ chainId }) => chainId === 79)).toMatchObject({ full, claimed });
      expect(totals.claimed).toEqual(claimed);
      expect(changes.day.claimed).toEqual(claimed);
    };
    await saveMatches(database, [claim(1), claim(2), claim(3)]);
    await expectCounts(3, 3);
    // The same match, now by a verification here.
    await saveMatch(database, { ...claim(1), origin: 'verified' });
    await expectCounts(3, 2);
    const reason = 'a false claim';
    await withdrawMatch(database, { chainId: 79, address: sampleAddress(2), reason });
    await expectCounts(2, 1);
    expect((await readHistory(path)).withdrawals).toMatchObject([
      { full: -1, partial: 0, claimed: { full: -1, partial: 0 }, reason },
    ]);
    await withdrawMatch(database, { chainId: 79, address: sampleAddress(3), reason });
    await withdrawMatch(database, { chainId: 79, address: sampleAddress(1), reason });
    await expectCounts(0, 0);
  });

  test('accepts several chains, and uses weeks and months for long ranges', async () => {
    const two = await readHistory('chain=10&chain=1&interval=month&from=2020-01-15');
    expect(two.chains).toEqual([1, 10]);
    expect(two.points.at(-1)).toMatchObject({ full: 1, partial: 2 });
    expect(two.points[0]!.date).toBe('2020-01-31');
    expect((await readHistory('chain=10&interval=week')).points.at(-1)).toMatchObject({
      full: 0,
      partial: 1,
    });
  });

  test.each([
    'from=2026-02-30',
    'from=yesterday',
    'from=9999-01-01',
    'from=1970-01-01',
    'from=2026-02-02&to=2026-02-01',
    'chain=eth',
    'chain=9007199254740993',
    'chain=1&chain=0',
    Array.from({ length: 501 }, (_, index) => `chain=${index + 1}`).join('&'),
    'interval=year',
  ])('rejects %s', async (query) => {
    const response = await ask(`/v1/statistics/history?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_parameter' });
  });
});

describe('GET /v1/contracts', () => {
  test('lists contracts newest first, page by page, without duplicates during inserts', async () => {
    const first = await readPage('/v1/contracts?limit=2');
    await saveMatch(testDatabase.database, named(8453, sampleAddress(50), 'Newer', 'full'));
    const second = await readPage(`/v1/contracts?limit=2&after=${first.next}`);
    const ids = [...first.results, ...second.results].map(({ matchId }) => Number(matchId));
    expect(ids).toEqual([...ids].sort((left, right) => right - left));
    expect(new Set(ids).size).toBe(4);
    expect((await readPage('/v1/contracts?limit=1')).results[0]).toMatchObject({
      chainId: 8453,
      address: checksumAddress(sampleAddress(50)),
      name: 'Newer',
      match: 'full',
      runtimeMatch: 'full',
      creationMatch: null,
      origin: 'verified',
      language: 'solidity',
    });
  });

  test.each([
    ['chain=1', 2],
    ['chain=1&match=full', 1],
    ['match=partial', 2],
    ['origin=imported', 0],
    ['trust=verified', 6],
    ['trust=rechecked&origin=imported', 0],
    ['origin=verified&match=partial&chain=10', 1],
    ['chain=123456789', 0],
  ])('filters by %s', async (query, expected) => {
    const all = await readAllPages(`/v1/contracts?${query}`, 1);
    expect(all).toHaveLength(expected);
  });

  test.each(['limit=0', 'limit=201', 'after=x', `after=${2n ** 63n}`, 'match=best', 'chain=eth'])(
    'rejects %s',
    async (query) => {
      const response = await ask(`/v1/contracts?${query}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: 'invalid_parameter' });
    },
  );
});

describe('GET /v1/contracts/search', () => {
  const search = (q: string): Promise<string[]> =>
    readAllPages(`/v1/contracts/search?q=${encodeURIComponent(q)}`, 1);
  const both = [`1 ${checksumAddress(PROXY)}`, `10 ${checksumAddress(PROXY)}`];

  test.each([
    PROXY,
    PROXY.toUpperCase().replace('0X', '0x'),
    '0xABCDEFAB',
    '0xabcdefabc',
    'uups',
    'UUPSProxy',
    'proxy',
    'PROX',
  ])('finds contracts by %s', async (q) => {
    expect((await search(q)).sort()).toEqual(both);
  });

  test.each([
    ['uups', 'chain=10', 1],
    [PROXY, 'match=full', 1],
    ['0xabcdefab', 'chain=1&match=partial', 0],
    [PROXY, 'chain=10&match=partial&origin=verified', 1],
    ['proxy', 'origin=imported', 0],
    ['proxy', 'trust=verified&chain=1', 1],
    ['proxy', 'trust=claimed&chain=1', 1],
    [bytesToHex(keccak256(CODE)), 'chain=10', 1],
  ])('for %s finds those with %s', async (q, filters, expected) => {
    const path = `/v1/contracts/search?${new URLSearchParams({ q }).toString()}&${filters}`;
    expect(await readAllPages(path, 1)).toHaveLength(expected);
  });

  test('finds words within names and takes every character literally', async () => {
    expect(await search('token')).toHaveLength(2);
    expect(await search('my_t')).toHaveLength(1);
    expect(await search('mytoken')).toHaveLength(1);
    expect(await search('token100%')).toHaveLength(1);
    expect(await search('%')).toEqual([]);
    expect(await search('_')).toEqual([]);
    expect(await search("'; DROP TABLE code; --")).toEqual([]);
  });

  test('finds the same bytecode by keccak256 and by its SHA-256', async () => {
    const [contract] = (await readPage('/v1/contracts?chain=1&match=full')).results;
    expect(contract?.address).toBe(checksumAddress(PROXY));
    const byKeccak = await search(bytesToHex(keccak256(CODE)));
    expect(byKeccak.sort()).toEqual(expect.arrayContaining(both));
    expect(await search(`0x${'00'.repeat(32)}`)).toEqual([]);
  });

  test.each([
    'q=',
    'q=0x12',
    'q=0xabcdefgh',
    `q=0x${'0'.repeat(41)}`,
    'q=uups&after=1',
    'q=uups&match=best',
    'q=uups&chain=eth',
    '',
  ])('rejects %s', async (query) => {
    const response = await ask(`/v1/contracts/search?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_parameter' });
  });
});

describe('GET /v1/contracts/{chainId}/{address}/same-code', () => {
  test('lists the other contracts with the same bytecode, and returns 404 for an unverified one', async () => {
    const same = await readAllPages(`/v1/contracts/1/${PROXY}/same-code?`, 1);
    expect(same).toContain(`10 ${checksumAddress(PROXY)}`);
    expect(same).not.toContain(`1 ${checksumAddress(PROXY)}`);
    expect(await readAllPages(`/v1/contracts/5/${sampleAddress(3)}/same-code?`, 1)).toEqual([]);
    const absent = await ask(`/v1/contracts/1/${sampleAddress(999)}/same-code`);
    expect(absent.status).toBe(404);
    expect(await absent.json()).toMatchObject({ code: 'contract_not_found' });
  });
});
