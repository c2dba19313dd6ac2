import { keccak256 } from '../lib/keccak.ts';

/** Size of solc's placeholder for a library address: as many bytes as an address has digits. */
export const PLACEHOLDER_BYTES = 40;
/** Number of bytes of the name in a placeholder up to 0.4. */
const NAME_BYTES = 36;
/** Number of digits of the name's hash in a placeholder from 0.5 on. */
const HASH_DIGITS = 34;

/** Returns the digits in a placeholder for `path:Name` since solc 0.5.0: the first 34 of its keccak256. */
export function placeholderDigits(name: string): string {
  const digits = Buffer.from(keccak256(Buffer.from(name, 'utf8'))).toString('hex');
  return digits.slice(0, HASH_DIGITS);
}

/** Returns the placeholder of `path:Name` since solc 0.5.0. */
export function hashPlaceholder(name: string): string {
  return `__$${placeholderDigits(name)}$__`;
}

/**
 * Returns the placeholder of solc up to 0.4: two underscores, the first 36 bytes of the name, padded with
 * underscores.
 */
export function namePlaceholder(name: string): Buffer {
  const placeholder = Buffer.alloc(PLACEHOLDER_BYTES, '_');
  Buffer.from(name, 'utf8').subarray(0, NAME_BYTES).copy(placeholder, 2);
  return placeholder;
}

/**
 * Returns the placeholder of a library in unlinked bytecode. A name that is already a placeholder is returned
 * unchanged.
 * @param version the compiler version of the bytecode
 */
export function libraryPlaceholder(name: string, version: string): string {
  if (name.startsWith('__') && Buffer.byteLength(name) === PLACEHOLDER_BYTES) return name;
  const [major = '0', minor = '0'] = version.split('.');
  const isHashed = Number(major) > 0 || Number(minor) >= 5;
  return isHashed ? hashPlaceholder(name) : namePlaceholder(name).toString('utf8');
}
