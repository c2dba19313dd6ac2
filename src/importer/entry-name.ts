import { isAddress } from '../lib/address-text.ts';
import { checksumAddress, parseAddress, type Hex } from '../lib/hex.ts';
import { Refusal } from './refusal.ts';

const CANONICAL_CHAIN_ID = /^[1-9][0-9]{0,15}$/;

/**
 * Parses a folder name as a chain id: decimal digits without sign, leading zero or exponent, from 1 (0 is
 * undefined in EIP-155) to 2^53-1. Each id has one spelling, so each chain has one folder.
 * @throws Refusal `invalid_chain_id`
 */
export function parseChainFolder(name: string): number {
  const chainId = CANONICAL_CHAIN_ID.test(name) ? Number(name) : Number.NaN;
  if (!Number.isSafeInteger(chainId)) throw new Refusal('invalid_chain_id', name);
  return chainId;
}

/**
 * Parses a folder name as an address and returns it in lower case. The published tree uses EIP-55 checksums;
 * an address in a single case carries no checksum (EIP-55) and is valid too.
 * @throws Refusal `invalid_address`, `wrong_checksum`
 */
export function parseAddressFolder(name: string): Hex {
  if (!isAddress(name)) throw new Refusal('invalid_address', name);
  const address = parseAddress(name);
  if (address === undefined) throw new Refusal('wrong_checksum', name);
  return address;
}

/** Valid spellings of an address by precedence: checksummed, lower case, upper case. */
export function allSpellings(address: Hex): string[] {
  const upper = `0x${address.slice(2).toUpperCase()}`;
  return [...new Set([checksumAddress(address), address, upper])];
}

/** Spellings that take precedence over `name` if several folders exist. */
export function preferredSpellings(name: string, address: Hex): string[] {
  const spellings = allSpellings(address);
  return spellings.slice(0, Math.max(0, spellings.indexOf(name)));
}
