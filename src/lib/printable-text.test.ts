import { expect, test } from 'vitest';
import fc from 'fast-check';
import { copyableText, printableText } from './printable-text.ts';

test('leaves ordinary text in any script unchanged', () => {
  expect(printableText('contracts/Grüße an 合約 🪙.sol')).toBe('contracts/Grüße an 合約 🪙.sol');
});

test.each([
  ['\u001b[31mred', '\\u{1b}[31mred'],
  ['a\nb', 'a\\u{a}b'],
  ['\u202eevil', '\\u{202e}evil'],
  ['\ud800', '\\u{d800}'],
  ['\\u{1b}', '\\\\u{1b}'],
  ['\u0085', '\\u{85}'],
  ['a\u00adb', 'a\\u{ad}b'],
  ['\u206a\ufff9', '\\u{206a}\\u{fff9}'],
  ['\u{e0041}\u3164', '\\u{e0041}\\u{3164}'],
])('escapes %j', (text, shown) => {
  expect(printableText(text)).toBe(shown);
});

test('never outputs control characters and is injective', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, other) => {
      expect(printableText(one)).not.toMatch(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u);
      if (one !== other) expect(printableText(one)).not.toBe(printableText(other));
    }),
  );
});

test('truncates long text, even within a surrogate pair', () => {
  expect(printableText('abcdef', 3)).toBe('abc…');
  expect(printableText('ab🪙', 3)).toBe('ab\\u{d83e}…');
});

test('keeps backslashes in copyable text and escapes everything else', () => {
  expect(copyableText('0x[a-f\\d]{64}\u202e')).toBe('0x[a-f\\d]{64}\\u{202e}');
});
