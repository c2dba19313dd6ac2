import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { checksumAddress, type Hex } from '../lib/hex.ts';
import addressFolders from '../../test/cases/import/address-folders.json' with { type: 'json' };
import chainFolders from '../../test/cases/import/chain-folders.json' with { type: 'json' };
import {
  allSpellings,
  parseAddressFolder,
  parseChainFolder,
  preferredSpellings,
} from './entry-name.ts';

const anyAddress = fc
  .array(fc.integer({ min: 0, max: 15 }), { minLength: 40, maxLength: 40 })
  .map((digits): Hex => `0x${digits.map((digit) => digit.toString(16)).join('')}`);

describe('Chain folder', () => {
  test.each(chainFolders)('named $name', ({ name, chainId }) => {
    if (chainId === undefined) {
      expect(() => parseChainFolder(name)).toThrow(
        expect.objectContaining({ reason: 'invalid_chain_id' }),
      );
    } else expect(parseChainFolder(name)).toBe(chainId);
  });

  test('accepts exactly one spelling of an id', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.string({ maxLength: 3 }), (number, more) => {
        const chainId = number + 1 > Number.MAX_SAFE_INTEGER ? 1 : number + 1;
        expect(parseChainFolder(String(chainId))).toBe(chainId);
        fc.pre(!/^[0-9]*$/.test(more));
        expect(() => parseChainFolder(`${chainId}${more}`)).toThrow();
        expect(() => parseChainFolder(`${more}${chainId}`)).toThrow();
      }),
    );
  });
});

describe('Address folder', () => {
  test.each(addressFolders)('$title', ({ name, reason }) => {
    if (reason === undefined) expect(parseAddressFolder(name)).toBe(name.toLowerCase());
    else {
      expect(() => parseAddressFolder(name)).toThrow(expect.objectContaining({ reason }));
    }
  });

  test('accepts each spelling, and ranks the spellings uniquely', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        const spellings = allSpellings(address);
        expect(spellings[0]).toBe(checksumAddress(address));
        for (const [index, spelling] of spellings.entries()) {
          expect(parseAddressFolder(spelling)).toBe(address);
          expect(preferredSpellings(spelling, address)).toEqual(spellings.slice(0, index));
        }
      }),
    );
  });
});
