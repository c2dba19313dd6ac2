import { describe, expect, test } from 'vitest';
import { parseSignature, SIGNATURE_CHARACTERS } from './parse-signature.ts';

describe('Canonical signature', () => {
  test.each([
    ['f()', { name: 'f', inputs: [] }],
    [
      'transfer(address,uint256)',
      { name: 'transfer', inputs: [{ type: 'address' }, { type: 'uint256' }] },
    ],
    [
      '$_9((bytes32,int8[2][])[],ufixed128x18)',
      {
        name: '$_9',
        inputs: [
          { type: 'tuple[]', components: [{ type: 'bytes32' }, { type: 'int8[2][]' }] },
          { type: 'ufixed128x18' },
        ],
      },
    ],
    ['f(())', { name: 'f', inputs: [{ type: 'tuple', components: [] }] }],
  ])('%s is parsed', (text, parts) => {
    expect(parseSignature(text)).toEqual(parts);
  });

  test.each([
    ...['', 'f', 'f(', 'f)', '(uint256)', '9f()', 'f()x', ' f()', 'f() ', 'f(,)', 'f(uint256,)'],
    ...['f(uint)', 'f(int)', 'f(byte)', 'f(uint7)', 'f(uint264)', 'f(uint08)', 'f(bytes33)'],
    ...['f(address payable)', 'f(uint256 a)', 'f(uint256, bool)', 'f(uint256[0])', 'f(uint256[)'],
    ...[
      'f(uint256[01])',
      'f(fixed)',
      'f(fixed7x1)',
      'f(fixed128x81)',
      'f(fixed128x0)',
      'f((uint8)',
    ],
    ...['f(Lib.Set storage)', 'f(tuple)', 'f(é)', 'f(\n)', 'function f()', 'event E()'],
    `f(${'['.repeat(9)})`,
  ])('%j is rejected', (text) => {
    expect(parseSignature(text)).toBeUndefined();
  });

  test('of a library may contain named types', () => {
    for (const text of ['f(Lib.Set storage,Kind)', 'f(uint256[] storage)']) {
      expect(parseSignature(text, true)).toBeDefined();
      expect(parseSignature(text)).toBeUndefined();
    }
    expect(parseSignature('f(uint256 memory)', true)).toBeUndefined();
  });

  test('is limited in length, depth and number of lists', () => {
    const longest = `f(${'address,'.repeat(249)}int16)`;
    expect(parseSignature(longest.slice(0, SIGNATURE_CHARACTERS))).toBeDefined();
    expect(parseSignature(`${longest.slice(0, -1)}[2])`)).toBeUndefined();
    const nested = (depth: number): string => `f(${'('.repeat(depth)}${')'.repeat(depth)})`;
    expect(parseSignature(nested(64))).toBeDefined();
    expect(parseSignature(nested(65))).toBeUndefined();
    expect(parseSignature(`f(bool${'[]'.repeat(16)})`)).toBeDefined();
    expect(parseSignature(`f(bool${'[]'.repeat(17)})`)).toBeUndefined();
  });
});
