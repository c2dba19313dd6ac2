import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonFault, parseUntrustedJson, type JsonLimits } from './untrusted-json.ts';

const ROOMY: JsonLimits = { depth: 1000, values: 1_000_000 };

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + countValues(each), 1);
}

function countLevels(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(countLevels));
}

function faultOf(text: string, limits: Partial<JsonLimits> = {}): string | undefined {
  try {
    parseUntrustedJson(Buffer.from(text), { ...ROOMY, ...limits });
    return undefined;
  } catch (error) {
    if (error instanceof JsonFault) return error.kind;
    throw error;
  }
}

const json = fc.jsonValue({ maxDepth: 6 });
const anySpacing = fc.constantFrom('', ' ', 2, '\t');

describe('Untrusted JSON', () => {
  test('agrees with JSON.parse and counts values exactly', () => {
    fc.assert(
      fc.property(json, anySpacing, (value, spacing) => {
        const text = JSON.stringify(value, null, spacing);
        expect(parseUntrustedJson(Buffer.from(text), ROOMY)).toEqual(JSON.parse(text));
        const [values, depth] = [countValues(JSON.parse(text)), countLevels(JSON.parse(text))];
        expect(faultOf(text, { values })).toBeUndefined();
        expect(faultOf(text, { values: values - 1 })).toBe('too_many_values');
        expect(faultOf(text, { depth })).toBeUndefined();
        if (depth > 0) expect(faultOf(text, { depth: depth - 1 })).toBe('too_deep');
      }),
    );
  });

  test('fails only with its own error type', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', ' ', '1', 't', 'e'),
        }),
        (text) => {
          const fault = faultOf(text, { depth: 3, values: 5 });
          if (fault === undefined) expect(() => JSON.parse(text) as unknown).not.toThrow();
        },
      ),
      { numRuns: 500 },
    );
  });

  test('is rejected before parsing', () => {
    expect(faultOf('['.repeat(100_000), { depth: 64 })).toBe('too_deep');
    expect(faultOf(`[${'{},'.repeat(10_000)}{}]`, { values: 200 })).toBe('too_many_values');
    expect(faultOf(`[${'1,'.repeat(10_000)}`, { values: 200 })).toBe('too_many_values');
    expect(faultOf('{"a":"[[[[[[,,,,,\\"[[[["}', { depth: 1, values: 2 })).toBeUndefined();
    expect(faultOf('')).toBe('malformed');
  });

  test('may contain a member named __proto__', () => {
    const value = parseUntrustedJson(Buffer.from('{"__proto__":{"x":1}}'), ROOMY) as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__']);
  });
});
