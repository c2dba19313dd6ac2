import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ListRecord } from '../registry/list-record.ts';
import { listRecords } from '../../../test/support/made-up-lists.ts';
import { compareLists, compareRecords } from './compare-lists.ts';

const counts = (difference: ReturnType<typeof compareLists>) =>
  Object.fromEntries(
    Object.entries(difference).map(([kind, changes]) => [kind, (changes as unknown[]).length]),
  );
const NOTHING = {
  added: 0,
  removed: 0,
  renamed: 0,
  identityChanged: 0,
  rpcChanged: 0,
  otherChanged: 0,
};

const alpha: ListRecord = {
  chainId: 7,
  name: 'Alpha Mainnet',
  shortName: 'alpha',
  rpc: ['https://a.example', 'https://b.example'],
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
};

describe('compareLists', () => {
  test('finds no difference between a list and a permutation of it', () => {
    fc.assert(
      fc.property(
        listRecords(),
        fc.array(fc.nat(), { minLength: 20, maxLength: 20 }),
        (records, numbers) => {
          const shuffled = records
            .map((record, index) => ({ record: structuredClone(record), at: numbers[index]! }))
            .sort((left, right) => left.at - right.at)
            .map(({ record }) => record);
          expect(counts(compareLists(records, shuffled))).toEqual(NOTHING);
        },
      ),
    );
  });

  test('reports as added in one direction what it reports as removed in the other', () => {
    fc.assert(
      fc.property(listRecords(), listRecords(), (left, right) => {
        const there = compareLists(left, right);
        const back = compareLists(right, left);
        expect(there.added).toEqual(back.removed);
        expect(there.removed).toEqual(back.added);
        expect(there.renamed.map(({ chainId }) => chainId)).toEqual(
          back.renamed.map(({ chainId }) => chainId),
        );
      }),
    );
  });

  test('counts every changed chain that both lists contain', () => {
    fc.assert(
      fc.property(listRecords(), listRecords(), (left, right) => {
        const news = new Map(right.map((record) => [record.chainId, record]));
        const { renamed, rpcChanged, otherChanged } = compareLists(left, right);
        const said = new Set([...renamed, ...rpcChanged, ...otherChanged].map((c) => c.chainId));
        for (const old of left) {
          const fresh = news.get(old.chainId);
          const differs = fresh !== undefined && compareRecords(old, fresh).length > 0;
          expect(said.has(old.chainId)).toBe(differs);
        }
      }),
    );
  });

  test.each<[string, ListRecord, Partial<typeof NOTHING>]>([
    ['another name', { ...alpha, name: 'Omega' }, { renamed: 1 }],
    ['another short name', { ...alpha, shortName: 'alp' }, { renamed: 1 }],
    ['another name in case and generic words', { ...alpha, name: 'ALPHA' }, { renamed: 1 }],
    [
      'the flag of a reused id alone',
      { ...alpha, redFlags: ['reusedChainId'] },
      { otherChanged: 1 },
    ],
    [
      'another name with the flag of a reused id',
      { ...alpha, name: 'Omega', redFlags: ['reusedChainId'] },
      { renamed: 1, identityChanged: 1, otherChanged: 1 },
    ],
    [
      'a name that is the same but for generic words, with that flag',
      { ...alpha, name: 'Alpha Network', redFlags: ['reusedChainId'] },
      { renamed: 1, otherChanged: 1 },
    ],
    ['endpoints in another order', { ...alpha, rpc: [...alpha.rpc].reverse() }, { rpcChanged: 1 }],
    ['an explorer', { ...alpha, explorers: [] }, { otherChanged: 1 }],
    [
      'keys in another order',
      { ...alpha, nativeCurrency: { decimals: 18, symbol: 'ETH', name: 'Ether' } },
      {},
    ],
  ])('reports %s', (_what, after, expected) => {
    expect(counts(compareLists([alpha], [after]))).toEqual({ ...NOTHING, ...expected });
  });

  test('lists the added and removed endpoints', () => {
    const after = { ...alpha, rpc: ['https://c.example', 'https://a.example'] };
    expect(compareLists([alpha], [after]).rpcChanged).toEqual([
      {
        chainId: 7,
        name: alpha.name,
        added: ['https://c.example'],
        removed: ['https://b.example'],
      },
    ]);
  });
});
