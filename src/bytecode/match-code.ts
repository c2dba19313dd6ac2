import { bytesToHex, hexToBytes, isAddress, type Hex } from '../lib/hex.ts';
import {
  ADDRESS_BYTES,
  hashStretch,
  holdsMetadataHash,
  type CodeReference,
  type CodeTemplate,
} from './recompiled-code.ts';
import { isStrictEncoding, type AbiParameter } from './strict-encoding.ts';
import { type Transformation, type TransformationReason } from './transformation.ts';
import { type CodeMatch, type CodeMismatch, type CodeVerdict } from './verdict.ts';

/** `settings.libraries` of the standard JSON input: path → library → address. The path `''` stands for any. */
export type ConfiguredLibraries = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What there is to compare for the code that runs. */
export interface RuntimeComparison {
  readonly recompiled: CodeTemplate;
  readonly onChain: Uint8Array;
  /** Where the code lives, hex in any case. */
  readonly address: string;
  readonly libraries?: ConfiguredLibraries;
}

/** What there is to compare for the code that created the contract. */
export interface CreationComparison {
  readonly recompiled: CodeTemplate;
  /** The whole creation code with its arguments: the transaction's input, or the init code of the create in its trace. */
  readonly onChain: Uint8Array;
  /** The `abi` of the compiler's output. */
  readonly abi: unknown;
  readonly libraries?: ConfiguredLibraries;
}

/** One value that the code on chain may have in the place of the recompiled bytes, and where. */
interface Explained {
  readonly reason: Exclude<TransformationReason, 'constructorArguments'>;
  readonly id?: string;
  readonly starts: readonly number[];
  readonly value: Buffer;
}

/** The start of a library's runtime code from 0.4.20 on: PUSH20 of its own address, ADDRESS, EQ. Compiled with a zero address. */
const CALL_PROTECTION = Buffer.from(`73${'00'.repeat(ADDRESS_BYTES)}3014`, 'hex');
const CALL_PROTECTION_START = 1;
/** The immutable that holds a library's own address in code compiled via IR. */
const LIBRARY_ADDRESS_IMMUTABLE = 'library_deploy_address';

function configuredAddress(id: string, libraries: ConfiguredLibraries = {}): Buffer | undefined {
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
function explainLibraries(
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
function explainAuxdata(template: CodeTemplate, onChain: Buffer): Explained[] {
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
 * An immutable has one value, the one at its first reference; a library's own address has no choice at all.
 * A library that was never deployed by its creation code (a genesis allocation) keeps the zeros of the compiler.
 */
function explainImmutables(template: CodeTemplate, onChain: Buffer, address: Buffer): Explained[] {
  return template.immutables.flatMap(({ id, starts, length }) => {
    const first = starts[0];
    if (first === undefined) return [];
    const found = onChain.subarray(first, first + length);
    if (id !== LIBRARY_ADDRESS_IMMUTABLE || found.every((byte) => byte === 0)) {
      return [{ reason: 'immutable', id, starts, value: found }];
    }
    const own = Buffer.alloc(length);
    address.copy(own, Math.max(0, length - ADDRESS_BYTES));
    return [{ reason: 'immutable', id, starts, value: own }];
  });
}

/** Call protection is the contract's own address, or still the compiler's zeros, where nothing was applied. */
function explainCallProtection(
  template: CodeTemplate,
  onChain: Buffer,
  address: Buffer,
): Explained[] {
  const isLinked = template.libraries.some(({ starts }) => starts.includes(CALL_PROTECTION_START));
  const isProtected = template.bytes.subarray(0, CALL_PROTECTION.length).equals(CALL_PROTECTION);
  const isUntouched = onChain.subarray(0, CALL_PROTECTION.length).equals(CALL_PROTECTION);
  if (isLinked || !isProtected || isUntouched) return [];
  return [{ reason: 'callProtection', starts: [CALL_PROTECTION_START], value: address }];
}

function apply(bytes: Buffer, explained: readonly Explained[]): Buffer {
  const applied = Buffer.from(bytes);
  for (const { starts, value } of explained) {
    for (const start of starts) value.copy(applied, start);
  }
  return applied;
}

function collectValues(
  explained: readonly Explained[],
  reason: Explained['reason'],
): Record<string, Hex> {
  return Object.fromEntries(
    explained
      .filter((each) => each.reason === reason)
      .map(({ id = '', value }) => [id, bytesToHex(value)]),
  );
}

function record(
  template: CodeTemplate,
  explained: readonly Explained[],
  constructorArguments: Uint8Array,
): CodeMatch {
  const transformations = explained.flatMap(({ reason, id, starts }) =>
    starts.map((offset): Transformation => ({
      type: 'replace',
      reason,
      offset,
      ...(id !== undefined && { id }),
    })),
  );
  transformations.sort((left, right) => left.offset - right.offset);
  const has = (reason: Explained['reason']): boolean =>
    explained.some((each) => each.reason === reason);
  const callProtection = explained.find(({ reason }) => reason === 'callProtection');
  if (constructorArguments.length > 0) {
    const offset = template.bytes.length;
    transformations.push({ type: 'insert', reason: 'constructorArguments', offset });
  }
  return {
    match: holdsMetadataHash(template) && !has('cborAuxdata') ? 'full' : 'partial',
    transformations,
    values: {
      ...(constructorArguments.length > 0 && {
        constructorArguments: bytesToHex(constructorArguments),
      }),
      ...(has('library') && { libraries: collectValues(explained, 'library') }),
      ...(has('immutable') && { immutables: collectValues(explained, 'immutable') }),
      ...(has('cborAuxdata') && { cborAuxdata: collectValues(explained, 'cborAuxdata') }),
      ...(callProtection && { callProtection: bytesToHex(callProtection.value) }),
    },
  };
}

type Place = Pick<CodeMismatch, 'id' | 'within'>;

/** What a byte of the template belongs to. */
function placeOf(template: CodeTemplate, explained: readonly Explained[], offset: number): Place {
  const holds = ({ start, length }: CodeReference): boolean =>
    offset >= start && offset < start + length;
  const auxdata = template.auxdata.find((slot) =>
    holds({ start: slot.offset, length: slot.length }),
  );
  if (auxdata !== undefined) return { within: 'cborAuxdata', id: auxdata.id };
  const value = explained.find(({ starts, value: { length } }) =>
    starts.some((start) => holds({ start, length })),
  );
  if (value === undefined) return { within: 'code' };
  return { within: value.reason, ...(value.id !== undefined && { id: value.id }) };
}

function describeDifference(
  template: CodeTemplate,
  explained: readonly Explained[],
  applied: Buffer,
  onChain: Buffer,
  reason: CodeMismatch['reason'],
): CodeMismatch {
  let first: number | undefined;
  let count = 0;
  const shared = Math.min(applied.length, onChain.length);
  for (let offset = 0; offset < shared; offset += 1) {
    if (applied[offset] === onChain[offset]) continue;
    first ??= offset;
    count += 1;
  }
  return {
    match: null,
    reason,
    ...(first !== undefined && { firstDifference: first, ...placeOf(template, explained, first) }),
    differingBytes: count,
    recompiledLength: template.bytes.length,
    onChainLength: onChain.length,
  };
}

/**
 * The one comparison: every value is known or taken from one place of the code on chain, applied at all its places,
 * and then the bytes are equal or they are not. So what is recorded is what was compared.
 */
function compare(
  template: CodeTemplate,
  explained: readonly Explained[],
  onChain: Buffer,
): CodeMismatch | undefined {
  const applied = apply(template.bytes, explained);
  if (applied.equals(onChain)) return undefined;
  return describeDifference(template, explained, applied, onChain, 'no_match');
}

/** Codes of which one has bytes that the other lacks: values are applied as far as the code on chain has them. */
function refuseLength(
  template: CodeTemplate,
  explain: (onChain: Buffer) => readonly Explained[],
  onChain: Buffer,
): CodeMismatch {
  const reason =
    template.bytes.length === 0 ? 'compiled_bytecode_is_zero' : 'bytecode_length_mismatch';
  const padded = Buffer.alloc(Math.max(onChain.length, template.bytes.length));
  onChain.copy(padded);
  const explained = explain(padded);
  const applied = apply(template.bytes, explained);
  return describeDifference(template, explained, applied, onChain, reason);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Judges the code at an address: it matches when the recompiled runtime code, with one address for each library, one
 * value for each immutable, the contract's own address as call protection and other metadata hashes, is that code.
 * @throws TypeError when `address` is not an address.
 */
export function matchRuntimeCode(comparison: RuntimeComparison): CodeVerdict {
  const { recompiled: template, libraries } = comparison;
  if (!isAddress(comparison.address)) throw new TypeError('expected an address of 20 bytes');
  const address = hexToBytes(comparison.address);
  const onChain = asBuffer(comparison.onChain);
  const explain = (code: Buffer): Explained[] => [
    ...explainCallProtection(template, code, address),
    ...explainLibraries(template, code, libraries),
    ...explainImmutables(template, code, address),
    ...explainAuxdata(template, code),
  ];
  if (template.bytes.length === 0 || onChain.length !== template.bytes.length) {
    return refuseLength(template, explain, onChain);
  }
  const explained = explain(onChain);
  return compare(template, explained, onChain) ?? record(template, explained, Buffer.alloc(0));
}

/** The parameters of the constructor in an ABI: none when it does not name one. */
function constructorParameters(abi: unknown): readonly AbiParameter[] {
  const entries = Array.isArray(abi) ? (abi as unknown[]) : [];
  const found = entries.find(
    (entry) => (entry as { type?: unknown } | null)?.type === 'constructor',
  ) as { inputs?: readonly AbiParameter[] } | undefined;
  return found?.inputs ?? [];
}

/**
 * Judges the code that created a contract: it matches when the recompiled creation code, with one address for each
 * library and other metadata hashes, is the beginning of that code, and all that follows is the strict ABI encoding of
 * the constructor's arguments. Immutables have no part in it: they get their values while this code runs.
 */
export function matchCreationCode(comparison: CreationComparison): CodeVerdict {
  const { recompiled: template, libraries } = comparison;
  const onChain = asBuffer(comparison.onChain);
  const explain = (code: Buffer): Explained[] => [
    ...explainLibraries(template, code, libraries),
    ...explainAuxdata(template, code),
  ];
  const { length } = template.bytes;
  if (length === 0 || onChain.length < length) return refuseLength(template, explain, onChain);
  const explained = explain(onChain);
  const mismatch = compare(template, explained, onChain.subarray(0, length));
  if (mismatch !== undefined) return { ...mismatch, onChainLength: onChain.length };
  const constructorArguments = onChain.subarray(length);
  if (!isStrictEncoding(constructorParameters(comparison.abi), constructorArguments)) {
    return {
      match: null,
      reason: 'no_match',
      firstDifference: length,
      differingBytes: 0,
      within: 'constructorArguments',
      recompiledLength: length,
      onChainLength: onChain.length,
    };
  }
  return record(template, explained, constructorArguments);
}
