import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  FILTERS,
  formatContractPath,
  kindOfWords,
  NO_QUERY,
  parseContractQuery,
} from '../../web/src/contracts/contract-query.ts';
import { soleContract } from '../../web/src/contracts/find-contracts.ts';
import { saveAsCsv, saveAsJson } from '../../web/src/contracts/save-contracts.ts';

const ADDRESS = `0x${'aB'.repeat(20)}`;

describe('the contract list query', () => {
  test('survives a round trip through the path', () => {
    const text = fc.string({ maxLength: 100 }).map((each) => each.trim());
    const queries = fc.record({
      words: text,
      chain: text,
      match: fc.constantFrom('', ...Object.keys(FILTERS.match.options)),
      origin: fc.constantFrom('', ...Object.keys(FILTERS.origin.options)),
      trust: fc.constantFrom('', ...Object.keys(FILTERS.trust.options)),
      after: text,
    });
    fc.assert(
      fc.property(queries, (query) => {
        const { search } = new URL(formatContractPath(query), 'http://127.0.0.1/');
        expect(parseContractQuery(search.slice(1))).toEqual(query);
      }),
    );
  });

  test.each(['', 'match=none', 'origin=toString', 'q=+&chain=', '%%%', 'x=1'])(
    'ignores %j',
    (query) => expect(parseContractQuery(query)).toEqual(NO_QUERY),
  );

  test('has the shortest path', () => {
    expect(formatContractPath(NO_QUERY)).toBe('contracts');
    expect(formatContractPath({ ...NO_QUERY, words: 'a b', match: 'full' })).toBe(
      'contracts?q=a+b&match=full',
    );
  });
});

describe('search terms', () => {
  test.each([
    ['', 'none'],
    ['ERC20', 'name'],
    ['ab'.repeat(20), 'name'],
    ['0x', 'malformed'],
    ['0x123', 'malformed'],
    ['0x1234', 'prefix'],
    [ADDRESS.slice(0, -1), 'prefix'],
    [ADDRESS, 'address'],
    [ADDRESS.replace('0x', '0X'), 'address'],
    [`${ADDRESS}1`, 'malformed'],
    [`0x${'c'.repeat(64)}`, 'hash'],
    ['0x12345678zz', 'malformed'],
  ])('%j are classified as: %s', (words, kind) => expect(kindOfWords(words)).toBe(kind));
});

const CONTRACT = {
  chainId: 1,
  chainName: 'Ethereum, of the tests',
  address: ADDRESS,
  match: 'full',
  name: '=Token()',
  language: 'solidity',
  compilerVersion: '0.8.30+commit.73712a01',
  origin: 'verified',
  trust: 'verified',
  verifiedAt: '2026-01-02T03:04:05.000Z',
} as const;

describe('an address search', () => {
  const listed = (chainIds: readonly number[], next: string | null = null) => ({
    chain: null,
    list: {
      state: 'ready' as const,
      readAt: '',
      value: {
        contracts: chainIds.map((chainId) => ({ ...CONTRACT, chainId })),
        isRuledOut: false,
        next,
      },
    },
  });
  const query = { ...NO_QUERY, words: ADDRESS };

  test('finds the contract if it is verified on one chain', () => {
    expect(soleContract(query, listed([5]))?.chainId).toBe(5);
  });

  test('finds none on several chains, on a later page, by prefix, or if unverified', () => {
    expect(soleContract(query, listed([1, 5]))).toBeUndefined();
    expect(soleContract(query, listed([1], 'more'))).toBeUndefined();
    expect(soleContract({ ...query, after: 'x' }, listed([1]))).toBeUndefined();
    expect(soleContract({ ...query, words: '0x12345678' }, listed([1]))).toBeUndefined();
    expect(soleContract(query, listed([]))).toBeUndefined();
    expect(soleContract(query, { chain: null, list: null })).toBeUndefined();
  });
});

test('the list is exported with the same columns as CSV and as JSON', () => {
  const [header, row] = saveAsCsv([CONTRACT]).split('\r\n');
  expect(header).toBe(
    'chainId,chainName,address,match,name,language,compilerVersion,origin,trust,verifiedAt',
  );
  expect(row).toBe(
    `1,"Ethereum, of the tests",${ADDRESS},full,'=Token(),solidity,0.8.30+commit.73712a01,verified,verified,2026-01-02T03:04:05.000Z`,
  );
  expect(JSON.parse(saveAsJson([CONTRACT]))).toEqual([CONTRACT]);
});
