import { isAddress } from '../lib/address-text.ts';
import { hexToBytes } from '../lib/hex.ts';
import { ADDRESS_BYTES, hashStretch, type CodeTemplate } from './recompiled-code.ts';
import { type TransformationReason } from './transformation.ts';

/** `settings.libraries` of the standard JSON input: path → library → address. The path `''` stands for any. */
export type ConfiguredLibraries = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** One value that the code on chain may have in the place of the recompiled bytes, and where. */
export interface Explained {
  readonly reason: Exclude<TransformationReason, 'constructorArguments'>;
  readonly id?: string;
  readonly starts: readonly number[];
  readonly value: Buffer;
}

/** The start of a library's runtime code from 0.4.20 on: PUSH20 of its own address, ADDRESS, EQ. Compiled with a zero address. */
const CALL_PROTECTION = Buffer.from(`73${'00'.repeat(ADDRESS_BYTES)}3014`, 'hex');
const CALL_PROTECTION_START = 1;
/** The immutable that holds a library's own address in code compiled via IR. */
export const LIBRARY_ADDRESS_IMMUTABLE = 'library_deploy_address';

/** The address that the settings give `path:Name`, where the compiler left its place open. */
export function configuredAddress(
  id: string,
  libraries: ConfiguredLibraries = {},
): Buffer | undefined {
  const colon = id.lastIndexOf(':');
  const [path, name] = [id.slice(0, colon), id.slice(colon + 1)];
  for (const key of [path, '']) {
    const named = Object.hasOwn(libraries, key) ? libraries[key] : undefined;
    const address = named !== undefined && Object.hasOwn(named, name) ? named[name] : undefined;
    if (address !== undefined && isAddress(address)) return hexToBytes(address);
  }
  return undefined;
}

/** A library has one address: the configured one, else the one at its first reference, for all its references. */
export function explainLibraries(
  template: CodeTemplate,
  onChain: Buffer,
  configured?: ConfiguredLibraries,
): Explained[] {
  return template.libraries.flatMap(({ id, starts }) => {
    const first = starts[0];
    if (first === undefined) return [];
    const value =
      configuredAddress(id, configured) ?? onChain.subarray(first, first + ADDRESS_BYTES);
    return [{ reason: 'library', id, starts, value }];
  });
}

/** An auxdata on chain is the recompiled one with another metadata hash in it, and nothing else. */
export function explainAuxdata(template: CodeTemplate, onChain: Buffer): Explained[] {
  return template.auxdata.flatMap((slot) => {
    const hash = hashStretch(slot);
    if (hash === undefined) return [];
    const end = hash.start + hash.length;
    const onChainHash = onChain.subarray(hash.start, end);
    if (onChainHash.equals(template.bytes.subarray(hash.start, end))) return [];
    const value = Buffer.from(template.bytes.subarray(slot.offset, slot.offset + slot.length));
    onChainHash.copy(value, hash.start - slot.offset);
    return [{ reason: 'cborAuxdata', id: slot.id, starts: [slot.offset], value }];
  });
}

/**
 * An immutable has one value, the one at its first reference; a library's own address has no choice, but for the zeros
 * that {@link isUnprotected} refuses.
 */
export function explainImmutables(
  template: CodeTemplate,
  onChain: Buffer,
  address: Buffer,
): Explained[] {
  return template.immutables.flatMap(({ id, starts, length }) => {
    const first = starts[0];
    if (first === undefined) return [];
    const found = onChain.subarray(first, first + length);
    if (id !== LIBRARY_ADDRESS_IMMUTABLE || isZero(found)) {
      return [{ reason: 'immutable', id, starts, value: found }];
    }
    const own = Buffer.alloc(length);
    address.copy(own, Math.max(0, length - ADDRESS_BYTES));
    return [{ reason: 'immutable', id, starts, value: own }];
  });
}

/** Chains keep the addresses up to 0xffff for their precompiled contracts. */
const RESERVED_BYTES = 2;

/** Whether no library can be at the address: it is zero, or kept for precompiled contracts. */
export function isReservedAddress(address: Uint8Array): boolean {
  return address.subarray(0, ADDRESS_BYTES - RESERVED_BYTES).every((byte) => byte === 0);
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/**
 * Whether the value is the zeros of the compiler in the place of a library's own address. The creation code of a library
 * always replaces them: with them, the same code lets everybody call what it is to run only for other contracts.
 */
export function isUnprotected({ reason, id, value }: Explained): boolean {
  const isOwnAddress = reason === 'callProtection' || id === LIBRARY_ADDRESS_IMMUTABLE;
  return isOwnAddress && isZero(value);
}

/**
 * Whether code of Solidity is that of a library which {@link isUnprotected} refuses. No other code begins like this: a
 * library that is linked there is at address zero, which is refused too.
 * @param immutables values by their ids, as they were taken from the code.
 */
export function isUnprotectedLibrary(
  code: Uint8Array,
  immutables: Readonly<Record<string, string>>,
): boolean {
  const ownAddress = immutables[LIBRARY_ADDRESS_IMMUTABLE];
  const begins = CALL_PROTECTION.equals(code.subarray(0, CALL_PROTECTION.length));
  return begins || (ownAddress !== undefined && /^0x0+$/.test(ownAddress));
}

/** Call protection is the contract's own address, but for the zeros that {@link isUnprotected} refuses. */
export function explainCallProtection(
  template: CodeTemplate,
  onChain: Buffer,
  address: Buffer,
): Explained[] {
  const isLinked = template.libraries.some(({ starts }) => starts.includes(CALL_PROTECTION_START));
  const isProtected = template.bytes.subarray(0, CALL_PROTECTION.length).equals(CALL_PROTECTION);
  if (isLinked || !isProtected) return [];
  const found = onChain.subarray(CALL_PROTECTION_START, CALL_PROTECTION_START + ADDRESS_BYTES);
  const value = isZero(found) ? found : address;
  return [{ reason: 'callProtection', starts: [CALL_PROTECTION_START], value }];
}

/** The recompiled code with the values at all their places. */
export function applyValues(bytes: Buffer, explained: readonly Explained[]): Buffer {
  const applied = Buffer.from(bytes);
  for (const { starts, value } of explained) {
    for (const start of starts) value.copy(applied, start);
  }
  return applied;
}
