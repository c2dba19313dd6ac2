import { isAddress } from '../lib/address-text.ts';
import { hexToBytes } from '../lib/hex.ts';
import { ADDRESS_BYTES, metadataHashRange, type CodeTemplate } from './recompiled-code.ts';
import { type TransformationReason } from './transformation.ts';

/** `settings.libraries` of the standard JSON input: path -> library -> address. The path `''` matches any path. */
export type ConfiguredLibraries = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A value that the bytecode on chain may have in place of the recompiled bytes, and its offsets. */
export interface ExplainedValue {
  readonly reason: Exclude<TransformationReason, 'constructorArguments'>;
  readonly id?: string;
  readonly starts: readonly number[];
  readonly value: Buffer;
}

/**
 * Start of a library's runtime bytecode from 0.4.20 on: PUSH20 of its own address, ADDRESS, EQ. Compiled with
 * a zero address.
 */
const CALL_PROTECTION = Buffer.from(`73${'00'.repeat(ADDRESS_BYTES)}3014`, 'hex');
const CALL_PROTECTION_START = 1;
/** Id of the immutable with a library's own address in bytecode compiled via IR. */
export const LIBRARY_ADDRESS_IMMUTABLE = 'library_deploy_address';

/** Returns the configured address of `path:Name`, for a placeholder that the compiler left. */
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

/**
 * Explains library addresses. All references of a library have one address: the configured one, otherwise the
 * one at its first reference.
 */
export function explainLibraries(
  template: CodeTemplate,
  onChain: Buffer,
  configured?: ConfiguredLibraries,
): ExplainedValue[] {
  return template.libraries.flatMap(({ id, starts }) => {
    const first = starts[0];
    if (first === undefined) return [];
    const value =
      configuredAddress(id, configured) ?? onChain.subarray(first, first + ADDRESS_BYTES);
    return [{ reason: 'library', id, starts, value }];
  });
}

/** Explains auxdata: on chain, it may differ from the recompiled one only in its metadata hash. */
export function explainAuxdata(template: CodeTemplate, onChain: Buffer): ExplainedValue[] {
  return template.auxdata.flatMap((slot) => {
    const hash = metadataHashRange(slot);
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
 * Explains immutables. All references of an immutable have the value at its first reference; a library's own
 * address must be the contract's address, or the zeros that {@link lacksCallProtection} rejects.
 */
export function explainImmutables(
  template: CodeTemplate,
  onChain: Buffer,
  address: Buffer,
): ExplainedValue[] {
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

/** Chains reserve the addresses up to 0xffff for precompiled contracts. */
const RESERVED_BYTES = 2;

/** Returns whether no library can be at the address: it is zero, or reserved for precompiled contracts. */
export function isReservedAddress(address: Uint8Array): boolean {
  return address.subarray(0, ADDRESS_BYTES - RESERVED_BYTES).every((byte) => byte === 0);
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/**
 * Returns whether the value is the compiler's zeros in place of a library's own address. The creation
 * bytecode of a library always replaces them: with the zeros, anyone could call code that is only meant to
 * run for other contracts.
 */
export function lacksCallProtection({ reason, id, value }: ExplainedValue): boolean {
  const isOwnAddress = reason === 'callProtection' || id === LIBRARY_ADDRESS_IMMUTABLE;
  return isOwnAddress && isZero(value);
}

/**
 * Returns whether a Solidity bytecode is a library that {@link lacksCallProtection} rejects. No other bytecode
 * starts like this: a library linked there would be at address zero, which is rejected too.
 * @param immutables values by id, as read from the bytecode.
 */
export function isUnprotectedLibrary(
  code: Uint8Array,
  immutables: Readonly<Record<string, string>>,
): boolean {
  const ownAddress = immutables[LIBRARY_ADDRESS_IMMUTABLE];
  const begins = CALL_PROTECTION.equals(code.subarray(0, CALL_PROTECTION.length));
  return begins || (ownAddress !== undefined && /^0x0+$/.test(ownAddress));
}

/** Explains the call protection: the contract's own address, or the zeros that {@link lacksCallProtection} rejects. */
export function explainCallProtection(
  template: CodeTemplate,
  onChain: Buffer,
  address: Buffer,
): ExplainedValue[] {
  const isLinked = template.libraries.some(({ starts }) => starts.includes(CALL_PROTECTION_START));
  const isProtected = template.bytes.subarray(0, CALL_PROTECTION.length).equals(CALL_PROTECTION);
  if (isLinked || !isProtected) return [];
  const found = onChain.subarray(CALL_PROTECTION_START, CALL_PROTECTION_START + ADDRESS_BYTES);
  const value = isZero(found) ? found : address;
  return [{ reason: 'callProtection', starts: [CALL_PROTECTION_START], value }];
}

/** Returns the recompiled bytecode with the values applied at all their offsets. */
export function applyValues(bytes: Buffer, explained: readonly ExplainedValue[]): Buffer {
  const applied = Buffer.from(bytes);
  for (const { starts, value } of explained) {
    for (const start of starts) value.copy(applied, start);
  }
  return applied;
}
