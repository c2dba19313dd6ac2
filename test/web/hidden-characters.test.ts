import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findHiddenCharacters,
  spellHiddenCharacters,
  splitAtHiddenCharacters,
  type TextPart,
} from '../../web/src/contract/hidden-characters.ts';

const joined = (parts: readonly TextPart[]): string =>
  parts
    .map((part) =>
      typeof part === 'string'
        ? part
        : String.fromCodePoint(Number.parseInt(part.codePoint.slice(2), 16)).repeat(part.count),
    )
    .join('');

describe('hidden characters', () => {
  test('are reported with line, column, code point and kind', () => {
    const text = 'a\nb \u202e c\u200b\n\n\ufeff\u0007';
    expect(findHiddenCharacters(text)).toEqual([
      {
        line: 2,
        column: 3,
        codePoint: 'U+202E',
        name: 'right-to-left override',
        kind: 'bidirectional',
      },
      { line: 2, column: 6, codePoint: 'U+200B', name: 'zero width space', kind: 'zero_width' },
      {
        line: 4,
        column: 1,
        codePoint: 'U+FEFF',
        name: 'zero width no-break space',
        kind: 'zero_width',
      },
      { line: 4, column: 2, codePoint: 'U+0007', name: 'control character', kind: 'control' },
    ]);
  });

  test.each(Array.from('\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069'))(
    'include every bidirectional control character (%j)',
    (character) =>
      expect(findHiddenCharacters(`x${character}`)).toMatchObject([{ kind: 'bidirectional' }]),
  );

  test('beyond the first plane count as one character each', () => {
    expect(findHiddenCharacters('\u{e0041}')).toMatchObject([{ codePoint: 'U+E0041' }]);
  });

  test('exclude letters of any script, tabs and line endings', () => {
    expect(findHiddenCharacters('\tGrüße שלום مرحبا 你好 👍\r\n')).toEqual([]);
  });

  test('are reported up to a limit', () => {
    expect(findHiddenCharacters('\u200b'.repeat(50), 7)).toHaveLength(7);
  });

  test('and the text between them reconstruct the input', () => {
    const unit = fc.constantFrom('a', '\n', '\u202e', '\u200b', 'ß', '\u{e0041}', '👍');
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const { parts, left } = splitAtHiddenCharacters(text, Infinity);
        expect(left).toBe(0);
        expect(joined(parts)).toBe(text);
        const hidden = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.count]));
        const sum = hidden.reduce((total, count) => total + count, 0);
        expect(sum).toBe(findHiddenCharacters(text).length);
      }),
    );
  });

  test('are reported at their exact position', () => {
    const unit = fc.constantFrom('a', '\n', '\u202e');
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const lines = text.split('\n');
        for (const { line, column } of findHiddenCharacters(text)) {
          expect(lines[line - 1]?.[column - 1]).toBe('\u202e');
        }
      }),
    );
  });

  test('are shown as one mark per run, up to a maximum number of marks', () => {
    const unit = fc.constantFrom('a', '\u200b', '\u{e0041}', '\u202e', '\n', '😀');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), fc.nat(6), (text, marks) => {
        const { parts, left } = splitAtHiddenCharacters(text, marks);
        expect(joined(parts) + text.slice(text.length - left)).toBe(text);
        expect(parts.length).toBeLessThanOrEqual(2 * marks + 1);
        const numbers = parts.map((part) => (typeof part === 'string' ? '' : part.codePoint));
        for (const [index, number] of numbers.entries()) {
          if (number !== '') expect(numbers[index + 1]).not.toBe(number);
        }
      }),
    );
    expect(splitAtHiddenCharacters('\u200b'.repeat(300_000), 1)).toMatchObject({
      parts: [{ codePoint: 'U+200B', count: 300_000 }],
      left: 0,
    });
    expect(spellHiddenCharacters(`a${'\u200b'.repeat(3)}`)).toBe('aU+200B × 3');
    expect(spellHiddenCharacters('\u200b\u200c'.repeat(300_000)).length).toBeLessThan(200);
  });
});
