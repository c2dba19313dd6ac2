import { keccak256 } from '../lib/keccak.ts';

/** What solc writes for an address that is to be linked: as many bytes as an address has digits. */
export const PLACEHOLDER_BYTES = 40;
/** Solc keeps this much of the name in a placeholder up to 0.4. */
const NAME_BYTES = 36;
/** A placeholder from 0.5 on holds this many digits of the name's hash. */
const HASH_DIGITS = 34;

/** The digits that stand in a placeholder for `path:Name` since solc 0.5.0: the first 34 of its keccak256. */
export function placeholderDigits(name: string): string {
  const digits = Buffer.from(keccak256(Buffer.from(name, 'utf8'))).toString('hex');
  return digits.slice(0, HASH_DIGITS);
}

/** The placeholder of `path:Name` since solc 0.5.0. */
export function hashPlaceholder(name: string): string {
  return `__$${placeholderDigits(name)}$__`;
}

/** The placeholder of solc up to 0.4: two underscores, the first 36 bytes of the name, filled up with underscores. */
export function namePlaceholder(name: string): Buffer {
  const placeholder = Buffer.alloc(PLACEHOLDER_BYTES, '_');
  Buffer.from(name, 'utf8').subarray(0, NAME_BYTES).copy(placeholder, 2);
  return placeholder;
}

/**
 * What stands in unlinked code for the address of a library. A name that is a placeholder already stays what it is.
 * @param version of the compiler that made the code
 */
export function libraryPlaceholder(name: string, version: string): string {
  if (name.startsWith('__') && Buffer.byteLength(name) === PLACEHOLDER_BYTES) return name;
  const [major = '0', minor = '0'] = version.split('.');
  const isHashed = Number(major) > 0 || Number(minor) >= 5;
  return isHashed ? hashPlaceholder(name) : namePlaceholder(name).toString('utf8');
}
