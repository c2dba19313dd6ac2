import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonTooComplex, parseUntrustedJson } from './untrusted-json.ts';

const ROOMY = { maxValues: 1_000_000, maxDepth: 1000 };
const bytesOf = (text: string): Buffer => Buffer.from(text);

function countOf(value: unknown): { values: number; depth: number } {
  if (typeof value !== 'object' || value === null) return { values: 1, depth: 0 };
  const names = Array.isArray(value) ? 0 : Object.keys(value).length;
  const inner = Object.values(value).map(countOf);
  return {
    values: 1 + names + inner.reduce((sum, { values }) => sum + values, 0),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
  };
}

describe('JSON from outside', () => {
  it('is what it is below the limits, and refused one value or level above them', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(0, 2), (text, indent) => {
        const value: unknown = JSON.parse(text);
        const bytes = bytesOf(JSON.stringify(value, undefined, indent));
        const { values, depth } = countOf(value);
        const exact = { maxValues: values, maxDepth: depth };
        expect(parseUntrustedJson(bytes, exact)).toEqual(JSON.parse(bytes.toString()));
        const fewer = { ...exact, maxValues: values - 1 };
        expect(() => parseUntrustedJson(bytes, fewer)).toThrow(JsonTooComplex);
        if (depth === 0) return;
        const flatter = { ...exact, maxDepth: depth - 1 };
        expect(() => parseUntrustedJson(bytes, flatter)).toThrow(JsonTooComplex);
      }),
    );
  });

  it('may hold quotes and backslashes in its texts', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', '\\', '[', '{', 'é') }), (text) => {
        const value = [text, { [text]: text }];
        const exact = { maxValues: 5, maxDepth: 2 };
        expect(parseUntrustedJson(bytesOf(JSON.stringify(value)), exact)).toEqual(value);
      }),
    );
  });

  it('is refused when it is not JSON or not UTF-8', () => {
    for (const text of ['', '{', '"', '"\\', '[1,]', 'nul', '\\"', '[}']) {
      expect(() => parseUntrustedJson(bytesOf(text), ROOMY)).toThrow(SyntaxError);
    }
    expect(() => parseUntrustedJson(Buffer.of(0x22, 0xff, 0x22), ROOMY)).toThrow(TypeError);
  });

  it('of millions of values or levels is refused fast', () => {
    const limits = { maxValues: 100_000, maxDepth: 2500 };
    const many = [
      `[${'{},'.repeat(2_600_000)}{}]`,
      `[${'0,'.repeat(4_000_000)}0]`,
      `[${'"",'.repeat(2_600_000)}0]`,
      '['.repeat(8_000_000),
    ];
    for (const text of many) {
      const bytes = bytesOf(text);
      const begun = performance.now();
      expect(() => parseUntrustedJson(bytes, limits)).toThrow(JsonTooComplex);
      expect(performance.now() - begun).toBeLessThan(200);
    }
  });
});
