import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderStatistics } from './statistics.ts';

describe('Rendering stats.json', () => {
  test('renders an empty object before the first match', () => {
    expect(renderStatistics({ chains: [], lastModified: new Date(0) }).toString()).toBe('{}');
  });

  test('keeps keys in numeric order beyond 2^32, where a plain object would not', () => {
    const ids = [
      1,
      10,
      4294967294,
      4294967295,
      4294967296,
      2716446429837000,
      Number.MAX_SAFE_INTEGER,
    ];
    const text = renderStatistics({
      chains: ids.map((chainId) => ({ chainId, full: 1, partial: 0 })),
      lastModified: new Date(0),
    }).toString();
    expect([...text.matchAll(/"(\d+)":/g)].map(([, id]) => Number(id))).toEqual(ids);
  });

  test('parses back to exactly the same counts', () => {
    const anyCount = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.record({
            chainId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
            full: anyCount,
            partial: anyCount,
          }),
          {
            selector: ({ chainId }) => chainId,
          },
        ),
        (chains) => {
          const parsed = JSON.parse(
            renderStatistics({ chains, lastModified: new Date(0) }).toString(),
          ) as Record<string, unknown>;
          expect(parsed).toEqual(
            Object.fromEntries(
              chains.map(({ chainId, full, partial }) => [
                chainId,
                { full_match: full, partial_match: partial },
              ]),
            ),
          );
        },
      ),
    );
  });
});
