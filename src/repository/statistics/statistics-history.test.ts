import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explain } from '../../../test/support/explain.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { sql } from '../../store/database.ts';
import { READ_ALL, READ_CHAINS } from './statistics-history.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

const run = (text: string): Promise<object[]> =>
  testDatabase.database.query(sql(`test ${text}`, text));

describe('One year of history', () => {
  const [CHAINS, DAYS] = [100, 365];
  beforeAll(async () => {
    // Ten years, so that a year is a fraction of it.
    await run(`INSERT INTO daily_counts SELECT chain, '2016-12-31'::date - day, 1, 1
      FROM generate_series(1000, ${999 + CHAINS}) AS chain, generate_series(0, ${10 * DAYS - 1}) AS day`);
    await run(`INSERT INTO daily_totals SELECT '2016-12-31'::date - day, 1, 1
      FROM generate_series(0, ${10 * DAYS - 1}) AS day`);
    await run('ANALYZE');
  });

  test.each([
    ['of all chains', READ_ALL, ['2016-01-02'], 'daily_totals', DAYS + 1],
    ['of some', READ_CHAINS, ['2016-01-02', [1001, 1050, 1099]], 'daily_counts', DAYS * 3],
  ] as const)(
    '%s reads only the rows of its days',
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
