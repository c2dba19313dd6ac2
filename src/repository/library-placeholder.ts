import { bytesToHex } from '../lib/hex.ts';
import { keccak256 } from '../lib/keccak.ts';

const PLACEHOLDER = /^__.{38}$/;
const NAME_DIGITS = 36;

/** Whether the compiler writes placeholders as hashes: since solc 0.5.0. */
function hashesPlaceholders(compilerVersion: string): boolean {
  const [major = '0', minor = '0'] = compilerVersion.split('.');
  return Number(major) > 0 || Number(minor) >= 5;
}

/**
 * What stands in unlinked code for the address of a library, 40 characters: `__$` + the first 34 digits of
 * keccak256(`path:Name`) + `$__` since solc 0.5.0, `__path:Name` filled with `_` or cut before.
 * A name that is a placeholder already stays what it is.
 */
export function libraryPlaceholder(name: string, compilerVersion: string): string {
  if (PLACEHOLDER.test(name)) return name;
  if (!hashesPlaceholders(compilerVersion))
    return `__${name.slice(0, NAME_DIGITS)}`.padEnd(40, '_');
  return `__$${bytesToHex(keccak256(Buffer.from(name, 'utf8'))).slice(2, 36)}$__`;
}
