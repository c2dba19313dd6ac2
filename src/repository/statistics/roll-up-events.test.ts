import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { type Hex } from '../../lib/hex.ts';
import { sql } from '../../store/database.ts';
import { advanceFeed } from '../../../test/support/advance-feed.ts';
import { recount } from './recount.ts';
import { saveMatches } from '../matches/save-matches.ts';
import { readStatisticsHistory } from './statistics-history.ts';
import {
  type CountsWithClaims,
  type MatchCounts,
  readStatisticsOverview,
} from './statistics-overview.ts';
import { type Match, type Origin } from '../matches/verified-contract.ts';
import { withdrawMatch } from '../matches/withdraw-match.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

interface EventRow {
  kind: 'stored' | 'upgraded' | 'withdrawn';
  chain_id: string;
  address: string;
  day: string;
  match_after: Match | null;
  origin: Origin;
  version: string | null;
  code: string | null;
  reason: string | null;
}

const EVENTS = sql(
  'test events',
  `SELECT kind, match_events.chain_id, match_events.address::text AS address, (recorded_at AT TIME ZONE 'UTC')::date::text AS day,
     match_after, origin, version, contracts.runtime_code_hash::text AS code, reason
   FROM match_events LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   LEFT JOIN contract_deployments ON contract_deployments.id = deployment_id
   LEFT JOIN contracts ON contracts.id = contract_id
   WHERE kind <> 'corrected' ORDER BY match_events.id`,
);

/** The expected statistics, counted here from the events one by one. */
async function countEvents(): Promise<{
  chains: Map<number, Record<Match, number>>;
  origins: Map<Origin, number>;
  versions: Map<string, number>;
  codes: number;
  byDay: Map<string, number>;
  fallen: Map<string, number>;
  claims: Map<number, Record<Match, number>>;
  claimsByDay: Map<string, number>;
  claimsFallen: Map<string, number>;
  claimsByVersion: Map<string, number>;
}> {
  const events = await testDatabase.database.query<EventRow>(EVENTS);
  const current = new Map<string, EventRow>();
  const codes = new Set<string>();
  const byDay = new Map<string, number>();
  const fallen = new Map<string, number>();
  const chains = new Map<number, Record<Match, number>>();
  const claims = new Map<number, Record<Match, number>>();
  const [claimsByDay, claimsFallen] = [new Map<string, number>(), new Map<string, number>()];
  const isClaim = (row?: EventRow) => row?.origin === 'imported' && row.match_after !== null;
  for (const event of events) {
    const wasClaim = isClaim(current.get(`${event.chain_id} ${event.address}`));
    claims.set(Number(event.chain_id), { full: 0, partial: 0 });
    chains.set(Number(event.chain_id), { full: 0, partial: 0 });
    current.set(`${event.chain_id} ${event.address}`, event);
    if (event.kind !== 'withdrawn' && event.code !== null) codes.add(event.code);
    if (event.kind === 'withdrawn') {
      const key = `${event.chain_id} ${event.reason ?? ''}`;
      fallen.set(key, (fallen.get(key) ?? 0) - 1);
      claimsFallen.set(key, (claimsFallen.get(key) ?? 0) - Number(wasClaim));
    }
    claimsByDay.set(event.day, [...current.values()].filter(isClaim).length);
    byDay.set(event.day, [...current.values()].filter((row) => row.match_after !== null).length);
  }
  const origins = new Map<Origin, number>();
  const versions = new Map<string, number>();
  const claimsByVersion = new Map<string, number>();
  for (const { chain_id, match_after, origin, version } of current.values()) {
    if (match_after === null) continue;
    const claimed = Number(origin === 'imported');
    claims.get(Number(chain_id))![match_after] += claimed;
    claimsByVersion.set(version ?? '', (claimsByVersion.get(version ?? '') ?? 0) + claimed);
    chains.get(Number(chain_id))![match_after] += 1;
    origins.set(origin, (origins.get(origin) ?? 0) + 1);
    versions.set(version ?? '', (versions.get(version ?? '') ?? 0) + 1);
  }
  return {
    ...{ chains, origins, versions, codes: codes.size, byDay, fallen },
    ...{ claims, claimsByDay, claimsFallen, claimsByVersion },
  };
}

const step = fc.record({
  chainId: fc.constantFrom(1, 10, 2716446429837000),
  address: fc.integer({ min: 1, max: 4 }).map(sampleAddress),
  action: fc.constantFrom('full', 'partial', 'both', 'withdraw'),
  origin: fc.constantFrom<Origin>('verified', 'imported', 'monitored'),
  version: fc.constantFrom('0.8.37+commit.00000000', '0.4.11+commit.68ef5810'),
  code: fc.constantFrom(undefined, '60016002', '60036004'),
  reason: fc.constantFrom('wrong sources', 'asked for'),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function take({
  chainId,
  address,
  action,
  origin,
  version,
  code,
  reason,
}: Step): Promise<void> {
  const { database } = testDatabase;
  if (action === 'withdraw') {
    await withdrawMatch(database, { chainId, address, reason }).catch(() => undefined);
    return;
  }
  const sample = sampleContract(chainId, address, {
    runtimeMatch: action === 'full' ? 'full' : 'partial',
    creationMatch: action === 'both' ? 'partial' : null,
  });
  await saveMatches(database, [
    {
      ...sample,
      origin,
      deployment: code === undefined ? {} : { runtimeCode: Buffer.from(code, 'hex') },
      compilation: { ...sample.compilation, version, metadata: `{"version":"${version}"}` },
    },
  ]);
}

async function expectRight(): Promise<void> {
  const { database } = testDatabase;
  await advanceFeed(database);
  const expected = await countEvents();
  const overview = await readStatisticsOverview(database);
  expect(
    new Map(overview.chains.map(({ chainId, full, partial }) => [chainId, { full, partial }])),
  ).toEqual(expected.chains);
  expect(new Map(overview.chains.map(({ chainId, claimed }) => [chainId, claimed]))).toEqual(
    expected.claims,
  );
  // Nothing is older than a week.
  expect(overview.changes.week).toEqual(sumOf(overview.chains));
  expect(overview.uniqueCodes).toBe(expected.codes);
  for (const [origin, { full, partial }] of Object.entries(overview.origins)) {
    expect(full + partial).toBe(expected.origins.get(origin as Origin) ?? 0);
  }
  expect(
    new Map(overview.compilers.map(({ version, full, partial }) => [version, full + partial])),
  ).toEqual(expected.versions);
  expect(
    new Map(
      overview.compilers.map(({ version, claimed }) => [version, claimed.full + claimed.partial]),
    ),
  ).toEqual(expected.claimsByVersion);
  const days = [...expected.byDay.keys()].sort();
  if (days.length === 0) return;
  const [from, to] = [days[0]!, days.at(-1)!];
  const history = await readStatisticsHistory(database, { interval: 'day', from, to });
  for (const [day, count] of expected.byDay) {
    const point = history.points.find(({ date }) => date === day)!;
    expect(point.full + point.partial).toBe(count);
    expect(point.claimed.full + point.claimed.partial).toBe(expected.claimsByDay.get(day));
  }
  const [fallen, claimsFallen] = [new Map<string, number>(), new Map<string, number>()];
  for (const { chainId, reason, full, partial, claimed } of history.withdrawals) {
    const key = `${chainId} ${reason}`;
    fallen.set(key, (fallen.get(key) ?? 0) + full + partial);
    claimsFallen.set(key, (claimsFallen.get(key) ?? 0) + claimed.full + claimed.partial);
  }
  expect(fallen).toEqual(expected.fallen);
  expect(claimsFallen).toEqual(expected.claimsFallen);
}

/** The counts of all chains together. */
function sumOf(chains: readonly CountsWithClaims[]): CountsWithClaims {
  const sum = (all: readonly MatchCounts[]): MatchCounts => ({
    full: all.reduce((total, { full }) => total + full, 0),
    partial: all.reduce((total, { partial }) => total + partial, 0),
  });
  return { ...sum(chains), claimed: sum(chains.map(({ claimed }) => claimed)) };
}

describe('Statistics over time', () => {
  test('equal a plain count of the events after any saves, upgrades and withdrawals', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        for (const each of steps) await take(each);
        await expectRight();
      }),
      { numRuns: 12 },
    );
    const { differences } = await recount(testDatabase.database, { repair: false });
    expect(differences).toEqual([]);
  });

  test.each([
    ['chain_activity', 'UPDATE chain_activity SET events = events + 1'],
    ['chain_activity', 'UPDATE chain_activity SET first_verified_at = now()'],
    ['daily_counts', 'UPDATE daily_counts SET full_match = full_match - 1'],
    ['daily_totals', 'UPDATE daily_totals SET partial_match = 99'],
    ['daily_totals', 'DELETE FROM daily_totals'],
    ['chain_activity', 'UPDATE chain_activity SET full_claims = full_claims + 1'],
    ['daily_counts', 'UPDATE daily_counts SET partial_claims = 7'],
    ['daily_totals', 'UPDATE daily_totals SET partial_claims = 7'],
    ['hourly_totals', 'UPDATE hourly_totals SET full_claims = 7'],
    ['hourly_totals', 'UPDATE hourly_totals SET partial_match = 99'],
    [
      'daily_falls',
      `INSERT INTO daily_falls VALUES (1, '2026-01-01', 'no reason', DEFAULT, -1, 0)`,
    ],
    ['compiler_counts', 'DELETE FROM compiler_counts'],
    ['code', 'DELETE FROM verified_codes'],
    ['name', 'DELETE FROM contract_names'],
  ])('a recount reports and repairs damage to %s: %s', async (table, damage) => {
    const { database } = testDatabase;
    await saveMatches(database, [
      sampleContract(
        1,
        sampleAddress(77),
        { runtimeMatch: 'partial' },
        { deployment: { runtimeCode: Buffer.from('6007', 'hex') } },
      ),
    ]);
    await advanceFeed(database);
    await database.query(sql(`test damage ${damage}`, damage));
    const found = await recount(database, { repair: true });
    expect(found.differences.map(({ kind }) => kind)).toContain('rollup_against_events');
    expect(found.differences.some(({ stored }) => stored.startsWith(table))).toBe(true);
    expect((await recount(database, { repair: false })).differences).toEqual([]);
    await expectRight();
  });
});

describe('Statistics history', () => {
  test('has a point for every calendar interval, without gaps', async () => {
    const days = async (interval: 'week' | 'month', from: string, to: string): Promise<string[]> =>
      (await readStatisticsHistory(testDatabase.database, { interval, from, to })).points.map(
        ({ date }) => date,
      );
    expect(await days('week', '2026-02-25', '2026-03-10')).toEqual([
      '2026-03-01',
      '2026-03-08',
      '2026-03-10',
    ]);
    expect(await days('month', '2023-12-31', '2024-03-01')).toEqual([
      '2023-12-31',
      '2024-01-31',
      '2024-02-29',
      '2024-03-01',
    ]);
  });

  test('of selected chains contains only their counts, from their first match on', async () => {
    const { database } = testDatabase;
    const contracts: [number, Hex][] = [
      [424242, sampleAddress(1)],
      [424243, sampleAddress(1)],
      [424243, sampleAddress(2)],
    ];
    await saveMatches(
      database,
      contracts.map(([chainId, address]) =>
        sampleContract(chainId, address, { runtimeMatch: 'full' }),
      ),
    );
    await advanceFeed(database);
    const today = new Date().toISOString().slice(0, 10);
    const read = (chainIds: number[]) =>
      readStatisticsHistory(database, {
        interval: 'day',
        from: '2026-01-01',
        to: today,
        chainIds,
      });
    // Sample contracts are imported.
    const point = (date: string, full: number) => ({
      ...{ date, full, partial: 0 },
      claimed: { full, partial: 0 },
    });
    expect((await read([424242])).points.at(-1)).toEqual(point(today, 1));
    const both = (await read([424242, 424243])).points;
    expect(both.at(-1)).toEqual(point(today, 3));
    expect(both[0]).toEqual(point('2026-01-01', 0));
  });
});
