import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listedChain, listRecords } from '../../../test/support/made-up-lists.ts';
import { readCases, sharedData } from '../../../test/support/shared-data.ts';
import { parseChainList } from './chain-list.ts';
import { type ListRecord } from '../registry/list-record.ts';
import { changesIdentity, compareLists } from './compare-lists.ts';
import { findHeldChanges } from './hold-records.ts';
import { judgeList, type ListRequirements } from './judge-list.ts';

interface JudgementCase {
  readonly name: string;
  readonly before: readonly ListRecord[];
  readonly after: readonly ListRecord[];
  readonly contracts?: readonly number[];
  readonly configured?: readonly number[];
  readonly maxShrinkPercent?: number;
  readonly refused: readonly string[];
}

const judge = (
  before: readonly ListRecord[],
  after: readonly ListRecord[],
  requirements: Partial<ListRequirements> = {},
) =>
  judgeList({ records: before }, compareLists(before, after), {
    contractChainIds: new Set(),
    configuredChainIds: new Set(),
    maxShrinkPercent: 5,
    recentSizes: [],
    ...requirements,
  });

const chains = (count: number): readonly ListRecord[] =>
  Array.from({ length: count }, (_each, index) => listedChain(index + 1));

describe('judgeList', () => {
  test.each(readCases<JudgementCase>('list-judgements.json'))('$name', (given) => {
    const { before, after, contracts = [], configured = [], maxShrinkPercent = 100 } = given;
    const refusals = judge(before, after, {
      contractChainIds: new Set(contracts),
      configuredChainIds: new Set(configured),
      maxShrinkPercent,
    });
    expect(refusals.map(({ code }) => code)).toEqual(given.refused);
  });

  const lists = fc.tuple(listRecords(), listRecords());
  const ids = fc.uniqueArray(fc.integer({ min: 1, max: 30 }));

  test('never accepts a list that drops a configured chain or one with contracts', () => {
    fc.assert(
      fc.property(lists, ids, ids, ([before, after], contracts, configured) => {
        const refusals = judge(before, after, {
          contractChainIds: new Set(contracts),
          configuredChainIds: new Set(configured),
          maxShrinkPercent: 100,
        });
        const kept = new Set(after.map(({ chainId }) => chainId));
        const needed = new Set([...contracts, ...configured]);
        const drops = before.some(({ chainId }) => needed.has(chainId) && !kept.has(chainId));
        const named = refusals
          .filter(({ code }) => code.startsWith('drops_'))
          .flatMap(({ chainIds }) => chainIds);
        expect(named.length > 0).toBe(drops);
      }),
    );
  });

  test('never accepts a changed identity for a chain with contracts', () => {
    fc.assert(
      fc.property(lists, ids, ([before, after], contracts) => {
        const codes = judge(before, after, {
          contractChainIds: new Set(contracts),
          maxShrinkPercent: 100,
        }).map(({ code }) => code);
        const news = new Map(after.map((record) => [record.chainId, record]));
        const changes = before.some((old) => {
          const fresh = news.get(old.chainId);
          return fresh && contracts.includes(old.chainId) && changesIdentity(old, fresh);
        });
        expect(codes.includes('changes_identity')).toBe(changes);
      }),
    );
  });

  test('rejects a list that lacks more than the allowed share, and accepts pure additions', () => {
    fc.assert(
      fc.property(lists, fc.integer({ min: 0, max: 100 }), ([before, after], percent) => {
        const kept = new Set(after.map(({ chainId }) => chainId));
        const lacks = before.filter(({ chainId }) => !kept.has(chainId)).length;
        const codes = judge(before, after, { maxShrinkPercent: percent }).map(({ code }) => code);
        expect(codes.includes('shrinks')).toBe(lacks > (before.length * percent) / 100);
        const added = after.filter(({ chainId }) => before.every((old) => old.chainId !== chainId));
        expect(judge(before, [...before, ...added], { maxShrinkPercent: percent })).toEqual([]);
      }),
    );
  });

  test('prevents repeated small shrinking beyond the limit', () => {
    const percents = fc.integer({ min: 0, max: 100 });
    const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(sizes, percents, ([first = 1, ...offered], maxShrinkPercent) => {
        const accepted = [first];
        for (const size of offered) {
          const served = chains(accepted.at(-1)!);
          const given = { maxShrinkPercent, recentSizes: accepted };
          if (judge(served, chains(size), given).length === 0) accepted.push(size);
        }
        const least = Math.max(...accepted) * (1 - maxShrinkPercent / 100);
        expect(accepted.at(-1)).toBeGreaterThanOrEqual(Math.floor(least));
      }),
    );
  });

  test('measures against the list that the operator accepted', () => {
    expect(judge(chains(70), chains(68), { recentSizes: [100, 70] })).toEqual([]);
    expect(judge(chains(97), chains(94), { recentSizes: [100, 97] })).toMatchObject([
      { code: 'shrinks', chainIds: [95, 96, 97] },
    ]);
  });

  test('names at most five chains and counts the others', () => {
    const [, drops] = judge(chains(9), [], {
      contractChainIds: new Set([1, 2, 3, 4, 5, 6, 7, 8, 9]),
    });
    expect(drops?.message).toContain('1, 2, 3, 4, 5 and 4 more');
    expect(drops?.chainIds).toHaveLength(9);
  });
});

describe('findHeldChanges', () => {
  const requirements = { contractChainIds: new Set([7]), configuredChainIds: new Set([8]) };
  const record = (fields: Partial<ListRecord>, chainId = 7): ListRecord => ({
    ...listedChain(chainId),
    rpc: ['https://rpc.old.org', 'https://eth.provider.com/${KEY}'],
    explorers: [{ name: 'scan', url: 'https://scan.io', standard: 'none' }],
    infoURL: 'https://www.site.net/about',
    ...fields,
  });
  const held = (after: Partial<ListRecord>, chainId = 7, before: Partial<ListRecord> = {}) =>
    findHeldChanges(
      compareLists([record(before, chainId)], [record({ ...before, ...after }, chainId)]),
      requirements,
    ).map((change) => change.chainId);
  const forged = { name: 'Moonrock', rpc: ['https://rpc.forger.dev'] };

  test.each<[string, Partial<ListRecord>, Partial<ListRecord>]>([
    ['all RPC endpoints', forged, {}],
    ['every link', { ...forged, explorers: [], infoURL: 'https://forger.dev' }, {}],
    ['no endpoint and no link left', { name: 'A', rpc: [], explorers: [], infoURL: '' }, {}],
    ['its first endpoints', forged, { rpc: [], explorers: [], infoURL: '' }],
    [
      'a neighbour under a public suffix',
      { name: 'A', rpc: ['https://b.co.uk'] },
      { rpc: ['https://a.co.uk'] },
    ],
    [
      'another address',
      { name: 'A', rpc: ['http://203.0.113.8'] },
      { rpc: ['http://203.0.113.7'] },
    ],
  ])('holds back a new name with %s for a chain in use', (_what, after, before) => {
    expect(held(after, 7, before)).toEqual([7]);
    expect(held(after, 8, before)).toEqual([8]);
    expect(held(after, 9, before)).toEqual([]);
  });

  test.each<[string, Partial<ListRecord>]>([
    ['another name alone', { name: 'Moonrock' }],
    ['a name without generic words', { ...forged, name: 'Chain 7 MAINNET' }],
    ['other endpoints alone', { rpc: ['https://rpc.forger.dev'] }],
    ['another short name', { ...forged, name: 'Chain 7', shortName: 'other' }],
    [
      'a name, and an endpoint that stays',
      { name: 'A', rpc: ['wss://x.dev', 'wss://new.old.org'] },
    ],
    ['a name, and an endpoint at its explorer', { name: 'A', rpc: ['https://rpc.scan.io'] }],
    ['a name, and an endpoint at its site', { name: 'A', rpc: ['https://rpc.site.net'] }],
    ['a name, and no endpoints but its site', { name: 'A', rpc: [], explorers: [] }],
  ])('accepts %s', (_what, after) => {
    expect(held(after)).toEqual([]);
  });

  test('holds back only renamed chains that are in use', () => {
    fc.assert(
      fc.property(fc.tuple(listRecords(), listRecords()), ([before, after]) => {
        const known = new Map(before.map((each) => [each.chainId, each]));
        for (const change of findHeldChanges(compareLists(before, after), requirements)) {
          expect([7, 8]).toContain(change.chainId);
          const old = known.get(change.chainId)!;
          expect(change.after.name).not.toBe(old.name);
          expect(change.after.rpc.some((url) => old.rpc.includes(url))).toBe(false);
        }
      }),
    );
  });
});

const shared = sharedData('public-chain-list.json');
describe.skipIf(shared === undefined)('Real list, if ../shared/data is present', () => {
  const real = shared === undefined ? [] : parseChainList(JSON.stringify(shared), 'real').records;

  test('is accepted unchanged and rejected with half of its chains missing', () => {
    expect(judge(real, structuredClone(real))).toEqual([]);
    const half = real.filter((_record, index) => index % 2 === 0);
    expect(judge(real, half).map(({ code }) => code)).toEqual(['shrinks']);
  });

  test('is rejected if any chain with contracts is missing', () => {
    fc.assert(
      fc.property(fc.constantFrom(...real), (gone) => {
        const rest = real.filter((record) => record !== gone);
        const contractChainIds = new Set([gone.chainId]);
        expect(judge(real, rest, { contractChainIds })).toMatchObject([
          { code: 'drops_contracts', chainIds: [gone.chainId] },
        ]);
      }),
      { numRuns: 25 },
    );
  });
});
