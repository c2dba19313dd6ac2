import { isAddress } from '../lib/address-text.ts';
import { bytesToHex, hexToBytes, type Hex } from '../lib/hex.ts';
import {
  applyValues,
  explainAuxdata,
  explainCallProtection,
  explainImmutables,
  explainLibraries,
  isReservedAddress,
  isUnprotected,
  LIBRARY_ADDRESS_IMMUTABLE,
  type ConfiguredLibraries,
  type Explained,
} from './explained-value.ts';
import { isSelfEvident, isValueOf } from './immutable-type.ts';
import { describeCodes, describeDifference } from './mismatch.ts';
import { findOtherEnding, type OtherEnding } from './other-ending.ts';
import { holdsMetadataHash, type CodeTemplate } from './recompiled-code.ts';
import {
  isStrictEncoding,
  isStrictPrefix,
  type AbiParameter,
} from '../solidity/strict-encoding.ts';
import { isSince } from './release.ts';
import { type Transformation } from './transformation.ts';
import {
  type CodeMatch,
  type CodeMismatch,
  type CodeVerdict,
  type MismatchReason,
} from './verdict.ts';
import { areValuesOf, fill } from './vyper-immutables.ts';

/** What there is to compare for the code that runs. */
interface RuntimeComparison {
  readonly recompiled: CodeTemplate;
  readonly onChain: Uint8Array;
  /** Where the code lives, hex in any case. */
  readonly address: string;
  readonly libraries?: ConfiguredLibraries;
}

/** What there is to compare for the code that created the contract. */
interface CreationComparison {
  readonly recompiled: CodeTemplate;
  /** The whole creation code with its arguments: the transaction's input, or the init code of the create in its trace. */
  readonly onChain: Uint8Array;
  /** The `abi` of the compiler's output. */
  readonly abi: unknown;
  /** Whether the constructor takes zeros for arguments that are missing; see {@link takesMissingArguments}. */
  readonly takesMissingArguments?: boolean;
  readonly libraries?: ConfiguredLibraries;
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

/** The end of the recompiled code is deleted, gives way to the auxdata on chain, or has that behind it. */
function transformationOf({ offset, length, auxdata }: OtherEnding): Transformation {
  const reason = 'cborAuxdata';
  if (auxdata === undefined) return { type: 'delete', reason, offset, length };
  const { id } = auxdata;
  return length === 0
    ? { type: 'insert', reason, offset, id }
    : { type: 'replace', reason, offset, length, id };
}

/** What follows the last byte of the recompiled code on chain. */
interface Appended {
  readonly constructorArguments: Uint8Array;
  readonly immutables: Uint8Array;
}

/** Immutables behind the code are one value: the compiler names none of them. */
const APPENDED_ID = '0';

function record(
  template: CodeTemplate,
  explained: readonly Explained[],
  { constructorArguments, immutables }: Partial<Appended>,
  ending?: OtherEnding,
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
    match: holdsMetadataHash(template) && !isOtherAuxdata ? 'full' : 'partial',
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

/** A value that makes all bytes equal, and still cannot be what this code was given. */
function refuseValue(
  template: CodeTemplate,
  onChain: Buffer,
  reason: MismatchReason,
  { reason: within, id, starts }: Pick<Explained, 'id' | 'reason' | 'starts'>,
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

/** The values are applied, and the bytes are equal: but a value has to be one of its kind. */
function checkValues(
  template: CodeTemplate,
  explained: readonly Explained[],
  onChain: Buffer,
): CodeMismatch | undefined {
  for (const each of explained) {
    const { reason, value } = each;
    if (reason === 'library' && isReservedAddress(value)) {
      return refuseValue(template, onChain, 'library_not_deployed', each);
    }
    if (isUnprotected(each)) {
      return refuseValue(template, onChain, 'call_protection_missing', each);
    }
  }
  return undefined;
}

/**
 * The code that runs where no creation code matches beside it: then nothing shows where its immutables come from. That
 * is enough for a number in its range, whatever it is. It is not for a number outside of it, which only code of the
 * constructor's own writes, nor for a place in the code: the same code, deployed by other creation code with another place
 * in it, does something else. A list or a text that says it is longer than its type allows does so too.
 */
export function requireSelfEvidentValues(
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
    ({ id, type }) => id !== LIBRARY_ADDRESS_IMMUTABLE && !isSelfEvident(type),
  );
  if (pointer === undefined) return verdict;
  const { id, starts } = pointer;
  const place = { reason: 'immutable', id, starts } as const;
  return refuseValue(template, asBuffer(onChain), 'immutable_not_proven', place);
}

/** Values behind the code have no place where they are read alone: each has to be known to be one of its type. */
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
 * The one comparison: every value is known or taken from one place of the code on chain, applied at all its places,
 * and then the bytes are equal or they are not. So what is recorded is what was compared. A value has to be one of its
 * kind as well: a library's address one that a library can have.
 */
function compare(
  template: CodeTemplate,
  explained: readonly Explained[],
  onChain: Buffer,
): CodeMismatch | undefined {
  const applied = applyValues(template.bytes, explained);
  if (applied.equals(onChain)) return checkValues(template, explained, onChain);
  return describeDifference(template, explained, applied, onChain, 'no_match');
}

/** The codes differ in length. Values are applied as far as the code on chain reaches. */
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
  const applied = applyValues(template.bytes, explained);
  return describeDifference(template, explained, applied, onChain, reason);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Judges running code whose length is not that of the recompiled code: only its end may differ, and only as settings of the metadata make it. */
function matchDifferentAuxdata(
  template: CodeTemplate,
  explain: (template: CodeTemplate, onChain: Buffer) => readonly Explained[],
  onChain: Buffer,
): CodeVerdict {
  const hasAppended = (template.appendedImmutableBytes ?? 0) > 0;
  const ending = hasAppended ? undefined : findOtherEnding(template, onChain);
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
 * Judges the code at an address: it matches when the recompiled runtime code, with one address for each library, one
 * value for each immutable, the contract's own address as call protection and other metadata hashes, is that
 * code; and, for a partial match, with the end that other settings of the metadata give it ({@link findOtherEnding}).
 * @throws TypeError when `address` is not an address.
 */
export function matchRuntimeCode(comparison: RuntimeComparison): CodeVerdict {
  const { recompiled: template, libraries } = comparison;
  if (!isAddress(comparison.address)) throw new TypeError('expected an address of 20 bytes');
  const address = hexToBytes(comparison.address);
  const onChain = asBuffer(comparison.onChain);
  const explain = (from: CodeTemplate, code: Buffer): Explained[] => [
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

/** The parameters of the constructor in an ABI: none when it does not name one. */
function constructorParameters(abi: unknown): readonly AbiParameter[] {
  const entries = Array.isArray(abi) ? (abi as unknown[]) : [];
  const found = entries.find(
    (entry) => (entry as { type?: unknown } | null)?.type === 'constructor',
  ) as { inputs?: readonly AbiParameter[] } | undefined;
  return found?.inputs ?? [];
}

/** From this release on a constructor reverts where arguments are missing. */
const ARGUMENTS_REQUIRED_SINCE = [0, 5, 0] as const;

/** Whether constructors of a compiler's version take zeros for arguments that are missing. */
export function takesMissingArguments(language: string, version: string): boolean {
  const release = /^\d+\.\d+\.\d+/.exec(version)?.[0];
  return (
    language === 'solidity' && release !== undefined && !isSince(release, ARGUMENTS_REQUIRED_SINCE)
  );
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
