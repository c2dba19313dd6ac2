import { AbiParameters } from 'ox';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSafeWithoutProof, isValueOf, type ImmutableType } from './immutable-type.ts';

const word = (hex: string): Buffer => Buffer.from(hex.padStart(64, '0'), 'hex');
const encode = (type: string, value: unknown): Buffer =>
  Buffer.from(AbiParameters.encode([{ type }] as never, [value] as never).slice(2), 'hex');
const anyWord = fc.uint8Array({ minLength: 32, maxLength: 32 });
const size = fc.integer({ min: 1, max: 32 });

describe('isValueOf', () => {
  test('accepts every ABI-encoded number of its width and rejects stray bits', () => {
    fc.assert(
      fc.property(size, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (bytes, seed) => {
        const bits = 8 * bytes;
        const [unsigned, signed] = [BigInt.asUintN(bits, seed), BigInt.asIntN(bits, seed)];
        expect(isValueOf({ kind: 'unsigned', bits }, encode(`uint${bits}`, unsigned))).toBe(true);
        expect(isValueOf({ kind: 'signed', bits }, encode(`int${bits}`, signed))).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 31 }), anyWord, (bytes, dirty) => {
        const bits = 8 * bytes;
        const high = dirty.subarray(0, 32 - bytes);
        const sign = (dirty[32 - bytes] ?? 0) >= 0x80 ? 0xff : 0;
        expect(isValueOf({ kind: 'unsigned', bits }, dirty)).toBe(high.every((byte) => byte === 0));
        expect(isValueOf({ kind: 'signed', bits }, dirty)).toBe(
          high.every((byte) => byte === sign),
        );
      }),
    );
  });

  test('accepts left-aligned bytes with zero padding', () => {
    fc.assert(
      fc.property(size, anyWord, (bytes, dirty) => {
        const type: ImmutableType = { kind: 'leading', bytes };
        expect(isValueOf(type, dirty)).toBe(dirty.subarray(bytes).every((byte) => byte === 0));
        expect(isValueOf(type, Buffer.from(dirty).fill(0, bytes))).toBe(true);
      }),
    );
  });

  test.each([
    [0, true],
    [1, true],
    [2, false],
    [258, false],
  ])('accepts only 0 and 1 as bool: %i', (value, isBool) => {
    expect(isValueOf({ kind: 'below', bound: 2 }, word(value.toString(16)))).toBe(isBool);
  });

  test('accepts a signed number without sign extension if the compiler may omit it', () => {
    const type: ImmutableType = { kind: 'signed', bits: 24, zerosBefore: true };
    expect(isValueOf(type, word('fffffb'))).toBe(true);
    expect(isValueOf(type, encode('int24', -5))).toBe(true);
    expect(isValueOf(type, word('abfffffb'))).toBe(false);
    expect(isValueOf({ kind: 'signed', bits: 24 }, word('fffffb'))).toBe(false);
  });

  test('checks a value shorter than a word', () => {
    expect(isValueOf({ kind: 'signed', bits: 8 }, Buffer.from('ffff', 'hex'))).toBe(true);
    expect(isValueOf({ kind: 'signed', bits: 8 }, Buffer.from('00ff', 'hex'))).toBe(false);
    expect(isValueOf({ kind: 'unsigned', bits: 256 }, Buffer.from('ffff', 'hex'))).toBe(true);
  });
});

test('isSelfEvident is false for a code pointer or an unknown type', () => {
  expect(isSafeWithoutProof({ kind: 'code_pointer' })).toBe(false);
  expect(isSafeWithoutProof(undefined)).toBe(false);
  expect(isSafeWithoutProof({ kind: 'unsigned', bits: 256 })).toBe(true);
});
