import { expect, test } from 'vitest';
import { showBytes } from './show-bytes.ts';

test.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_000, '1.0 kB'],
  [999_700, '1.0 MB'],
  [1_536_000_000, '1.5 GB'],
  [56_400_000_000, '56 GB'],
  [2 ** 50, '1.1 PB'],
  [2e18, '2000 PB'],
])('formats %d bytes as %s', (bytes, shown) => {
  expect(showBytes(bytes)).toBe(shown);
});
