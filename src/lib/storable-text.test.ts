import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isStorableJson, isStorableText, toStorableJson } from './storable-text.ts';

const REFUSED = ['\0', 'a\0b', '\ud800', '\udfff', 'a\ud83d'];

describe('Text for database columns', () => {
  test.each(REFUSED)('is rejected with a NUL or a lone surrogate (%j)', (text) => {
    expect(isStorableText(text)).toBe(false);
    for (const value of [text, [text], { [text]: 1 }, { a: [{ b: text }] }]) {
      expect(isStorableJson(value)).toBe(false);
      expect(isStorableJson(JSON.parse(toStorableJson(value)))).toBe(true);
    }
  });

  test('is unchanged if storable', () => {
    for (const text of ['', '\\u0000', '\ud83d\ude00', '\ufffd']) {
      expect(isStorableText(text)).toBe(true);
      expect(JSON.parse(toStorableJson({ [text]: text }))).toEqual({ [text]: text });
    }
  });

  test('can always be made storable', () => {
    const texts = fc.string({ unit: 'binary' }).map((text) => `${text}\0${text.slice(0, 1)}`);
    fc.assert(
      fc.property(fc.dictionary(texts, texts), (value) => {
        expect(isStorableJson(JSON.parse(toStorableJson(value)))).toBe(true);
      }),
    );
  });
});
