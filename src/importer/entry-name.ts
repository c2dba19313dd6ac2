import { isAddress } from '../lib/address-text.ts';
import { checksumAddress, parseAddress, type Hex } from '../lib/hex.ts';
import { Refusal } from './refusal.ts';

const CANONICAL_CHAIN_ID = /^[1-9][0-9]{0,15}$/;

/**
 * The chain id that a folder name spells: decimal digits without sign, leading zero or exponent, from 1
 * (EIP-155 gives 0 no meaning) to 2^53-1. One id has one spelling, so a chain has one folder.
 * @throws Refusal `invalid_chain_id`
 */
export function parseChainFolder(name: string): number {
  const chainId = CANONICAL_CHAIN_ID.test(name) ? Number(name) : Number.NaN;
  if (!Number.isSafeInteger(chainId)) throw new Refusal('invalid_chain_id', name);
  return chainId;
}

/**
 * The address that a folder name spells, in lower case. The published tree spells addresses with their EIP-55
 * checksum; digits all in one case claim no checksum (EIP-55) and are sound too.
 * @throws Refusal `invalid_address`, `wrong_checksum`
 */
export function parseAddressFolder(name: string): Hex {
  if (!isAddress(name)) throw new Refusal('invalid_address', name);
  const address = parseAddress(name);
  if (address === undefined) throw new Refusal('wrong_checksum', name);
  return address;
}

/** The sound spellings of an address in the order of their precedence: checksummed, lower case, upper case. */
export function allSpellings(address: Hex): string[] {
  const upper = `0x${address.slice(2).toUpperCase()}`;
  return [...new Set([checksumAddress(address), address, upper])];
}

/** The spellings that take precedence over `name` when folders of both names exist. */
export function preferredSpellings(name: string, address: Hex): string[] {
  const spellings = allSpellings(address);
  return spellings.slice(0, Math.max(0, spellings.indexOf(name)));
}
