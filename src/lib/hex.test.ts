import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesToHex, checksumAddress, hexToBytes, isTransactionHash, parseAddress } from './hex.ts';

// The examples in EIP-55: all upper case, all lower case, and mixed.
const EIP_55_EXAMPLES = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

describe('Addresses', () => {
  test.each(EIP_55_EXAMPLES)('%s has its EIP-55 checksum', (address) => {
    expect(checksumAddress(address.toLowerCase())).toBe(address);
    expect(parseAddress(address)).toBe(address.toLowerCase());
  });

  test('a letter in the wrong case breaks the checksum', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 20, maxLength: 20 }),
        fc.nat({ max: 39 }),
        (bytes, position) => {
          const address = checksumAddress(bytesToHex(bytes));
          expect(parseAddress(address)).toBe(bytesToHex(bytes));
          const letter = address.charAt(position + 2);
          const swapped =
            letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
          const other = address.slice(0, position + 2) + swapped + address.slice(position + 3);
          const oneCase = /^0x([0-9a-f]*|[0-9A-F]*)$/.test(other);
          fc.pre(swapped !== letter && !oneCase);
          expect(parseAddress(other)).toBeUndefined();
        },
      ),
    );
  });

  test.each([
    '',
    '0x',
    '0x12',
    `0x${'0'.repeat(39)}`,
    `0x${'0'.repeat(41)}`,
    `0x${'g'.repeat(40)}`,
    '0'.repeat(40),
  ])('%j is rejected as an address', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  test('only 32 bytes are a valid transaction hash', () => {
    expect(isTransactionHash(`0x${'a'.repeat(64)}`)).toBe(true);
    expect(isTransactionHash(`0x${'a'.repeat(63)}`)).toBe(false);
    expect(isTransactionHash(`0x${'a'.repeat(64)}\n`)).toBe(false);
  });
});

describe('Hex encoding', () => {
  test('round-trips any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect([...hexToBytes(bytesToHex(bytes))]).toEqual([...bytes]);
      }),
    );
  });

  test.each(['0x1', 'abc', '0xzz'])('%s is rejected', (text) => {
    expect(() => hexToBytes(text)).toThrow(TypeError);
  });
});
