import { ContractAddress } from 'ox';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Hex } from '../../lib/hex.ts';
import { contractCreatedBy } from './contract-address.ts';

const from: Hex = `0x${'5a'.repeat(20)}`;
const named: Hex = `0x${'11'.repeat(20)}`;
const nobody: Hex = `0x${'00'.repeat(20)}`;

test('derives the contract address from sender and nonce if the receipt has none', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.constantFrom(null, undefined, nobody), (nonce, left) => {
      const expected = ContractAddress.fromCreate({ from, nonce: BigInt(nonce) });
      expect(contractCreatedBy({ from, nonce }, { contractAddress: left })).toBe(expected);
    }),
  );
});

test('uses the contract address of the receipt', () => {
  expect(contractCreatedBy({ from, nonce: 0 }, { contractAddress: named })).toBe(named);
});

test('returns none if the transaction has a recipient or no nonce', () => {
  expect(contractCreatedBy({ from, to: named, nonce: 0 }, {})).toBeUndefined();
  expect(contractCreatedBy({ from }, { contractAddress: null })).toBeUndefined();
});
