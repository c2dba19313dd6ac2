import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explain } from '../../../test/support/explain.ts';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { ADVISORY_LOCKS } from '../../store/advisory-locks.ts';
import { type Queryable, sql } from '../../store/database.ts';
import { recount } from './recount.ts';
import { rollUpEvents } from './roll-up-events.ts';
import { saveMatch, saveMatches } from '../matches/save-matches.ts';
import { READ_ALL, READ_CHAINS } from './statistics-history.ts';

const WRITERS = 12;

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase({ poolSize: WRITERS + 2 });
});
afterAll(() => testDatabase.drop());

const run = <Row extends object>(
  text: string,
  on: Queryable = testDatabase.database,
): Promise<Row[]> => on.query<Row>(sql(`test ${text}`, text));

const slots = async (): Promise<number[]> =>
  (await run<{ slot: number }>('SELECT DISTINCT slot FROM daily_totals ORDER BY slot')).map(
    ({ slot }) => slot,
  );

const [lockClass, firstSlot] = ADVISORY_LOCKS.totalsSlot;
const isRight = async (): Promise<void> => {
  const { differences } = await recount(testDatabase.database, { repair: false });
  expect(differences).toEqual([]);
};

describe('the totals of all chains', () => {
  test('are added to by a writer while another, of another chain, has not committed its own', async () => {
    const { database } = testDatabase;
    const { eventId = '' } = await saveMatch(
      database,
      sampleContract(1, sampleAddress(1), { runtimeMatch: 'full' }),
    );
    expect(await slots()).toEqual([1]);
    const held = database.transaction(async (transaction) => {
      await rollUpEvents(transaction, [eventId]);
      // It would wait for ever if it took the same row.
      await saveMatch(database, sampleContract(2, sampleAddress(1), { runtimeMatch: 'partial' }));
      throw new Error('rolled back');
    });
    await expect(held).rejects.toThrow('rolled back');
    expect(await slots()).toEqual([1, 2]);
    await isRight();
  });

  test('go to the slot for which writers wait where no other is free', async () => {
    const { database } = testDatabase;
    await database.transaction(async (transaction) => {
      const take = `SELECT pg_advisory_xact_lock(${lockClass}, ${firstSlot} + slot) FROM generate_series(1, 31) AS slot`;
      await run(take, transaction);
      await saveMatch(database, sampleContract(3, sampleAddress(1), { runtimeMatch: 'full' }));
    });
    expect(await slots()).toEqual([0, 1, 2]);
    await isRight();
  });

  test('are exact after many writers at once, of which none waited in a circle', async () => {
    const { database } = testDatabase;
    const write = async (writer: number): Promise<void> => {
      for (let round = 0; round < 12; round += 1) {
        const batch = Array.from({ length: 6 }, (_, index) =>
          sampleContract(
            1 + ((writer * 7 + round + index * 5) % 40),
            sampleAddress((writer + round + index) % 9),
            { runtimeMatch: (writer + round) % 3 === 0 ? 'full' : 'partial' },
            { variant: index },
          ),
        );
        await saveMatches(database, batch);
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    await isRight();
    const [row] = await run<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(row!.deadlocks).toBe('0');
  });
});

describe('a history of a year', () => {
  const [CHAINS, DAYS, SLOTS] = [100, 365, 8];
  beforeAll(async () => {
    // Ten years, so that a year is a part of it.
    await run(`INSERT INTO daily_counts SELECT chain, '2016-12-31'::date - day, 1, 1
      FROM generate_series(1000, ${999 + CHAINS}) AS chain, generate_series(0, ${10 * DAYS - 1}) AS day`);
    await run(`INSERT INTO daily_totals SELECT '2016-12-31'::date - day, slot, 1, 1
      FROM generate_series(0, ${SLOTS - 1}) AS slot, generate_series(0, ${10 * DAYS - 1}) AS day`);
    await run('ANALYZE');
  });

  test.each([
    ['of all chains', READ_ALL, ['2016-01-02'], 'daily_totals', DAYS * SLOTS + 50],
    ['of some', READ_CHAINS, ['2016-01-02', [1001, 1050, 1099]], 'daily_counts', DAYS * 3],
  ] as const)(
    '%s reads the rows of its days and no others',
    async (_title, statement, values, table, most) => {
      const plans = await explain(testDatabase.database, statement, values);
      const reads = plans.filter((plan) => plan['Relation Name'] === table);
      expect(reads.map((plan) => plan['Node Type'])).not.toContain('Seq Scan');
      expect(reads).not.toEqual([]);
      for (const read of reads) {
        expect(read['Actual Rows'] * read['Actual Loops']).toBeLessThanOrEqual(most);
      }
    },
  );
});
