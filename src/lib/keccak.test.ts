import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesToHex } from './hex.ts';
import { keccak256, KeccakStream } from './keccak.ts';
import { keccak256 as portableKeccak256 } from '../../web/src/portable-keccak.ts';

/** Lengths around the 136 bytes of a block, and around the pieces in which WebAssembly gets its input. */
const LENGTHS = [0, 1, 135, 136, 137, 272, 16_383, 16_384, 16_385, 100_000];
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 600 }),
  fc.constantFrom(...LENGTHS).map((length) => Uint8Array.from({ length }, (_, at) => at * 7)),
);

describe('keccak256', () => {
  test('hashes no bytes to the hash of an account without code', () => {
    expect(bytesToHex(keccak256(new Uint8Array()))).toBe(
      '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    );
  });

  test('gives pages and the service the same hash', () => {
    fc.assert(
      fc.property(bytes, (input) => {
        expect(keccak256(input)).toEqual(portableKeccak256(input));
      }),
    );
  });
});

describe('KeccakStream', () => {
  test('hashes pieces as the whole, whatever is hashed in between', () => {
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 5 }), fc.array(bytes, { maxLength: 5 }), (a, b) => {
        const [left, right] = [new KeccakStream(), new KeccakStream()];
        for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
          left.update(a[at] ?? new Uint8Array());
          right.update(b[at] ?? new Uint8Array());
        }
        expect(left.digest()).toEqual(portableKeccak256(Buffer.concat(a)));
        expect(right.digest()).toEqual(portableKeccak256(Buffer.concat(b)));
      }),
    );
  });
});
