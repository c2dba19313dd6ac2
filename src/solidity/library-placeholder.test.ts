import { describe, expect, test } from 'vitest';
import { libraryPlaceholder } from './library-placeholder.ts';

describe('Library placeholder', () => {
  // The first is the example in the Solidity documentation, "Using the Commandline Compiler".
  test.each([
    ['file.sol:Math', '0.8.37+commit.00000000', '__$53aea86b7d70b31448b230b20ae141a537$__'],
    ['file.sol:Math', '0.5.0+commit.1d4f565a', '__$53aea86b7d70b31448b230b20ae141a537$__'],
    ['file.sol:Math', '0.4.26+commit.4563c3fc', '__file.sol:Math_________________________'],
    [
      'contracts/a/very/long/path/Library.sol:Math',
      '0.4.11',
      '__contracts/a/very/long/path/Library.s__',
    ],
    // Solc counts bytes.
    ['Größe.sol:Länge', '0.4.26', '__Größe.sol:Länge____________________'],
    [`${'x'.repeat(34)}ü.sol:L`, '0.4.26', `__${'x'.repeat(34)}ü__`],
  ])('for %s in solc %s is %s', (name, version, placeholder) => {
    expect(libraryPlaceholder(name, version)).toBe(placeholder);
    expect(Buffer.byteLength(placeholder)).toBe(40);
  });

  test.each([
    ['__$53aea86b7d70b31448b230b20ae141a537$__', '0.8.37'],
    ['__Größe.sol:Länge____________________', '0.4.26'],
  ])('is unchanged if already a placeholder: %s', (placeholder, version) => {
    expect(libraryPlaceholder(placeholder, version)).toBe(placeholder);
  });
});
