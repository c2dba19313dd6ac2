import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ByteKind,
  compareCodes,
  countBytes,
  type DifferenceSort,
  differentRows,
  findLocations,
} from '../../web/src/contract/code-difference.ts';

const LIMIT = 1000;
const SORTS: readonly DifferenceSort[] = ['changed', 'inserted', 'missing'];
// Three rows long, so that no stretch has an omitted middle.
const code = fc
  .uint8Array({ maxLength: 48 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
const stretches = fc.array(
  fc.record({
    reason: fc.constantFrom('library' as const, 'immutable' as const),
    offset: fc.nat(60),
    length: fc.nat(40),
  }),
  { maxLength: 3 },
);
const bytesOf = (hex: string): number => (hex.length - 2) / 2;
/** Bytes in ascending order, each occurring once. */
const ascending = (from: number, length: number): string =>
  Buffer.from(Array.from({ length }, (_, at) => from + at)).toString('hex');

describe('bytecode differences', () => {
  test('are empty for equal bytecode, regardless of hex case', () => {
    const compared = compareCodes('0xABcd', '0xabCD', []);
    expect(findLocations(compared)).toEqual([]);
    expect(differentRows(compared, LIMIT)).toEqual([]);
    expect(compareCodes('0x', '0x', []).stretches).toEqual([]);
  });

  test('are grouped into places, merged when close together', () => {
    const [left, right] = [`0x00${'11'.repeat(9)}0022`, `0x01${'11'.repeat(9)}0133`];
    const none = { inserted: 0, missing: 0 };
    expect(findLocations(compareCodes(left, right, []))).toEqual([
      { recompiledAt: 0, onChainAt: 0, bytes: { ...none, changed: 1 } },
      { recompiledAt: 10, onChainAt: 10, bytes: { ...none, changed: 2 } },
    ]);
  });

  test('contain only the inserted bytes, not everything behind them', () => {
    const [head, tail] = [ascending(0, 40), ascending(100, 40)];
    const compared = compareCodes(`0x${head}${tail}`, `0x${head}ffff${tail}`, []);
    expect(findLocations(compared)).toEqual([
      { recompiledAt: 40, onChainAt: 40, bytes: { changed: 0, inserted: 2, missing: 0 } },
    ]);
    const row = differentRows(compared, LIMIT).find(({ recompiledAt }) => recompiledAt === 32);
    expect(row?.recompiled.map(({ digits }) => digits).slice(7, 11)).toEqual(['27', '', '', '64']);
    expect(row?.onChain.map(({ digits }) => digits).slice(7, 11)).toEqual(['27', 'ff', 'ff', '64']);
    expect(differentRows(compared, LIMIT).at(-1)).toMatchObject({
      recompiledAt: 46,
      onChainAt: 48,
    });
  });

  test('separate explained bytes; rows show only unexplained differences in the code', () => {
    const [left, right] = [`0x${'00'.repeat(64)}`, `0x${'11'.repeat(20)}${'00'.repeat(43)}22`];
    const immutable = { reason: 'immutable' as const, offset: 0, length: 32 };
    const compared = compareCodes(left, right, [immutable]);
    expect([...countBytes(compared, 'changed')]).toEqual([
      ['immutable', 20],
      ['code', 1],
    ]);
    expect(findLocations(compared).map(({ recompiledAt }) => recompiledAt)).toEqual([63]);
    const rows = differentRows(compared, LIMIT);
    expect(rows.map(({ recompiledAt }) => recompiledAt)).toEqual([32, 48]);
    const all = { ...immutable, length: Infinity };
    expect(differentRows(compareCodes(left, right, [all]), LIMIT)[0]?.recompiledAt).toBe(0);
  });

  test.each([
    [
      'after the end, if an insertion there is explained',
      80,
      [80, Infinity],
      'constructorArguments',
    ],
    ['after the end, if only the last bytes are explained', 80, [60, 20], 'code'],
    ['within an explained range', 40, [30, 20], 'constructorArguments'],
    ['before an explained range', 40, [40, 20], 'code'],
  ] as const)('attribute inserted bytes: %s', (_, at, [offset, length], kind) => {
    const recompiled = ascending(0, 80);
    const onChain = `${recompiled.slice(0, 2 * at)}fffe${recompiled.slice(2 * at)}`;
    const explained = { reason: 'constructorArguments' as const, offset, length };
    const compared = compareCodes(`0x${recompiled}`, `0x${onChain}`, [explained]);
    expect([...countBytes(compared, 'inserted')]).toEqual([[kind, 2]]);
  });

  test('count each byte of both bytecodes once, by what it belongs to', () => {
    fc.assert(
      fc.property(code, code, stretches, (left, right, explained) => {
        const compared = compareCodes(left, right, explained);
        const total = (sort: string): number =>
          compared.stretches.reduce((sum, each) => sum + (each.sort === sort ? each.length : 0), 0);
        const both = total('equal') + total('changed');
        expect([both + total('missing'), both + total('inserted')]).toEqual([
          bytesOf(left),
          bytesOf(right),
        ]);
        const inCode = (sort: DifferenceSort): number =>
          countBytes(compared, sort).get('code') ?? 0;
        for (const sort of SORTS) {
          const counts = [...countBytes(compared, sort).values()];
          expect(counts.reduce((sum, count) => sum + count, 0)).toBe(total(sort));
          const inPlaces = findLocations(compared).reduce((sum, { bytes }) => sum + bytes[sort], 0);
          expect(inPlaces).toBe(inCode(sort));
        }
        const kindAt = (at: number): ByteKind =>
          explained.findLast(({ offset, length }) => at >= offset && at < offset + length)
            ?.reason ?? 'code';
        for (const { sort, kind, recompiledAt, length } of compared.stretches) {
          if (sort !== 'changed' && sort !== 'missing') continue;
          for (let at = 0; at < length; at += 1) expect(kindAt(recompiledAt + at)).toBe(kind);
        }
      }),
    );
  });

  test('are shown in rows that mark exactly those bytes', () => {
    fc.assert(
      fc.property(code, code, (left, right) => {
        const compared = compareCodes(left, right, []);
        const rows = differentRows(compared, LIMIT);
        for (const sort of SORTS) {
          const shown = rows.flatMap(({ onChain }) => onChain.filter((byte) => byte.sort === sort));
          expect(shown).toHaveLength(countBytes(compared, sort).get('code') ?? 0);
        }
        for (const { recompiledAt, onChainAt, recompiled, onChain } of rows) {
          const joined = [recompiled, onChain].map((bytes) =>
            bytes.map(({ digits }) => digits).join(''),
          );
          expect(left.slice(2 + 2 * recompiledAt).startsWith(joined[0] ?? '')).toBe(true);
          expect(right.slice(2 + 2 * onChainAt).startsWith(joined[1] ?? '')).toBe(true);
        }
      }),
    );
  });

  test('have a limited number of rows and omit the middle of long stretches', () => {
    const [left, right] = [`0x${'00ff'.repeat(20_000)}`, `0x${'0000'.repeat(20_000)}`];
    expect(differentRows(compareCodes(left, right, []), 10)).toHaveLength(10);
    const rows = differentRows(compareCodes('0x', right, []), LIMIT);
    expect(rows.map(({ onChainAt }) => onChainAt)).toEqual([0, 16, 39_968, 39_984]);
    expect(rows.map(({ isBehindGap }) => isBehindGap)).toEqual([false, false, true, false]);
  });
});
