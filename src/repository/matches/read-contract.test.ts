import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { findOnChains } from './find-on-chains.ts';
import { listContracts } from '../lists/list-contracts.ts';
import { parseSections } from './contract-sections.ts';
import { readContract, readRecord, readRecordVersion } from './read-contract.ts';
import { readFile } from '../tree/read-file.ts';
import { saveMatch } from './save-matches.ts';

const ADDRESS = sampleAddress(1);

let store: TestDatabase;
beforeAll(async () => {
  store = await createTestDatabase();
  await saveMatch(store.database, sampleContract(1, ADDRESS, { runtimeMatch: 'full' }));
});
afterAll(() => store.drop());

/** Labels of the statements that some work runs. */
async function labelsOf(work: (database: Queryable) => Promise<unknown>): Promise<string[]> {
  const labels: string[] = [];
  await work({
    query: (statement, values) => {
      labels.push(statement.label);
      return store.database.query(statement, values);
    },
  });
  return labels;
}

let nextChange = 0;

/** The version before and after a statement within one transaction, in which all rows have the same `xmin`. */
async function versionsAround(change: string): Promise<(string | undefined)[]> {
  return store.database.transaction(async (database) => {
    const versionAfter = async (text: string): Promise<string | undefined> => {
      await database.query(sql(`change ${(nextChange += 1)}`, text), []);
      return (await readRecordVersion(database, 1, ADDRESS))?.version;
    };
    const touched = 'UPDATE verified_contracts SET deployment_id = deployment_id';
    await versionAfter('UPDATE current_matches SET chain_id = chain_id');
    return [await versionAfter(touched), await versionAfter(change)];
  });
}

describe('Record version', () => {
  test.each([
    `UPDATE current_matches SET text_hash = sha256('another text')`,
    `UPDATE current_matches SET runtime_code_hash = sha256('another code')`,
    `UPDATE current_matches SET updated_at = updated_at + interval '1 microsecond'`,
    `UPDATE verified_contracts SET updated_at = updated_at + interval '1 microsecond'`,
  ])('changes even within one transaction number: %s', async (change) => {
    const [before, after] = await versionsAround(change);
    expect(before).toBeDefined();
    expect(after).not.toBe(before);
  });

  test('stays the same without writes', async () => {
    const [before, after] = await versionsAround('SELECT 1');
    expect(after).toBe(before);
  });

  test('differs for different texts in databases cloned from one', async () => {
    const other = await createTestDatabase();
    try {
      const address = sampleAddress(7);
      const versions = [store.database, other.database].map(async (database, variant) => {
        const contract = sampleContract(1, address, { runtimeMatch: 'full' }, { variant });
        await saveMatch(database, contract);
        return (await readRecordVersion(database, 1, address))?.version;
      });
      const [one, another] = await Promise.all(versions);
      expect(one).toBeDefined();
      expect(one).not.toBe(another);
    } finally {
      await other.drop();
    }
  });
});

describe('Reading a contract', () => {
  test('needs one statement for a match or its version, two for a record with sources', async () => {
    expect(await labelsOf((database) => readContract(database, 1, ADDRESS))).toEqual([
      'read match',
    ]);
    expect(await labelsOf((database) => readRecordVersion(database, 1, ADDRESS))).toEqual([
      'read record version',
    ]);
    expect(
      await labelsOf((database) => readRecord(database, 1, ADDRESS, ['sources', 'metadata'])),
    ).toEqual(['read record', 'read sources']);
  });

  test('returns only the requested sections', async () => {
    const record = await readRecord(store.database, 1, ADDRESS, ['metadata', 'deployment']);
    expect(record && parseSections(record.sections)).toEqual({
      metadata: '{"variant":0}',
      deployment: {},
    });
    expect(record?.sections.row).toMatchObject({ artifacts: null, runtime_artifacts: null });
    expect(record?.match).toMatchObject({
      match: 'full',
      creationMatch: null,
      origin: 'imported',
    });
  });

  test('stops after the match if there is none', async () => {
    const read = (database: Queryable): Promise<unknown> =>
      readRecord(database, 2, ADDRESS, ['sources', 'runtimeCode']);
    expect(await read(store.database)).toBeUndefined();
    expect(await labelsOf(read)).toEqual(['read record']);
  });

  test('reads the content of a single source for a single file', async () => {
    const read = (database: Queryable): Promise<unknown> =>
      readFile(database, 1, ADDRESS, 'sources/contracts/Sample.sol');
    expect(await read(store.database)).toMatchObject({
      content: 'contract Sample { uint v = 0; }',
    });
    expect(await labelsOf(read)).toEqual(['read match', 'read source names', 'read source']);
  });
});

describe('Lookups across contracts', () => {
  // Without an index the planner can only scan; with one it uses it when scans are expensive.
  test.each([
    [
      'the contracts of a chain',
      (database: Queryable) => listContracts(database, 1, { order: 'descending', limit: 10 }),
      'current_matches_of_chain',
    ],
    [
      'all chains of an address',
      (database: Queryable) => findOnChains(database, [ADDRESS]),
      'current_matches_of_address',
    ],
  ])('use an index for %s', async (_what, work, index) => {
    let plan = '';
    await work({
      query: async (statement, values) =>
        store.database.transaction(async (transaction) => {
          await transaction.query(sql('test: no scans', 'SET LOCAL enable_seqscan = off'));
          // Whether autovacuum has counted the few rows decides if sorting them looks cheaper.
          await transaction.query(sql('test: no sort', 'SET LOCAL enable_sort = off'));
          const explain = sql(`test: explain ${statement.label}`, `EXPLAIN ${statement.text}`);
          plan = JSON.stringify(await transaction.query(explain, values));
          return [];
        }),
    });
    expect(plan).toContain(index);
  });
});
