import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runInProcess } from '../../test/support/run-cli.ts';
import { sampleAddress, sampleContract } from '../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { checksumAddress } from '../lib/hex.ts';
import { saveMatches } from '../repository/matches/save-matches.ts';
import { readStatistics } from '../repository/statistics/statistics.ts';
import { sql } from '../store/database.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

const run = (...args: string[]) =>
  runInProcess(args, {
    environment: { DATABASE_URL: testDatabase.url, FULLMATCH_REGISTRY_DEFAULTS: 'true' },
  });
const chainsOf = async () =>
  (await readStatistics(testDatabase.database)).chains.map(({ chainId, full, partial }) => [
    chainId,
    full,
    partial,
  ]);

beforeEach(async () => {
  await saveMatches(testDatabase.database, [
    sampleContract(4_294_967_297, sampleAddress(0xabc), { runtimeMatch: 'full' }),
    sampleContract(4_294_967_297, sampleAddress(2), { runtimeMatch: 'partial' }),
  ]);
});

describe('fullmatch recount', () => {
  test('exits 0 if the counts are right', async () => {
    const { exitCode, stdout, stderr } = await run('recount');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('no differences');
  });

  test('prints differences and exits 6, then repairs them and exits 0', async () => {
    await testDatabase.database.query(sql('damage', 'UPDATE chain_counts SET full_match = 9'));
    const found = await run('recount');
    expect(found.exitCode).toBe(6);
    expect(found.stdout).toContain('counts_against_events');
    expect(found.stdout).toContain('full 9, partial 1');
    expect(found.stderr).toContain('error[counts_differ]');

    const repaired = await run('recount', '--repair', '--json');
    expect(repaired.exitCode).toBe(0);
    expect(JSON.parse(repaired.stdout)).toMatchObject({ repaired: true });
    expect(await chainsOf()).toEqual([[4_294_967_297, 1, 1]]);
    expect((await run('recount')).exitCode).toBe(0);
  });
});

describe('fullmatch withdraw', () => {
  test("withdraws a match on an unlisted chain and keeps the chain's key", async () => {
    const address = checksumAddress(sampleAddress(0xabc));
    const { exitCode, stdout } = await run(
      ...['withdraw', '4294967297', address, '--reason', 'wrong sources', '--json'],
    );
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ chainId: 4_294_967_297, address, match: 'full' });
    expect(await chainsOf()).toEqual([[4_294_967_297, 0, 1]]);
    expect((await run('recount')).exitCode).toBe(0);
  });

  test.each([
    ['an address without a match', 'contract_not_found', sampleAddress(77), 'why'],
    ['a wrong checksum', 'invalid_parameter', '0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'why'],
    ['an address that is none', 'invalid_parameter', '0x12', 'why'],
    ['an empty reason', 'invalid_parameter', sampleAddress(2), ' '],
  ])('rejects %s', async (_what, code, address, reason) => {
    const before = await chainsOf();
    const { exitCode, stderr } = await run('withdraw', '4294967297', address, '--reason', reason);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`error[${code}]`);
    expect(await chainsOf()).toEqual(before);
  });

  test('rejects an unknown chain', async () => {
    const { stderr } = await run('withdraw', '4294967296', sampleAddress(2), '--reason', 'why');
    expect(stderr).toContain('error[chain_not_found]');
  });
});

test('an unreachable database exits 75 without showing its password', async () => {
  const environment = { DATABASE_URL: 'postgres://u:correct-horse@127.0.0.1:1/x' };
  const { exitCode, stderr } = await runInProcess(['recount'], { environment });
  expect(exitCode).toBe(75);
  expect(stderr).toContain('error[database_unreachable]');
  expect(stderr).not.toContain('correct-horse');
});
