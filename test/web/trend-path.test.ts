import fc from 'fast-check';
import { expect, test } from 'vitest';

import { trendPath } from '../../web/src/trend-path.ts';

test.each([
  [[], ''],
  [[5], 'M0 50L200 50'],
  [[3, 3, 3], 'M0 50L100 50L200 50'],
  [[0, 10], 'M0 96L200 4'],
  [[10, 5, 0], 'M0 4L100 50L200 96'],
])('the line through %j is %j', (values, path) => {
  expect(trendPath(values, 200, 100)).toBe(path);
});

test('a line stays within its field, whatever the counts', () => {
  const counts = fc.array(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), { minLength: 1 });
  fc.assert(
    fc.property(counts, (values) => {
      const path = trendPath(values, 400, 90);
      for (const point of path.slice(1).split('L')) {
        const [x = Number.NaN, y = Number.NaN] = point.split(' ').map(Number);
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x).toBeLessThanOrEqual(400);
        expect(y).toBeGreaterThanOrEqual(0);
        expect(y).toBeLessThanOrEqual(90);
      }
    }),
  );
});
