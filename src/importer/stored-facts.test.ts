import { describe, expect, test } from 'vitest';
import { bytesToHex, type Hex } from '../lib/hex.ts';
import { keccak256 } from '../lib/keccak.ts';
import { placeFacts } from './stored-facts.ts';

const ADDRESS: Hex = `0x${'ab'.repeat(20)}`;
const SOURCES = [
  { path: 'a/Math.sol', content: 'library Math { }\nlibrary\n  Other{}' },
  { path: 'b/Math.sol', content: 'contract C {} // the library Math' },
];
const placeholder = (name: string): string =>
  `__$${bytesToHex(keccak256(Buffer.from(name))).slice(2, 36)}$__`;
const librariesOf = (keys: string[]): unknown =>
  placeFacts({ libraries: new Map(keys.map((key) => [key, ADDRESS])) }, SOURCES).runtime?.values;

describe('placeFacts', () => {
  test('omits unknown values', () => {
    expect(placeFacts({}, SOURCES)).toEqual({ deployment: {} });
  });

  test('names libraries by their hashed placeholder', () => {
    expect(librariesOf([placeholder('a/Math.sol:Math'), placeholder('a/Math.sol:Other')])).toEqual({
      libraries: { 'a/Math.sol:Math': ADDRESS, 'a/Math.sol:Other': ADDRESS },
    });
  });

  test('names libraries of compilers before 0.5.0 by the name in the placeholder', () => {
    expect(librariesOf(['__a/Math.sol:Math_______________________'])).toEqual({
      libraries: { 'a/Math.sol:Math': ADDRESS },
    });
  });

  test('keeps a placeholder that matches no source', () => {
    expect(librariesOf([placeholder('c/Gone.sol:Gone')])).toEqual({
      libraries: { [placeholder('c/Gone.sol:Gone')]: ADDRESS },
    });
  });

  test('returns values without transformations if only the bytecode gives the offsets', () => {
    expect(placeFacts({ constructorArguments: '0x01' }, []).creation).toEqual({
      transformations: [],
      values: { constructorArguments: '0x01' },
    });
  });
});
