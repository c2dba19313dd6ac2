import { isAddress } from '../lib/address-text.ts';
import { bytesToHex, hexToBytes, type Hex } from '../lib/hex.ts';
import {
  applyValues,
  explainAuxdata,
  explainCallProtection,
  explainImmutables,
  explainLibraries,
  isReservedAddress,
  lacksCallProtection,
  LIBRARY_ADDRESS_IMMUTABLE,
  type ConfiguredLibraries,
  type ExplainedValue,
} from './explained-value.ts';
import { isSafeWithoutProof, isValueOf } from './immutable-type.ts';
import { describeCodes, describeDifference } from './mismatch.ts';
import { findDifferentTrailer, type DifferentTrailer } from './different-trailer.ts';
import { hasMetadataHashes, type CodeTemplate } from './recompiled-code.ts';
import {
  isStrictEncoding,
  isStrictPrefix,
  type AbiParameter,
} from '../solidity/strict-encoding.ts';
import { isAtLeastRelease } from './release.ts';
import { type Transformation } from './transformation.ts';
import {
  type CodeMatch,
  type CodeMismatch,
  type CodeVerdict,
  type MismatchReason,
} from './verdict.ts';
import { areValuesOf, fill } from './vyper-immutables.ts';

/** A comparison of runtime bytecode. */
interface RuntimeComparison {
  readonly recompiled: CodeTemplate;
  readonly onChain: Uint8Array;
  /** Address of the contract, hex in any case. */
  readonly address: string;
  readonly libraries?: ConfiguredLibraries;
}

/** A comparison of creation bytecode. */
interface CreationComparison {
  readonly recompiled: CodeTemplate;
  /**
   * The complete creation bytecode with arguments: the transaction's input, or the init code of the create in
   * its trace.
   */
  readonly onChain: Uint8Array;
  /** The `abi` of the compiler's output. */
  readonly abi: unknown;
  /** Whether the constructor reads missing arguments as zeros; see {@link allowsMissingArguments}. */
  readonly takesMissingArguments?: boolean;
  readonly libraries?: ConfiguredLibraries;
}

function collectValues(
  explained: readonly ExplainedValue[],
  reason: ExplainedValue['reason'],
): Record<string, Hex> {
  return Object.fromEntries(
    explained
      .filter((each) => each.reason === reason)
      .map(({ id = '', value }) => [id, bytesToHex(value)]),
  );
}

/** Returns the transformation of the ending: it deletes the trailer, replaces its auxdata, or appends one. */
function transformationOf({ offset, length, auxdata }: DifferentTrailer): Transformation {
  const reason = 'cborAuxdata';
  if (auxdata === undefined) return { type: 'delete', reason, offset, length };
  const { id } = auxdata;
  return length === 0
    ? { type: 'insert', reason, offset, id }
    : { type: 'replace', reason, offset, length, id };
}

/** Data that follows the recompiled bytecode on chain. */
interface Appended {
  readonly constructorArguments: Uint8Array;
  readonly immutables: Uint8Array;
}

/** Id of the appended immutables, which form one value: the compiler does not name them. */
const APPENDED_ID = '0';

function record(
  template: CodeTemplate,
  explained: readonly ExplainedValue[],
  { constructorArguments, immutables }: Partial<Appended>,
  ending?: DifferentTrailer,
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
  const has = (reason: ExplainedValue['reason']): boolean =>
    explained.some((each) => each.reason === reason);
  const callProtection = explained.find(({ reason }) => reason === 'callProtection');
  const offset = template.bytes.length;
  if (constructorArguments !== undefined && constructorArguments.length > 0) {
    transformations.push({ type: 'insert', reason: 'constructorArguments', offset });
  }
  if (immutables !== undefined) {
    transformations.push({ type: 'insert', reason: 'immutable', offset, id: APPENDED_ID });
  }
  if (ending !== undefined) transformations.push(transformationOf(ending));
  const auxdata = {
    ...collectValues(explained, 'cborAuxdata'),
    ...(ending?.auxdata && { [ending.auxdata.id]: bytesToHex(ending.auxdata.value) }),
  };
  const isOtherAuxdata = has('cborAuxdata') || ending !== undefined;
  return {
    match: hasMetadataHashes(template) && !isOtherAuxdata ? 'full' : 'partial',
    transformations,
    values: {
      ...(constructorArguments !== undefined &&
        constructorArguments.length > 0 && {
          constructorArguments: bytesToHex(constructorArguments),
        }),
      ...(has('library') && { libraries: collectValues(explained, 'library') }),
      ...(has('immutable') && { immutables: collectValues(explained, 'immutable') }),
      ...(immutables !== undefined && { immutables: { [APPENDED_ID]: bytesToHex(immutables) } }),
      ...(isOtherAuxdata && { cborAuxdata: auxdata }),
      ...(callProtection && { callProtection: bytesToHex(callProtection.value) }),
    },
  };
}

/** Builds the mismatch for a value that makes all bytes equal but is not allowed in this bytecode. */
function refuseValue(
  template: CodeTemplate,
  onChain: Buffer,
  reason: MismatchReason,
  { reason: within, id, starts }: Pick<ExplainedValue, 'id' | 'reason' | 'starts'>,
): CodeMismatch {
  return {
    match: null,
    reason,
    ...(starts[0] !== undefined && { firstDifference: starts[0] }),
    differingBytes: 0,
    within,
    ...(id !== undefined && { id }),
    ...describeCodes(template, onChain),
  };
}

/** Checks the values after the bytes were found equal: each must be valid for its kind. */
function checkValues(
  template: CodeTemplate,
  explained: readonly ExplainedValue[],
  onChain: Buffer,
): CodeMismatch | undefined {
  for (const each of explained) {
    const { reason, value } = each;
    if (reason === 'library' && isReservedAddress(value)) {
      return refuseValue(template, onChain, 'library_not_deployed', each);
    }
    if (lacksCallProtection(each)) {
      return refuseValue(template, onChain, 'call_protection_missing', each);
    }
  }
  return undefined;
}

/**
 * Checks the immutables of runtime bytecode without matching creation bytecode, so that nothing shows where
 * their values come from. A number within the range of its type is accepted, whatever it is. A number outside
 * the range is not, since only custom code of the constructor can write it. Nor is a code pointer: with
 * another pointer, the same bytecode does something else. The same applies to a list or text whose stated
 * length exceeds its type.
 */
export function requireValuesWithoutCreation(
  template: CodeTemplate,
  onChain: Uint8Array,
  verdict: CodeVerdict,
): CodeVerdict {
  if (verdict.match === null) return verdict;
  const appended = refuseAppended(template, asBuffer(onChain));
  if (appended !== undefined) return appended;
  for (const { id, type, starts, length } of template.immutables) {
    const [start = 0] = starts;
    if (type === undefined || isValueOf(type, onChain.subarray(start, start + length))) continue;
    const place = { reason: 'immutable', id, starts } as const;
    return refuseValue(template, asBuffer(onChain), 'immutable_out_of_range', place);
  }
  const pointer = template.immutables.find(
    ({ id, type }) => id !== LIBRARY_ADDRESS_IMMUTABLE && !isSafeWithoutProof(type),
  );
  if (pointer === undefined) return verdict;
  const { id, starts } = pointer;
  const place = { reason: 'immutable', id, starts } as const;
  return refuseValue(template, asBuffer(onChain), 'immutable_not_proven', place);
}

/**
 * Checks immutables after the bytecode. They cannot be read one by one without their types, so each must have
 * a known type and a valid value.
 */
function refuseAppended(template: CodeTemplate, onChain: Buffer): CodeMismatch | undefined {
  const { bytes, appendedImmutableBytes = 0, appendedTypes } = template;
  if (appendedImmutableBytes === 0) return undefined;
  const place = { reason: 'immutable', id: APPENDED_ID, starts: [bytes.length] } as const;
  if (appendedTypes === undefined || !fill(appendedTypes, appendedImmutableBytes)) {
    return refuseValue(template, onChain, 'immutable_not_proven', place);
  }
  if (areValuesOf(appendedTypes, onChain.subarray(bytes.length))) return undefined;
  return refuseValue(template, onChain, 'immutable_out_of_range', place);
}

/**
 * Compares two bytecodes of equal length: every value is known or read from one offset on chain and applied
 * at all its offsets; then all bytes must be equal. So the recorded values are exactly what was compared.
 * Values must also be valid for their kind, such as a library address at which a library can exist.
 */
function compare(
  template: CodeTemplate,
  explained: readonly ExplainedValue[],
  onChain: Buffer,
): CodeMismatch | undefined {
  const applied = applyValues(template.bytes, explained);
  if (applied.equals(onChain)) return checkValues(template, explained, onChain);
  return describeDifference(template, explained, applied, onChain, 'no_match');
}

/** Builds the mismatch for different lengths. Values are applied as far as the bytecode on chain extends. */
function refuseLength(
  template: CodeTemplate,
  explain: (onChain: Buffer) => readonly ExplainedValue[],
  onChain: Buffer,
): CodeMismatch {
  const reason =
    template.bytes.length === 0 ? 'compiled_bytecode_is_zero' : 'bytecode_length_mismatch';
  const padded = Buffer.alloc(Math.max(onChain.length, template.bytes.length));
  onChain.copy(padded);
  const explained = explain(padded);
  const applied = applyValues(template.bytes, explained);
  return describeDifference(template, explained, applied, onChain, reason);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Judges runtime bytecode whose length differs from the recompiled one: only its ending may differ, and only
 * in a way that metadata settings explain.
 */
function matchDifferentAuxdata(
  template: CodeTemplate,
  explain: (template: CodeTemplate, onChain: Buffer) => readonly ExplainedValue[],
  onChain: Buffer,
): CodeVerdict {
  const hasAppended = (template.appendedImmutableBytes ?? 0) > 0;
  const ending = hasAppended ? undefined : findDifferentTrailer(template, onChain);
  if (ending !== undefined) {
    const shared = {
      ...template,
      bytes: template.bytes.subarray(0, ending.offset),
      auxdata: [],
    };
    const code = onChain.subarray(0, ending.offset);
    const explained = explain(shared, code);
    const mismatch = compare(shared, explained, code);
    if (mismatch === undefined) return record(template, explained, {}, ending);
    if (mismatch.reason !== 'no_match') return { ...mismatch, ...describeCodes(template, onChain) };
  }
  return refuseLength(template, (code) => explain(template, code), onChain);
}

/**
 * Judges the runtime bytecode at an address. It matches if it equals the recompiled bytecode with one address
 * per library, one value per immutable, the contract's own address as call protection and other metadata
 * hashes; for a partial match, also with an ending that other metadata settings produce ({@link
 * findDifferentTrailer}).
 * @throws TypeError if `address` is not an address.
 */
export function matchRuntimeCode(comparison: RuntimeComparison): CodeVerdict {
  const { recompiled: template, libraries } = comparison;
  if (!isAddress(comparison.address)) throw new TypeError('expected an address of 20 bytes');
  const address = hexToBytes(comparison.address);
  const onChain = asBuffer(comparison.onChain);
  const explain = (from: CodeTemplate, code: Buffer): ExplainedValue[] => [
    ...explainCallProtection(from, code, address),
    ...explainLibraries(from, code, libraries),
    ...explainImmutables(from, code, address),
    ...explainAuxdata(from, code),
  ];
  const { appendedImmutableBytes = 0 } = template;
  const { length } = template.bytes;
  if (length === 0 || onChain.length !== length + appendedImmutableBytes) {
    return matchDifferentAuxdata(template, explain, onChain);
  }
  const code = onChain.subarray(0, length);
  const explained = explain(template, code);
  const mismatch = compare(template, explained, code);
  if (mismatch !== undefined) return { ...mismatch, onChainLength: onChain.length };
  const appended = appendedImmutableBytes > 0 ? { immutables: onChain.subarray(length) } : {};
  return record(template, explained, appended);
}

/** Returns the constructor parameters of an ABI; none if it has no constructor. */
function constructorParameters(abi: unknown): readonly AbiParameter[] {
  const entries = Array.isArray(abi) ? (abi as unknown[]) : [];
  const found = entries.find(
    (entry) => (entry as { type?: unknown } | null)?.type === 'constructor',
  ) as { inputs?: readonly AbiParameter[] } | undefined;
  return found?.inputs ?? [];
}

/** From this release on, a constructor reverts if arguments are missing. */
const ARGUMENTS_REQUIRED_SINCE = [0, 5, 0] as const;

/** Returns whether constructors of a compiler version read missing arguments as zeros. */
export function allowsMissingArguments(language: string, version: string): boolean {
  const release = /^\d+\.\d+\.\d+/.exec(version)?.[0];
  return (
    language === 'solidity' &&
    release !== undefined &&
    !isAtLeastRelease(release, ARGUMENTS_REQUIRED_SINCE)
  );
}

/**
 * Judges the creation bytecode of a contract. It matches if it starts with the recompiled bytecode, with one
 * address per library and other metadata hashes, followed only by the strict ABI encoding of the constructor
 * arguments. Immutables are not involved: they get their values while this code runs.
 */
export function matchCreationCode(comparison: CreationComparison): CodeVerdict {
  const { recompiled: template, libraries } = comparison;
  const onChain = asBuffer(comparison.onChain);
  const explain = (code: Buffer): ExplainedValue[] => [
    ...explainLibraries(template, code, libraries),
    ...explainAuxdata(template, code),
  ];
  const { length } = template.bytes;
  if (length === 0 || onChain.length < length) return refuseLength(template, explain, onChain);
  const explained = explain(onChain);
  const code = onChain.subarray(0, length);
  const mismatch = compare(template, explained, code);
  if (mismatch !== undefined) return { ...mismatch, onChainLength: onChain.length };
  const constructorArguments = onChain.subarray(length);
  const isEncoding = comparison.takesMissingArguments === true ? isStrictPrefix : isStrictEncoding;
  if (!isEncoding(constructorParameters(comparison.abi), constructorArguments)) {
    return {
      match: null,
      reason: 'no_match',
      firstDifference: length,
      differingBytes: 0,
      within: 'constructorArguments',
      ...describeCodes(template, code),
      onChainLength: onChain.length,
    };
  }
  return record(template, explained, { constructorArguments });
}
