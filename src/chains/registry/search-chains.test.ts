import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCases } from '../../../test/support/shared-data.ts';
import { type RegisteredChain } from './registered-chain.ts';
import { foldText } from '../../lib/fold-text.ts';
import { pickFields, rankChains, searchChains, type ChainFilter } from './search-chains.ts';

interface SearchCase {
  readonly words: string;
  readonly finds: readonly number[];
  readonly why: string;
}

function chainOf(
  chainId: number,
  fields: Partial<RegisteredChain['record']> = {},
  testnet = false,
): RegisteredChain {
  const { supported = false, monitored = false, name = `Chain ${chainId}`, ...rest } = fields;
  const record = { name, rpc: [], ...rest, chainId, supported, monitored };
  return { record, origins: {}, endpoints: [], testnet, local: false };
}

const currency = (symbol: string, name: string) => ({ symbol, name, decimals: 18 });
const CHAINS = [
  chainOf(1, {
    name: 'Ethereum Mainnet',
    shortName: 'eth',
    chain: 'ETH',
    supported: true,
    nativeCurrency: currency('ETH', 'Ether'),
  }),
  chainOf(5, { name: 'Görli', title: 'Ethereum Testnet Görli', status: 'deprecated' }, true),
  chainOf(137, { name: 'Polygon', nativeCurrency: currency('POL', 'POL'), status: 'active' }),
  chainOf(1370, { name: 'Ramestta', monitored: true, supported: true }),
  chainOf(1400, { name: 'Tallinn' }),
  chainOf(4157, { name: 'Ｗｉｄｅ Straße ΧΑΟΣ' }),
];
const idsOf = (chains: readonly RegisteredChain[]): number[] =>
  chains.map(({ record }) => record.chainId);
const find = (filter: ChainFilter): number[] =>
  idsOf(searchChains(CHAINS, filter, { limit: 100 }).chains);

describe('Chain search', () => {
  test.each(readCases<SearchCase>('chain-search.json'))('"$words" finds $finds: $why', (each) => {
    expect(find({ words: each.words })).toEqual(each.finds);
  });

  test.each<[ChainFilter, number[]]>([
    [{}, [1, 5, 137, 1370, 1400, 4157]],
    [{ supported: true }, [1, 1370]],
    [{ supported: false }, [5, 137, 1400, 4157]],
    [{ monitored: true }, [1370]],
    [{ testnet: true }, [5]],
    [{ testnet: false, supported: false }, [137, 1400, 4157]],
    [{ status: 'Deprecated' }, [5]],
    [{ status: 'active' }, [1, 137, 1370, 1400, 4157]],
    [{ status: 'incubating' }, []],
    [{ supported: true, words: 'eth' }, [1]],
  ])('with %j finds %j', (filter, ids) => {
    expect(find(filter)).toEqual(ids);
  });

  test('returns the number of matches and the cursor of the next page', () => {
    const page = searchChains(CHAINS, { supported: false }, { limit: 2 });
    expect([idsOf(page.chains), page.matching, page.next]).toEqual([[5, 137], 4, 137]);
    const last = searchChains(CHAINS, { supported: false }, { limit: 2, after: 1399 });
    expect([idsOf(last.chains), last.matching, last.next]).toEqual([[1400, 4157], 4, undefined]);
  });
});

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('Görli', 'ΑΣ', 'Straße', 'İstanbul', 'ﬀ', 'eth', '한'),
);
const chains = fc
  .uniqueArray(
    fc.record({
      chainId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      name: text,
      shortName: fc.option(text, { nil: undefined }),
      supported: fc.boolean(),
      testnet: fc.boolean(),
    }),
    { selector: ({ chainId }) => chainId },
  )
  .map((drawn) =>
    drawn
      .toSorted((left, right) => left.chainId - right.chainId)
      .map(({ chainId, name, shortName, supported, testnet }) =>
        chainOf(
          chainId,
          { name, supported, ...(shortName === undefined ? {} : { shortName }) },
          testnet,
        ),
      ),
  );
const filters = fc.record(
  {
    supported: fc.boolean(),
    testnet: fc.boolean(),
    status: fc.constantFrom('active', 'deprecated'),
    words: text,
  },
  { requiredKeys: [] },
);

describe('Every chain search', () => {
  test('returns the same ascending unique chains paged as all at once', () => {
    fc.assert(
      fc.property(chains, filters, fc.integer({ min: 1, max: 7 }), (all, filter, limit) => {
        const whole = searchChains(all, filter, { limit: all.length + 1 });
        const paged: number[] = [];
        for (let after: number | undefined = 0; after !== undefined;) {
          const page = searchChains(all, filter, { after, limit });
          expect(page.matching).toBe(whole.matching);
          expect(page.chains.length).toBeLessThanOrEqual(limit);
          paged.push(...idsOf(page.chains));
          after = page.next;
        }
        expect(paged).toEqual(idsOf(whole.chains));
        expect(paged).toEqual([...new Set(paged)].sort((left, right) => left - right));
        expect(whole.next).toBeUndefined();
      }),
    );
  });

  test('finds a chain by its full name in any case, with or without accents', () => {
    fc.assert(
      fc.property(chains, (all) => {
        for (const { record } of all) {
          for (const words of [record.name.toUpperCase(), record.name.normalize('NFD')]) {
            const found = searchChains(all, { words }, { limit: all.length });
            expect(idsOf(found.chains)).toContain(record.chainId);
          }
        }
      }),
    );
  });

  test('never finds more with an additional condition', () => {
    fc.assert(
      fc.property(chains, filters, text, (all, filter, word) => {
        const narrower = { ...filter, words: `${filter.words ?? ''} ${word}` };
        const wide = searchChains(all, filter, { limit: all.length + 1 });
        const narrow = searchChains(all, narrower, { limit: all.length + 1 });
        expect(idsOf(wide.chains)).toEqual(expect.arrayContaining(idsOf(narrow.chains)));
      }),
    );
  });

  test('folds text idempotently', () => {
    fc.assert(
      fc.property(text, (each) => {
        expect(foldText(foldText(each))).toBe(foldText(each));
        expect(foldText(each.toUpperCase())).toBe(foldText(each));
      }),
    );
  });
});

describe('Selected fields', () => {
  test('are the chosen ones plus the id, in record order', () => {
    const { record } = CHAINS[0]!;
    expect(Object.entries(pickFields(record, new Set(['supported', 'name', 'chainId'])))).toEqual([
      ['name', 'Ethereum Mainnet'],
      ['chainId', 1],
      ['supported', true],
    ]);
    expect(pickFields(record, new Set(['icon', 'chainId']))).toEqual({ chainId: 1 });
  });
});

describe('Ranked chains', () => {
  const chains = [
    chainOf(84, { name: 'Firebase Testnet' }),
    chainOf(844, { name: 'Base Camp' }),
    chainOf(8453, { name: 'Base', shortName: 'base', supported: true }),
    chainOf(84531, { name: 'Base Goerli Testnet' }),
    chainOf(84532, { name: 'Base Sepolia', supported: true }),
    chainOf(90000, { name: 'Big Databases', supported: true }),
    chainOf(90001, { name: 'base' }),
  ];
  test.each([
    ['base', [8453, 90001, 84532, 90000, 844, 84531, 84]],
    ['8453', [8453, 84532, 84531]],
    ['84', [84, 8453, 84532, 844, 84531]],
    ['eip155:8453', [8453]],
    ['0x2105', [8453]],
    ['BASE  camp', [844]],
    ['nothing', []],
  ])('for "%s" are ordered as %j', (words, ids) => {
    const { chains: found, matching } = rankChains(chains, { words }, 100);
    expect(idsOf(found)).toEqual(ids);
    expect(matching).toBe(ids.length);
    expect(idsOf(rankChains(chains, { words }, 2).chains)).toEqual(ids.slice(0, 2));
  });

  test('put chains of that name before those whose currency has it', () => {
    const ether = currency('ETH', 'Ethereum');
    const named = [
      chainOf(478, { name: 'Form Network', supported: true, nativeCurrency: ether }),
      chainOf(1, { name: 'Ethereum Mainnet', shortName: 'eth', supported: true }),
      chainOf(61, { name: 'EthereumClassic', supported: true }),
      chainOf(2, { name: 'Ethereum Two' }),
      chainOf(3, { name: 'Ethereum', supported: true }),
    ];
    expect(idsOf(rankChains(named, { words: 'Ethereum' }, 9).chains)).toEqual([3, 1, 61, 478, 2]);
  });

  test('equal those found by the search', () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.boolean(), { nil: undefined }), (words, supported) => {
        const filter = { words, ...(supported !== undefined && { supported }) };
        const ranked = idsOf(rankChains(CHAINS, filter, 100).chains);
        expect([...ranked].sort((left, right) => left - right)).toEqual(find(filter));
      }),
    );
  });
});
