import { isAddress } from './address-text.ts';
import { keccak256 } from './keccak.ts';

/** `0x` and an even number of lower-case hex digits. */
export type Hex = `0x${string}`;

const LOWER_ADDRESS = /^0x[0-9a-f]{40}$/;
const UPPER_ADDRESS = /^0x[0-9A-F]{40}$/;
const TRANSACTION_HASH = /^0x[0-9a-fA-F]{64}$/;

/** Returns bytes as lower-case hex with `0x`. */
export function bytesToHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;
}

/**
 * Returns the bytes of a hex string, with or without `0x`.
 * @throws TypeError if it is not hex with whole bytes.
 */
export function hexToBytes(hex: string): Buffer {
  const digits = hex.startsWith('0x') ? hex.slice(2) : hex;
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) {
    throw new TypeError('expected hex digits of whole bytes');
  }
  return Buffer.from(digits, 'hex');
}

/** Returns whether a text is a 32-byte hash in hex, in any case. */
export function isTransactionHash(text: string): text is Hex {
  return TRANSACTION_HASH.test(text);
}

/**
 * Returns an address with its mixed-case checksum (EIP-55).
 * @throws TypeError if it is not an address.
 */
export function checksumAddress(address: string): Hex {
  if (!isAddress(address)) throw new TypeError('expected an address of 20 bytes');
  const digits = address.slice(2).toLowerCase();
  const hash = bytesToHex(keccak256(Buffer.from(digits, 'ascii'))).slice(2);
  let out = '';
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charAt(index);
    out += Number.parseInt(hash.charAt(index), 16) >= 8 ? digit.toUpperCase() : digit;
  }
  return `0x${out}`;
}

/** Describes why {@link parseAddress} rejects a text, as the end of a sentence; undefined if it does not. */
export function describeAddressFault(text: string): string | undefined {
  if (!isAddress(text)) return 'an address is expected: 0x and 40 hexadecimal digits';
  if (parseAddress(text) !== undefined) return undefined;
  return 'the checksum of this address is wrong (EIP-55): a letter or digit was changed; copy the address again';
}

/**
 * Returns a valid address in lower case: all letters must be in one case, or have a correct EIP-55 checksum.
 * Returns undefined for a wrong length, digit or checksum.
 */
export function parseAddress(text: string): Hex | undefined {
  if (LOWER_ADDRESS.test(text) || UPPER_ADDRESS.test(text)) return text.toLowerCase() as Hex;
  if (!isAddress(text) || checksumAddress(text) !== text) return undefined;
  return text.toLowerCase() as Hex;
}
