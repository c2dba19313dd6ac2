import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffLines, type DiffRow } from '../../web/src/compare/diff-lines.ts';

const rowsOf = (left: string, right: string): readonly DiffRow[] => {
  const diff = diffLines(left, right);
  if (diff.state !== 'ready') throw new Error(diff.state);
  return diff.rows;
};

describe('side-by-side text diff', () => {
  test('aligns numbered lines and folds equal lines far from a difference', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
    const other = [...lines.slice(0, 9), 'other', 'more', ...lines.slice(10)];
    expect(rowsOf(lines.join('\n'), other.join('\n'))).toEqual([
      { kind: 'folded', count: 6 },
      ...[7, 8, 9].map((number) => {
        const line = { number, text: `line ${number}` };
        return { kind: 'same', left: line, right: line };
      }),
      {
        ...{ kind: 'changed', left: { number: 10, text: 'line 10' } },
        right: { number: 10, text: 'other' },
      },
      { kind: 'changed', right: { number: 11, text: 'more' } },
      ...[11, 12, 13].map((number) => ({
        ...{ kind: 'same', left: { number, text: `line ${number}` } },
        right: { number: number + 1, text: `line ${number}` },
      })),
      { kind: 'folded', count: 7 },
    ]);
  });

  test('accounts for every line of both texts: shown, folded or counted', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 40 });
    fc.assert(
      fc.property(text, text, (left, right) => {
        const diff = diffLines(left.join('\n'), right.join('\n'));
        if (diff.state !== 'ready') throw new Error(diff.state);
        const { rows, removed, added } = diff;
        const folded = rows.reduce((sum, row) => sum + (row.kind === 'folded' ? row.count : 0), 0);
        const same = rows.filter(({ kind }) => kind === 'same').length + folded;
        expect(same + removed).toBe(Math.max(1, left.length));
        expect(same + added).toBe(Math.max(1, right.length));
        for (const row of rows) {
          if (row.kind === 'folded') continue;
          const [one, two] = [row.left, row.right];
          if (one) expect(one.text).toBe(left[one.number - 1] ?? '');
          if (two) expect(two.text).toBe(right[two.number - 1] ?? '');
        }
      }),
    );
  });

  test('is not computed for texts that are too large or too different', () => {
    const many = (count: number, text: string): string =>
      Array.from({ length: count }, (_, index) => `${text} ${index}`).join('\n');
    expect(diffLines(many(20_001, 'a'), 'a')).toEqual({ state: 'too_large' });
    expect(diffLines(many(2_000, 'a'), many(2_000, 'b'))).toEqual({ state: 'too_different' });
  });

  test('limits rows and line length', () => {
    const left = Array.from({ length: 3_000 }, (_, index) => `${index}`);
    const right = left.map((text, index) =>
      index % 8 === 0 ? `${text}${'x'.repeat(1_000)}` : text,
    );
    const diff = diffLines(left.join('\n'), right.join('\n'));
    if (diff.state !== 'ready') throw new Error(diff.state);
    expect(diff.rows).toHaveLength(1_500);
    // The last four lines are equal, and one row.
    expect(diff.rows.length + diff.more).toBe(3_000 - 3);
    const texts = diff.rows.map((row) => (row.kind === 'changed' ? (row.right?.text ?? '') : ''));
    expect(Math.max(...texts.map(({ length }) => length))).toBe(401);
  });
});
