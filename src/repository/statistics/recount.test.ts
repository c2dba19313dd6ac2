import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { sql } from '../../store/database.ts';
import { readEvidence } from '../evidence/read-evidence.ts';
import { advanceFeed } from '../../../test/support/advance-feed.ts';
import { recount } from './recount.ts';
import { saveMatches } from '../matches/save-matches.ts';
import { readStatistics, renderStatistics } from './statistics.ts';
import { withdrawMatch } from '../matches/withdraw-match.ts';

let test_: TestDatabase;
beforeEach(async () => {
  test_ = await createTestDatabase();
  await saveMatches(test_.database, [
    sampleContract(1, sampleAddress(1), { runtimeMatch: 'full' }),
    sampleContract(1, sampleAddress(2), { runtimeMatch: 'partial' }),
    sampleContract(10, sampleAddress(1), { runtimeMatch: 'partial' }),
  ]);
  await withdrawMatch(test_.database, { chainId: 10, address: sampleAddress(1), reason: 'test' });
});
afterEach(() => test_.drop());

const run = (text: string): Promise<object[]> => test_.database.query(sql(`test ${text}`, text));
const stats = async (): Promise<string> =>
  renderStatistics(await readStatistics(test_.database)).toString();
const RIGHT = '{"1":{"full_match":1,"partial_match":1},"10":{"full_match":0,"partial_match":0}}';

describe('Recount', () => {
  test('finds no differences in consistent data and reports what it checked', async () => {
    expect(await recount(test_.database, { repair: false })).toEqual({
      chains: 2,
      contracts: 2,
      events: 4,
      differences: [],
      repaired: false,
    });
  });

  test.each([
    [
      'a wrong count',
      'UPDATE chain_counts SET full_match = 7 WHERE chain_id = 1',
      ['counts_against_events', 'counts_against_rows'],
    ],
    ['a missing key', 'DELETE FROM chain_counts WHERE chain_id = 10', ['counts_against_events']],
    [
      'a key of a chain that never stored anything',
      'INSERT INTO chain_counts (chain_id) VALUES (99)',
      ['counts_against_events'],
    ],
    [
      'a row that vanished',
      `DELETE FROM current_matches WHERE match = 'full'`,
      ['counts_against_rows', 'row_against_events'],
    ],
    [
      'a row that no event explains',
      `INSERT INTO current_matches (chain_id, address, runtime_match, origin) VALUES (5, decode(repeat('ab', 20), 'hex'), 'full', 'verified')`,
      ['counts_against_rows', 'row_against_events', 'row_against_evidence'],
    ],
  ])('reports %s and changes nothing without repair', async (_title, damage, kinds) => {
    await run(damage);
    const before = await stats();
    const found = await recount(test_.database, { repair: false });
    expect(found.differences.map(({ kind }) => kind).sort()).toEqual(kinds);
    expect(found.repaired).toBe(false);
    expect(await stats()).toBe(before);
  });

  test('with repair neither waits for writers nor blocks them if nothing needs repair', async () => {
    const found = await test_.database.transaction(async (transaction) => {
      await transaction.query(
        sql('test: a writer', 'UPDATE current_matches SET updated_at = now() WHERE chain_id = 1'),
      );
      return recount(test_.database, { repair: true });
    });
    expect(found).toMatchObject({ differences: [], repaired: false });
  });

  test.each([
    ['UPDATE chain_counts SET full_match = 7, partial_match = 0'],
    ['DELETE FROM chain_counts'],
    ['INSERT INTO chain_counts (chain_id) VALUES (99)'],
    ['DELETE FROM current_matches'],
    [`UPDATE current_matches SET runtime_match = 'full'`],
  ])('with repair restores the counts given by the events after %s', async (damage) => {
    await run(damage);
    const found = await recount(test_.database, { repair: true });
    expect(found.repaired).toBe(true);
    expect(await stats()).toBe(RIGHT);
    expect((await recount(test_.database, { repair: true })).differences).toEqual([]);
    const corrections = await run(`SELECT reason FROM match_events WHERE kind = 'corrected'`);
    expect(corrections.length).toBe(
      found.differences.filter(({ kind }) => kind !== 'row_against_evidence').length,
    );
  });

  test('with repair does not wait for writers of other contracts', async () => {
    await run('UPDATE chain_counts SET full_match = 7 WHERE chain_id = 1');
    await run(`UPDATE current_matches SET runtime_match = 'partial' WHERE match = 'full'`);
    const found = await test_.database.transaction(async (transaction) => {
      await transaction.query(
        sql(
          'test: a writer of another contract',
          `UPDATE current_matches SET updated_at = now() WHERE address = $1`,
        ),
        [Buffer.from(sampleAddress(2).slice(2), 'hex')],
      );
      return recount(test_.database, { repair: true });
    });
    expect(found.repaired).toBe(true);
    expect(await stats()).toBe(RIGHT);
  });

  test('with repair matches the events despite concurrent saves and repairs', async () => {
    await run('UPDATE chain_counts SET full_match = 7 WHERE chain_id = 1');
    await run(`DELETE FROM current_matches WHERE match = 'full'`);
    const stored = Array.from({ length: 30 }, (_, number) =>
      saveMatches(test_.database, [
        sampleContract(number % 2 === 0 ? 1 : 3, sampleAddress(100 + number), {
          runtimeMatch: 'full',
        }),
      ]),
    );
    const repairs = [1, 2].map(() => recount(test_.database, { repair: true }));
    await Promise.all([...stored, ...repairs]);
    expect((await recount(test_.database, { repair: false })).differences).toEqual([]);
    expect(await stats()).toBe(
      '{"1":{"full_match":16,"partial_match":1},"3":{"full_match":15,"partial_match":0},"10":{"full_match":0,"partial_match":0}}',
    );
  });

  test.each([
    ['a row that vanished', 'DELETE FROM current_matches WHERE chain_id = 20'],
    [
      'a row that is wrong',
      `UPDATE current_matches SET runtime_match = 'partial' WHERE chain_id = 20`,
    ],
  ])('with repair keeps track of unlisted sources after %s', async (_what, damage) => {
    const judged = (number: number, unlisted: readonly string[], metadata?: string) => {
      const { compilation, ...rest } = sampleContract(20, sampleAddress(number), {
        runtimeMatch: 'full',
      });
      const paths = ['Listed "\\ \n.sol', ...unlisted];
      const { language, compiler, version, name, fullyQualifiedName, settings, artifacts } =
        compilation;
      return {
        ...rest,
        origin: 'verified' as const,
        compilation: {
          ...{ language, compiler, version, name, fullyQualifiedName, settings, artifacts },
          ...(metadata !== undefined && { metadata }),
          sources: paths.map((each) => ({ path: each, content: each })),
          ...(unlisted.length > 0 && { hasUnlistedSources: true }),
        },
      };
    };
    const metadata = JSON.stringify({ sources: { 'Listed "\\ \n.sol': {} } });
    await saveMatches(test_.database, [
      judged(1, [], metadata),
      judged(2, ['Unlisted.sol'], metadata),
      judged(3, []),
      sampleContract(20, sampleAddress(4), { runtimeMatch: 'full' }),
    ]);
    const hashes = () =>
      run('SELECT address, text_hash FROM current_matches WHERE chain_id = 20 ORDER BY address');
    const before = await hashes();
    await run(damage);
    expect((await recount(test_.database, { repair: true })).repaired).toBe(true);
    expect(await hashes()).toEqual(before);
    const unlisted = [];
    for (const number of [1, 2, 3, 4]) {
      const evidence = await readEvidence(test_.database, 20, sampleAddress(number));
      unlisted.push(evidence?.hasUnlistedSources);
    }
    expect(unlisted).toEqual([false, true, false, false]);
  });

  test('reports an event missing from feed and queue, and queues it on repair', async () => {
    await run(`DELETE FROM feed_queue WHERE event_id = (SELECT min(event_id) FROM feed_queue)`);
    const found = await recount(test_.database, { repair: true });
    expect(found.differences).toMatchObject([{ kind: 'feed_against_events', chainId: 1 }]);
    expect((await recount(test_.database, { repair: false })).differences).toEqual([]);
    await advanceFeed(test_.database);
    expect(await run('SELECT count(*)::int AS events FROM feed')).toEqual([{ events: 5 }]);
    expect((await recount(test_.database, { repair: false })).differences).toEqual([]);
  });

  test('the event log and the feed are append-only', async () => {
    for (const text of [
      `UPDATE match_events SET match_after = 'full'`,
      'DELETE FROM match_events',
      'TRUNCATE match_events CASCADE',
      'UPDATE feed SET position = 1',
      'DELETE FROM feed',
    ]) {
      await expect(run(text)).rejects.toMatchObject({
        code: 'database_error',
        details: { sqlstate: '23001' },
      });
    }
  });
});
