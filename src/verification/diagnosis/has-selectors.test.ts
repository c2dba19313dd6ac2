import { expect, test } from 'vitest';
import { hexToBytes } from '../../lib/hex.ts';
import { hasSelectors } from './has-selectors.ts';

test.each([
  ['operands of PUSH4', '8063a9059cbb1461002a57806370a0823114', ['0xa9059cbb', '0x70a08231']],
  ['operands without leading zeros', '8062fdd58e14', ['0x00fdd58e']],
  // The dense table of Vyper 0.3.10: selector, jump destination, size of the arguments.
  ['entries of a table behind the code', '5f5ffda9059cbb00184470a0823100302400', ['0x70a08231']],
  ['none at all', '5f5ffd', []],
  ['a selector of zeros, which no operand shows', '5f5ffd', ['0x00000000']],
])('finds selectors as %s', (_, code, selectors) => {
  expect(hasSelectors(hexToBytes(code), selectors)).toBe(true);
});

test('misses a selector that the code lacks', () => {
  expect(hasSelectors(hexToBytes('8063a9059cbb14'), ['0xa9059cbb', '0x70a08231'])).toBe(false);
});
