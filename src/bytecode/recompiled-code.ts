import { FullmatchError } from '../errors.ts';
import { hexToBytes, type Hex } from '../lib/hex.ts';
import { METADATA_HASH_BYTES } from './auxdata.ts';
import { readAuxdataForm } from './auxdata-form.ts';
import { type ImmutableType } from './immutable-type.ts';
import { splitQualifiedName } from '../solidity/library-id.ts';
import {
  hashPlaceholder,
  namePlaceholder,
  PLACEHOLDER_BYTES,
} from '../solidity/library-placeholder.ts';
import { type AppendedType } from './vyper-immutables.ts';

/** A range of a bytecode, in bytes. */
export interface CodeReference {
  readonly start: number;
  readonly length: number;
}

/** Library references: source path -> library -> references, as in solc's output. */
export type LinkReferences = Readonly<
  Record<string, Readonly<Record<string, readonly CodeReference[]>>>
>;

/** Immutable references in runtime bytecode: compiler id -> references. */
export type ImmutableReferences = Readonly<Record<string, readonly CodeReference[]>>;

/**
 * Every located auxdata of a bytecode: id (`1`, `2` and so on, in order of offset) -> offset in bytes and
 * value with its length bytes.
 */
export type AuxdataPositions = Readonly<
  Record<string, { readonly offset: number; readonly value: Hex }>
>;

/** A bytecode from the compiler, with the ranges that may differ on chain. */
export interface RecompiledCode {
  /** Hex without `0x`; a library reference is a placeholder of 40 characters. */
  readonly code: string;
  readonly linkReferences: LinkReferences;
  readonly immutableReferences?: ImmutableReferences;
  /** Types of immutables by id, as far as they are known. */
  readonly immutableTypes?: Readonly<Record<string, ImmutableType>>;
  readonly auxdata: AuxdataPositions;
  /** Number of immutable bytes that the constructor appends to the runtime bytecode, as in Vyper. */
  readonly appendedImmutableBytes?: number;
  /** Types of the appended values, if known. */
  readonly appendedTypes?: readonly AppendedType[];
  /** The release of solc, `0.8.30`, if it was set to append no auxdata (`appendCBOR: false`). */
  readonly omitsAuxdataOf?: string;
}

/** A library's references: `id` is its fully qualified name, `path:Name`. */
export interface LibrarySlots {
  readonly id: string;
  readonly starts: readonly number[];
}

/** An immutable's references, all of one length. */
export interface ImmutableSlots {
  readonly id: string;
  readonly starts: readonly number[];
  readonly length: number;
  /** Absent if unknown. */
  readonly type?: ImmutableType;
}

/** An auxdata of the recompiled bytecode; `hashOffset` counts from the start of the bytecode. */
export interface AuxdataSlot {
  readonly id: string;
  readonly offset: number;
  readonly length: number;
  readonly hashOffset?: number;
}

/** Recompiled bytecode prepared for comparison: bytes with zeros for placeholders, and the slots for values. */
export interface CodeTemplate {
  readonly bytes: Buffer;
  readonly libraries: readonly LibrarySlots[];
  readonly immutables: readonly ImmutableSlots[];
  readonly auxdata: readonly AuxdataSlot[];
  /** Number of immutable bytes that follow on chain; absent if there are none. */
  readonly appendedImmutableBytes?: number;
  readonly appendedTypes?: readonly AppendedType[];
  /** See {@link RecompiledCode.omitsAuxdataOf}. */
  readonly omitsAuxdataOf?: string;
}

/** Length of an address in bytecode. */
export const ADDRESS_BYTES = 20;

function malformed(message: string): FullmatchError {
  return new FullmatchError(
    'malformed_compiler_output',
    `the compiler's output contradicts itself: ${message}`,
  );
}

/**
 * Returns whether the name in a placeholder of 0.4 or earlier ends inside a character, so that JSON cannot
 * represent it.
 */
function isCutCharacter(expected: Buffer): boolean {
  return !Buffer.from(expected.toString('utf8'), 'utf8').equals(expected);
}

/**
 * Returns the bytecode with zeros for every placeholder, each of which must be that of its library. Works on
 * UTF-8: a placeholder of 0.4 or earlier has 40 bytes, and its name may contain non-ASCII letters.
 */
function fillPlaceholders(code: string, libraries: readonly LibrarySlots[]): Buffer {
  const text = Buffer.from(code, 'utf8');
  for (const { id, starts } of libraries) {
    const byName = namePlaceholder(id);
    // Before 0.4.9, without the path.
    const byNameAlone = namePlaceholder(splitQualifiedName(id)[1]);
    const byHash = hashPlaceholder(id);
    for (const start of starts) {
      const slot = text.subarray(2 * start, 2 * start + PLACEHOLDER_BYTES);
      const written = slot.toString('latin1');
      const isNamed = slot.equals(byName) || slot.equals(byNameAlone);
      if (!isNamed && written !== byHash && !/^0{40}$/.test(written)) {
        throw malformed(
          isCutCharacter(byName)
            ? `the name of ${id} is cut within a character`
            : `no placeholder of ${id} at byte ${start}`,
        );
      }
      slot.fill('0');
    }
  }
  const digits = text.toString('latin1');
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(digits)) {
    throw malformed('code that is neither hex nor a listed placeholder');
  }
  return hexToBytes(digits);
}

function readLibraries(references: LinkReferences): LibrarySlots[] {
  return Object.entries(references).flatMap(([path, libraries]) =>
    Object.entries(libraries).map(([name, slots]) => {
      const id = `${path}:${name}`;
      if (slots.some(({ length }) => length !== ADDRESS_BYTES)) {
        throw malformed(`a reference to ${id} that is not as long as an address`);
      }
      return { id, starts: slots.map(({ start }) => start) };
    }),
  );
}

function readImmutables(
  references: ImmutableReferences,
  types: NonNullable<RecompiledCode['immutableTypes']>,
): ImmutableSlots[] {
  return Object.entries(references).flatMap(([id, slots]) => {
    const length = slots[0]?.length;
    if (length === undefined) return [];
    if (length < 1 || slots.some((slot) => slot.length !== length)) {
      throw malformed(`references of unequal length to the immutable ${id}`);
    }
    const type = Object.hasOwn(types, id) ? types[id] : undefined;
    return [{ id, starts: slots.map(({ start }) => start), length, ...(type && { type }) }];
  });
}

function readAuxdatas(positions: AuxdataPositions, bytes: Buffer): AuxdataSlot[] {
  return Object.entries(positions).map(([id, { offset, value }]) => {
    const expected = hexToBytes(value);
    const form = readAuxdataForm(expected);
    if (form === undefined || !bytes.subarray(offset, offset + expected.length).equals(expected)) {
      throw malformed(`no such auxdata at byte ${offset}`);
    }
    return {
      id,
      offset,
      length: expected.length,
      ...(form.hashOffset !== undefined && { hashOffset: offset + form.hashOffset }),
    };
  });
}

/** Requires that slots are within the bytecode and do not overlap: otherwise one value could hide another. */
function requireApart(slots: readonly CodeReference[], length: number): void {
  let end = 0;
  for (const slot of [...slots].sort((left, right) => left.start - right.start)) {
    if (!Number.isInteger(slot.start) || slot.start < end || slot.start + slot.length > length) {
      throw malformed(`a reference at byte ${slot.start} that overlaps or leaves the code`);
    }
    end = slot.start + slot.length;
  }
}

/**
 * Prepares recompiled bytecode for comparison.
 * @throws FullmatchError `malformed_compiler_output` if the references do not fit the bytecode: a missing or
 * different placeholder, references that overlap or are out of bounds, a missing auxdata.
 */
export function toCodeTemplate(recompiled: RecompiledCode): CodeTemplate {
  const libraries = readLibraries(recompiled.linkReferences);
  const { immutableReferences = {}, immutableTypes = {} } = recompiled;
  const immutables = readImmutables(immutableReferences, immutableTypes);
  const bytes = fillPlaceholders(recompiled.code, libraries);
  const auxdata = readAuxdatas(recompiled.auxdata, bytes);
  const slots = [
    ...libraries.flatMap(({ starts }) => starts.map((start) => ({ start, length: ADDRESS_BYTES }))),
    ...immutables.flatMap(({ starts, length }) => starts.map((start) => ({ start, length }))),
    ...auxdata.map(({ offset, length }) => ({ start: offset, length })),
  ];
  requireApart(slots, bytes.length);
  for (const { id, starts, length } of immutables) {
    if (starts.some((start) => bytes.subarray(start, start + length).some((byte) => byte !== 0))) {
      throw malformed(`the immutable ${id} already has a value`);
    }
  }
  const { appendedImmutableBytes, appendedTypes, omitsAuxdataOf } = recompiled;
  return {
    ...{ bytes, libraries, immutables, auxdata },
    ...(appendedImmutableBytes !== undefined && { appendedImmutableBytes }),
    ...(appendedTypes && { appendedTypes }),
    ...(omitsAuxdataOf !== undefined && { omitsAuxdataOf }),
  };
}

const templates = new WeakMap<RecompiledCode, CodeTemplate>();

/**
 * Returns the template of a recompiled bytecode, cached for the lifetime of the bytecode object: one may be
 * compared with thousands on chain.
 * @throws as {@link toCodeTemplate}
 */
export function templateOf(recompiled: RecompiledCode): CodeTemplate {
  const known = templates.get(recompiled);
  if (known !== undefined) return known;
  const template = toCodeTemplate(recompiled);
  templates.set(recompiled, template);
  return template;
}

/** Returns whether the bytecode has an auxdata and all of them contain a metadata hash, as a full match requires. */
export function hasMetadataHashes({ auxdata }: CodeTemplate): boolean {
  return auxdata.length > 0 && auxdata.every(({ hashOffset }) => hashOffset !== undefined);
}

/** Returns the range of the metadata hash in an auxdata slot. */
export function metadataHashRange({ hashOffset }: AuxdataSlot): CodeReference | undefined {
  return hashOffset === undefined ? undefined : { start: hashOffset, length: METADATA_HASH_BYTES };
}
