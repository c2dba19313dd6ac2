import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { FullmatchError } from '../errors.ts';
import { type SavedMatch } from '../repository/matches/save-matches.ts';
import { type VerifiedContract } from '../repository/matches/verified-contract.ts';
import { sampleAddress, sampleContract } from '../../test/support/sample-contracts.ts';
import { saveBatch } from './save-batch.ts';

const badValue = () =>
  new FullmatchError('database_error', 'a value is bad', { details: { sqlstate: '22P05' } });

/** Saves like the database: all of a batch or nothing. */
function fakeSave(bad: ReadonlySet<string>, stored: string[], failure: () => Error) {
  return async (contracts: readonly VerifiedContract[]): Promise<readonly SavedMatch[]> => {
    if (contracts.some(({ address }) => bad.has(address))) throw failure();
    stored.push(...contracts.map(({ address }) => address));
    return contracts.map(({ chainId, address }) => ({ chainId, address, outcome: 'stored' }));
  };
}

describe('saveBatch', () => {
  test('rejects exactly the contracts that make a batch fail and saves the rest once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), async (faults) => {
        const contracts = faults.map((_, index) =>
          sampleContract(1, sampleAddress(index), { runtimeMatch: 'full' }),
        );
        const bad = new Set(
          faults.flatMap((fault, index) => (fault ? [sampleAddress(index)] : [])),
        );
        const stored: string[] = [];
        const outcomes = await saveBatch(contracts, fakeSave(bad, stored, badValue));
        expect(outcomes.map((outcome) => 'refusal' in outcome)).toEqual(faults);
        expect(stored).toEqual(
          contracts.map(({ address }) => address).filter((address) => !bad.has(address)),
        );
      }),
    );
  });

  test('attributes an internal error to the contract that triggers it', async () => {
    const contracts = [sampleContract(1, sampleAddress(1), { runtimeMatch: 'full' })];
    const save = fakeSave(new Set([sampleAddress(1)]), [], () => new RangeError('too deep'));
    await expect(saveBatch(contracts, save)).resolves.toMatchObject([
      { refusal: { reason: 'not_storable' } },
    ]);
  });

  test.each([
    new FullmatchError('database_unreachable', 'gone'),
    new FullmatchError('data_directory_full', 'full'),
    new FullmatchError('database_error', 'read-only', { details: { sqlstate: '25006' } }),
    new FullmatchError('database_error', 'no table', { details: { sqlstate: '42P01' } }),
    new FullmatchError('database_error', 'of another kind'),
  ])('aborts the run with $code if the cause is not a contract: $message', async (failure) => {
    const contracts = [1, 2].map((number) =>
      sampleContract(1, sampleAddress(number), { runtimeMatch: 'full' }),
    );
    const save = fakeSave(new Set([sampleAddress(1)]), [], () => failure);
    await expect(saveBatch(contracts, save)).rejects.toBe(failure);
  });
});
