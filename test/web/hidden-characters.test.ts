import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findHiddenCharacters,
  splitAtHiddenCharacters,
} from '../../web/src/contract/hidden-characters.ts';

describe('hidden characters', () => {
  test('are told by line, column, number and kind', () => {
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
    'every control of the bidirectional algorithm is one (%j)',
    (character) =>
      expect(findHiddenCharacters(`x${character}`)).toMatchObject([{ kind: 'bidirectional' }]),
  );

  test('of planes beyond the first are one character each', () => {
    expect(findHiddenCharacters('\u{e0041}')).toMatchObject([{ codePoint: 'U+E0041' }]);
  });

  test('letters of any script, tabs and line ends are none', () => {
    expect(findHiddenCharacters('\tGrüße שלום مرحبا 你好 👍\r\n')).toEqual([]);
  });

  test('are told up to a limit', () => {
    expect(findHiddenCharacters('\u200b'.repeat(50), 7)).toHaveLength(7);
  });

  test('and what stands between them give the text again', () => {
    const unit = fc.constantFrom('a', '\n', '\u202e', '\u200b', 'ß', '\u{e0041}', '👍');
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const parts = splitAtHiddenCharacters(text);
        const again = parts.map((part) =>
          typeof part === 'string'
            ? part
            : String.fromCodePoint(Number.parseInt(part.codePoint.slice(2), 16)),
        );
        expect(again.join('')).toBe(text);
        const hidden = parts.filter((part) => typeof part !== 'string');
        expect(hidden).toHaveLength(findHiddenCharacters(text).length);
      }),
    );
  });

  test('are told by the place at which they stand', () => {
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
});
