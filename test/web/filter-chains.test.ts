import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  type ChainQuery,
  type ChainRow,
  FACET_NAMES,
  FACETS,
  NO_QUERY,
  SORT_KEYS,
} from '../../web/src/chains/chain-query.ts';
import {
  filterChains,
  findFilters,
  indexChains,
  joinChains,
  PAGE_ROWS,
  pageOf,
} from '../../web/src/chains/filter-chains.ts';
import { saveAsCsv, saveAsJson } from '../../web/src/chains/save-chains.ts';

const rowOf = (chainId: number, more: Partial<ChainRow> = {}): ChainRow => ({
  chainId,
  name: `Chain ${chainId}`,
  supported: false,
  monitored: false,
  testnet: false,
  warnings: [],
  full: 0,
  partial: 0,
  lastVerifiedAt: null,
  ...more,
});

const ROWS: readonly ChainRow[] = [
  rowOf(1, {
    name: 'Ethereum Mainnet',
    shortName: 'eth',
    currency: 'ETH',
    currencyName: 'Ether',
    full: 9,
    partial: 1,
    supported: true,
    lastVerifiedAt: '2026-02-03T00:00:00Z',
    health: 'up',
  }),
  rowOf(5, {
    name: 'Görli',
    shortName: 'gor',
    testnet: true,
    status: 'deprecated',
    currency: 'GÖR',
  }),
  rowOf(10, {
    name: 'OP Mainnet',
    shortName: 'oeth',
    full: 3,
    partial: 3,
    supported: true,
    monitored: true,
    lastVerifiedAt: '2026-02-04T00:00:00Z',
    health: 'down',
  }),
  rowOf(16, { name: 'Straße', warnings: ['reusedChainId'] }),
  rowOf(Number.MAX_SAFE_INTEGER, {
    name: 'a name of sixty characters, which is as long as names can be.',
  }),
];
const INDEX = indexChains(ROWS);
const idsOf = (query: Partial<ChainQuery>): readonly number[] =>
  filterChains(INDEX, { ...NO_QUERY, ...query }).rows.map(({ chainId }) => chainId);
const FAR = Number.MAX_SAFE_INTEGER;

test('offers only filters that narrow the table and omits the defaults', () => {
  expect(findFilters(INDEX)).toEqual([
    ...['supported=yes', 'contracts=yes', 'monitored=yes', 'network=mainnet', 'network=testnet'],
    ...['status=deprecated', 'health=up', 'health=down', 'warnings=yes'],
  ]);
  expect(findFilters(indexChains([rowOf(1), rowOf(2)]))).toEqual([]);
});

describe('query terms', () => {
  test.each([
    // Supported chains first.
    ['', [1, 10, 5, 16, FAR]],
    ['gorli', [5]],
    ['GÖRLI', [5]],
    ['gör', [5]],
    ['strasse', [16]],
    ['mainnet', [1, 10]],
    ['mainnet op', [10]],
    ['  op\tMAIN ', [10]],
    ['eth', [1, 10]],
    ['ether', [1]],
    ['0x10', [16]],
    ['0x1', [1]],
    ['eip155:1', [1]],
    ['9007199254740991', [FAR]],
    ['mainnet nothing', []],
    ['<script>', []],
  ])('%j find %j', (words, ids) => {
    expect(idsOf({ words })).toEqual(ids);
  });
});

describe('query facets', () => {
  test.each([
    [{ supported: 'yes' }, [1, 10]],
    [{ supported: 'yes', monitored: 'no' }, [1]],
    [{ network: 'testnet' }, [5]],
    [{ status: 'deprecated' }, [5]],
    [{ status: 'active' }, [1, 10, 16, FAR]],
    [{ contracts: 'no' }, [5, 16, FAR]],
    [{ warnings: 'yes' }, [16]],
    [{ health: 'none' }, [5, 16, FAR]],
    [{ health: 'down' }, [10]],
  ] as const)('%j leave %j', (facets, ids) => {
    expect(idsOf({ facets })).toEqual(ids);
  });

  test('show how many rows each value would leave', () => {
    const { facets } = filterChains(INDEX, { ...NO_QUERY, facets: { supported: 'yes' } });
    expect(facets.supported).toEqual({ yes: 2, no: 3 });
    expect(facets.monitored).toEqual({ yes: 1, no: 1 });
    expect(facets.network).toEqual({ mainnet: 2 });
  });
});

describe('query order', () => {
  test.each([
    ['name', false, [FAR, 1, 5, 10, 16]],
    ['short', false, [1, 5, 10, 16, FAR]],
    ['full', true, [1, 10, 5, 16, FAR]],
    ['partial', true, [10, 1, 5, 16, FAR]],
    ['share', true, [1, 10, 5, 16, FAR]],
    ['last', true, [10, 1, 5, 16, FAR]],
    ['health', true, [1, 10, 5, 16, FAR]],
    ['id', true, [FAR, 16, 10, 5, 1]],
  ] as const)('by %s, descending %s, is %j', (sort, descending, ids) => {
    expect(idsOf({ sort, descending })).toEqual(ids);
  });
});

describe('invariants for any chains', () => {
  const rows = fc.uniqueArray(
    fc.record({
      chainId: fc.integer({ min: 1, max: 5000 }),
      name: fc.constantFrom('Aa', 'Bé', 'Cc Mainnet', 'ΣΊΣΥΦΟΣ', ''),
      supported: fc.boolean(),
      monitored: fc.boolean(),
      testnet: fc.boolean(),
      warnings: fc.constantFrom<string[]>([], ['reusedChainId']),
      full: fc.integer({ min: 0, max: 3 }),
      partial: fc.integer({ min: 0, max: 3 }),
      lastVerifiedAt: fc.constantFrom(null, '2026-02-03T00:00:00Z'),
    }),
    { selector: ({ chainId }) => chainId, maxLength: 30 },
  );
  const queries = fc.record({
    words: fc.constantFrom('', 'a', 'e', 'mainnet', 'σισυφος', '1'),
    facets: fc.record(
      { supported: fc.constantFrom('yes', 'no'), contracts: fc.constantFrom('yes', 'no') },
      { requiredKeys: [] },
    ),
    sort: fc.constantFrom(...SORT_KEYS),
    descending: fc.boolean(),
    page: fc.constant(1),
  });

  test("a facet's count equals the rows that it leaves", () => {
    fc.assert(
      fc.property(rows, queries, (given, query) => {
        const index = indexChains(given);
        const { facets } = filterChains(index, query);
        for (const name of FACET_NAMES) {
          for (const [value] of FACETS[name].options) {
            const narrowed = { ...query, facets: { ...query.facets, [name]: value } };
            expect(facets[name][value] ?? 0).toBe(filterChains(index, narrowed).rows.length);
          }
        }
      }),
    );
  });

  test('the previous order of the rows makes no difference', () => {
    fc.assert(
      fc.property(rows, queries, (given, query) => {
        const turned = filterChains(indexChains([...given].reverse()), query);
        expect(turned.rows).toEqual(filterChains(indexChains(given), query).rows);
      }),
    );
  });
});

describe('paging', () => {
  const many = Array.from({ length: 2 * PAGE_ROWS + 1 }, (_, index) => rowOf(index + 1));

  test.each([
    [1, 1, PAGE_ROWS, 1],
    [3, 3, 1, 2 * PAGE_ROWS + 1],
    [99, 3, 1, 2 * PAGE_ROWS + 1],
  ])('page %i is clamped to %i with %i rows, starting at %i', (asked, page, length, first) => {
    const shown = pageOf(many, asked);
    expect(shown).toMatchObject({ page, pages: 3 });
    expect(shown.rows.length).toBe(length);
    expect(shown.rows[0]?.chainId).toBe(first);
  });

  test('yields one empty page for no rows', () => {
    expect(pageOf([], 5)).toEqual({ rows: [], page: 1, pages: 1 });
  });
});

test('joins counts by chain id, with claims apart; a chain without counts has none', () => {
  const line = { name: 'x', supported: true, monitored: false, testnet: false, warnings: [] };
  const counts = {
    ...{ name: 'x', share: null },
    ...{ firstVerifiedAt: null, lastVerifiedAt: '2026-02-03T00:00:00Z' },
  };
  const rows = joinChains(
    [
      { ...line, chainId: 1 },
      { ...line, chainId: 2 },
      { ...line, chainId: 3 },
    ],
    [
      { ...counts, chainId: 2, full: 4, partial: 2, claimed: { full: 1, partial: 1 } },
      { ...counts, chainId: 3, full: 9, partial: 0, claimed: { full: 9, partial: 0 } },
    ],
  );
  expect(rows).toMatchObject([
    { chainId: 1, full: 0, partial: 0, claimed: 0, lastVerifiedAt: null },
    { chainId: 2, full: 3, partial: 1, claimed: 2, lastVerifiedAt: '2026-02-03T00:00:00Z' },
    // Nothing was verified there.
    { chainId: 3, full: 0, partial: 0, claimed: 9, lastVerifiedAt: null },
  ]);
  const rpc = new Map([[2, ['https://a.example', 'https://b.example']]]);
  expect(saveAsCsv(rows, rpc)).toContain(
    '\r\n2,x,,,true,false,false,,3,1,2,2026-02-03T00:00:00Z,,https://a.example https://b.example,\r\n',
  );
  expect(JSON.parse(saveAsJson(rows, rpc))).toMatchObject([{ rpc: [] }, { rpc: rpc.get(2) }, {}]);
  const { rows: sorted, facets } = filterChains(indexChains(rows), NO_QUERY);
  expect(sorted.map(({ chainId }) => chainId)).toEqual([2, 3, 1]);
  expect(facets.contracts).toEqual({ yes: 2, no: 1 });
});

test('unavailable counts are shown neither as contracts nor as none', () => {
  const line = { name: 'x', supported: true, monitored: false, testnet: false, warnings: [] };
  const index = indexChains(joinChains([{ ...line, chainId: 1 }], undefined));
  const { rows, facets } = filterChains(index, NO_QUERY);
  expect(facets.contracts).toEqual({ unknown: 1 });
  expect(rows[0]).not.toHaveProperty('full');
  expect(saveAsCsv(rows, new Map())).toMatch(/\r\n1,x,,,true,false,false,,,,,,,,\r\n$/);
});
