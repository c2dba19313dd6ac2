import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { runsOfSuite } from '../../../test/support/suite.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { sql, type Database } from '../../store/database.ts';
import { readCurrentMatches } from './read-current-matches.ts';
import { recount } from '../statistics/recount.ts';
import { saveMatch, saveMatches } from './save-matches.ts';
import { readStatistics } from '../statistics/statistics.ts';
import { type Match, type VerifiedContract } from './verified-contract.ts';
import { withdrawMatch } from './withdraw-match.ts';

let testDatabase: TestDatabase;
let database: Database;
let nextChainId = 1000;
/** A chain of the test's own, so that tests of one file can share a database. */
const freshChain = (): number => (nextChainId += 1);

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
});
afterAll(() => testDatabase.drop());

async function countsOf(chainId: number): Promise<{ full: number; partial: number } | undefined> {
  const { chains } = await readStatistics(database);
  const found = chains.find((chain) => chain.chainId === chainId);
  return found && { full: found.full, partial: found.partial };
}

const COUNT_OF = {
  events: sql(
    'test events',
    'SELECT kind, match_before, match_after, reason FROM match_events WHERE chain_id = $1 ORDER BY id',
  ),
  verified: sql(
    'test verified',
    `SELECT v.* FROM verified_contracts v JOIN contract_deployments d ON d.id = v.deployment_id WHERE d.chain_id = $1`,
  ),
};

describe('Saving a match', () => {
  const address = sampleAddress(1);

  test('stores a first match and counts it once', async () => {
    const chainId = freshChain();
    const saved = await saveMatch(
      database,
      sampleContract(chainId, address, { runtimeMatch: 'partial' }),
    );
    expect(saved.outcome).toBe('stored');
    expect(await countsOf(chainId)).toEqual({ full: 0, partial: 1 });
  });

  test('counts a contract as full if only its creation match is full', async () => {
    const chainId = freshChain();
    await saveMatch(
      database,
      sampleContract(chainId, address, { runtimeMatch: 'partial', creationMatch: 'full' }),
    );
    expect(await countsOf(chainId)).toEqual({ full: 1, partial: 0 });
  });

  test('upgrades partial to full and still counts the address once', async () => {
    const chainId = freshChain();
    await saveMatch(database, sampleContract(chainId, address, { runtimeMatch: 'partial' }));
    const saved = await saveMatch(
      database,
      sampleContract(chainId, address, { runtimeMatch: 'full' }, { variant: 1 }),
    );
    expect(saved.outcome).toBe('upgraded');
    expect(await countsOf(chainId)).toEqual({ full: 1, partial: 0 });
  });

  test('neither hashes nor sends the sources of a stored compilation again', async () => {
    const chainId = freshChain();
    const sent: number[] = [];
    const counting: Database = {
      ...database,
      transaction: (work) =>
        database.transaction((transaction) =>
          work({
            query: (statement, values = []) => {
              if (statement.label === 'insert sources') sent.push((values[0] as unknown[]).length);
              return transaction.query(statement, values);
            },
          }),
        ),
    };
    for (const number of [1, 2]) {
      const clone = sampleContract(chainId, sampleAddress(number), { runtimeMatch: 'partial' });
      const { sources: shared } = clone.compilation;
      const sources = [{ path: 'A.sol', content: `contract A${chainId} {}` }, ...shared];
      await saveMatch(counting, { ...clone, compilation: { ...clone.compilation, sources } });
    }
    expect(await countsOf(chainId)).toEqual({ full: 0, partial: 2 });
    expect(sent).toEqual([3]);
  });

  test('never downgrades full, and an equal match writes nothing', async () => {
    const chainId = freshChain();
    await saveMatch(database, sampleContract(chainId, address, { runtimeMatch: 'full' }));
    const before = await readStatistics(database);
    for (const match of ['partial', 'full'] as const) {
      const saved = await saveMatch(
        database,
        sampleContract(chainId, address, { runtimeMatch: match }, { variant: 2 }),
      );
      expect(saved).toEqual({ chainId, address, outcome: 'unchanged' });
    }
    expect(await readStatistics(database)).toEqual(before);
    expect(await database.query(COUNT_OF.events, [chainId])).toHaveLength(1);
    expect(await database.query(COUNT_OF.verified, [chainId])).toHaveLength(1);
  });

  test('adds a creation match to an equal runtime match, but never trades one for the other', async () => {
    const chainId = freshChain();
    await saveMatch(database, sampleContract(chainId, address, { runtimeMatch: 'full' }));
    const trade = await saveMatch(
      database,
      sampleContract(chainId, address, { runtimeMatch: 'partial', creationMatch: 'full' }),
    );
    expect(trade.outcome).toBe('unchanged');
    const join = await saveMatch(
      database,
      sampleContract(chainId, address, { runtimeMatch: 'full', creationMatch: 'partial' }),
    );
    expect(join.outcome).toBe('upgraded');
    expect(await countsOf(chainId)).toEqual({ full: 1, partial: 0 });
  });

  test('a batch that repeats an address ends like single saves in that order', async () => {
    const chainId = freshChain();
    const outcomes = await saveMatches(database, [
      sampleContract(chainId, address, { runtimeMatch: 'partial' }),
      sampleContract(chainId, address, { runtimeMatch: 'full' }),
      sampleContract(chainId, address, { runtimeMatch: 'partial' }),
      sampleContract(chainId, sampleAddress(2), { runtimeMatch: 'partial' }),
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      'stored',
      'upgraded',
      'unchanged',
      'stored',
    ]);
    expect(await countsOf(chainId)).toEqual({ full: 1, partial: 1 });
  });

  test('a batch with one invalid contract stores nothing', async () => {
    const chainId = freshChain();
    const broken = sampleContract(chainId, sampleAddress(2), { runtimeMatch: 'full' });
    const batch = [
      sampleContract(chainId, address, { runtimeMatch: 'full' }),
      {
        ...broken,
        compilation: { ...broken.compilation, sources: [{ path: 'a', content: 'nul \0' }] },
      },
    ];
    await expect(saveMatches(database, batch)).rejects.toMatchObject({ code: 'database_error' });
    expect(await countsOf(chainId)).toBeUndefined();
  });

  test('stores equal sources and compilations once for any number of contracts', async () => {
    const chainId = freshChain();
    const batch = Array.from({ length: 20 }, (_, index) =>
      sampleContract(chainId, sampleAddress(index), { runtimeMatch: 'full' }, { variant: 77 }),
    );
    await saveMatches(database, batch);
    const [row] = await database.query<{ sources: string; compilations: string; verified: string }>(
      sql(
        'test sharing',
        `SELECT (SELECT count(*) FROM sources WHERE content LIKE '%v = 77;%') AS sources,
           (SELECT count(*) FROM compiled_contracts WHERE metadata = '{"variant":77}') AS compilations,
           (SELECT count(*) FROM verified_contracts JOIN contract_deployments d ON d.id = deployment_id
             WHERE d.chain_id = $1) AS verified`,
      ),
      [chainId],
    );
    expect(row).toEqual({ sources: '1', compilations: '1', verified: '20' });
  });

  test('keeps chain ids up to 2^53-1 exact', async () => {
    await saveMatch(
      database,
      sampleContract(Number.MAX_SAFE_INTEGER, address, { runtimeMatch: 'partial' }),
    );
    expect(await countsOf(Number.MAX_SAFE_INTEGER)).toEqual({ full: 0, partial: 1 });
  });
});

describe('Withdrawing a match', () => {
  const address = sampleAddress(1);

  test('decrements the count, keeps the key and records the reason in the event', async () => {
    const chainId = freshChain();
    await saveMatch(database, sampleContract(chainId, address, { runtimeMatch: 'full' }));
    await withdrawMatch(database, {
      chainId,
      address,
      reason: 'the sources were not ours to publish',
    });
    expect(await countsOf(chainId)).toEqual({ full: 0, partial: 0 });
    expect(await database.query(COUNT_OF.events, [chainId])).toMatchObject([
      { kind: 'stored' },
      {
        kind: 'withdrawn',
        match_before: 'full',
        match_after: null,
        reason: 'the sources were not ours to publish',
      },
    ]);
  });

  test('allows the address to be stored again', async () => {
    const chainId = freshChain();
    await saveMatch(database, sampleContract(chainId, address, { runtimeMatch: 'full' }));
    await withdrawMatch(database, { chainId, address, reason: 'mistake' });
    const saved = await saveMatch(
      database,
      sampleContract(chainId, address, { runtimeMatch: 'partial' }),
    );
    expect(saved.outcome).toBe('stored');
    expect(await countsOf(chainId)).toEqual({ full: 0, partial: 1 });
  });

  test('rejects an address without a match and an empty reason', async () => {
    const chainId = freshChain();
    await expect(withdrawMatch(database, { chainId, address, reason: 'x' })).rejects.toMatchObject({
      code: 'contract_not_found',
    });
    await expect(withdrawMatch(database, { chainId, address, reason: ' ' })).rejects.toMatchObject({
      code: 'invalid_parameter',
    });
  });
});

const RANK = { none: 0, partial: 1, full: 2 };
const rank = (match: Match | null | undefined): number => RANK[match ?? 'none'];
const best = ({ runtimeMatch, creationMatch }: VerifiedContract): number =>
  Math.max(rank(runtimeMatch), rank(creationMatch));

const anyMatch = fc.constantFrom<Match | null>('full', 'partial', null);
/** Contracts on few chains and addresses, so that they collide. */
const anyContract = (chains: readonly number[]): fc.Arbitrary<VerifiedContract> =>
  fc
    .record({
      chainId: fc.constantFrom(...chains),
      number: fc.integer({ min: 0, max: 5 }),
      runtimeMatch: anyMatch,
      creationMatch: anyMatch,
      variant: fc.integer({ min: 0, max: 3 }),
    })
    .filter(({ runtimeMatch, creationMatch }) => runtimeMatch !== null || creationMatch !== null)
    .map(({ chainId, number, variant, ...matches }) =>
      sampleContract(chainId, sampleAddress(number), matches, { variant }),
    );

describe('Any sequence of saves', () => {
  test('yields the best match per address, counted once, in any order and concurrency', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anyContract([0, 1]), { minLength: 1, maxLength: 8 }), {
          minLength: 1,
          maxLength: 10,
        }),
        async (pattern) => {
          const chains = [freshChain(), freshChain()];
          const batches = pattern.map((batch) =>
            batch.map((contract) => ({ ...contract, chainId: chains[contract.chainId] ?? 0 })),
          );
          await Promise.all(batches.map((batch) => saveMatches(database, batch)));
          for (const chainId of chains) {
            const expected = new Map<string, number>();
            for (const contract of batches.flat().filter((each) => each.chainId === chainId)) {
              expected.set(
                contract.address,
                Math.max(best(contract), expected.get(contract.address) ?? 0),
              );
            }
            const asked = batches.flat().map(({ address }) => ({ chainId, address }));
            const stored = await readCurrentMatches(database, asked);
            const found = asked.flatMap(({ address }, index) => {
              const match = stored[index]?.match;
              return match === undefined ? [] : [[address, rank(match)] as const];
            });
            expect(new Map(found)).toEqual(expected);
            const ranks = [...expected.values()];
            if (ranks.length > 0) {
              expect(await countsOf(chainId)).toEqual({
                full: ranks.filter((each) => each === RANK.full).length,
                partial: ranks.filter((each) => each === RANK.partial).length,
              });
            }
          }
          expect((await recount(database, { repair: false })).differences).toEqual([]);
        },
      ),
      { numRuns: runsOfSuite(40) },
    );
  });

  test('mixed with withdrawals keeps counts, rows and events consistent', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ contract: anyContract([0]), withdraw: fc.boolean() }), {
          minLength: 1,
          maxLength: 30,
        }),
        async (steps) => {
          const chainId = freshChain();
          await Promise.all(
            steps.map(async ({ contract, withdraw }) => {
              await saveMatch(database, { ...contract, chainId });
              if (!withdraw) return;
              await withdrawMatch(database, {
                chainId,
                address: contract.address,
                reason: 'property',
              }).catch((error: unknown) => {
                expect(error).toMatchObject({ code: 'contract_not_found' });
              });
            }),
          );
          expect((await recount(database, { repair: false })).differences).toEqual([]);
          const events = await database.query<{
            kind: string;
            match_before: Match | null;
            match_after: Match | null;
          }>(COUNT_OF.events, [chainId]);
          for (const event of events.filter(({ kind }) => kind !== 'withdrawn')) {
            expect(rank(event.match_after)).toBeGreaterThanOrEqual(rank(event.match_before));
          }
        },
      ),
      { numRuns: runsOfSuite(25) },
    );
  });
});
