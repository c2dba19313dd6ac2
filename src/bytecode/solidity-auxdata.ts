import { hexToBytes } from '../lib/hex.ts';
import { isMembers, type Members, membersOf } from '../lib/members.ts';
import { readAuxdataAt } from './auxdata.ts';
import { findChangedAuxdatas, findAllOffsets, toPositions } from './auxdata-positions.ts';
import {
  type AuxdataReader,
  type AuxdataReading,
  type CompiledCode,
  type CompiledContract,
  type EditableInput,
} from './compiled-contract.ts';
import { APPEND_CBOR_SINCE } from './different-trailer.ts';
import { isAtLeastRelease } from './release.ts';
import { toCodeTemplate, type AuxdataPositions, type CodeReference } from './recompiled-code.ts';

/** An object of `evm.legacyAssembly`: `.code`, `.data` with nested assemblies, and `.auxdata` from 0.4.12 on. */
type Assembly = Members;

function partsOf(assembly: Assembly): Assembly {
  return membersOf(assembly['.data']);
}

/** Returns every `.auxdata` of an assembly and its nested assemblies. */
function auxdatasOf(assembly: unknown): string[] {
  if (!isMembers(assembly)) return [];
  const own = assembly['.auxdata'];
  return [
    ...(typeof own === 'string' ? [own] : []),
    ...Object.values(partsOf(assembly)).flatMap(auxdatasOf),
  ];
}

/** Returns the contract's own auxdata: that of assembly `0` of the creation bytecode, which is the runtime bytecode. */
function ownAuxdata(assembly: unknown): Buffer | undefined {
  const runtime = isMembers(assembly) ? partsOf(assembly)['0'] : undefined;
  const own = isMembers(runtime) ? runtime['.auxdata'] : undefined;
  return typeof own === 'string' ? hexToBytes(own) : undefined;
}

function holdsHash(auxdata: Buffer): boolean {
  return readAuxdataAt(auxdata, 0)?.metadataHash !== undefined;
}

/** Returns the bytes with zeros for library placeholders. */
function bytesOf({ object, linkReferences = {} }: CompiledCode): Buffer {
  return toCodeTemplate({ code: object, linkReferences, auxdata: {} }).bytes;
}

/**
 * Reads a bytecode without nested contracts: its own auxdata ends the runtime bytecode and occurs at most
 * once in the creation bytecode.
 */
function readAlone({ evm }: CompiledContract, auxdata: Buffer): AuxdataReading {
  const runtime = bytesOf(evm.deployedBytecode);
  const creation = bytesOf(evm.bytecode);
  const start = runtime.length - auxdata.length;
  const isAuxdata = readAuxdataAt(auxdata, 0)?.length === auxdata.length;
  if (!isAuxdata || start < 0 || !runtime.subarray(start).equals(auxdata)) {
    return { state: 'unlocated' };
  }
  const occurrences = findAllOffsets(auxdata, creation);
  // An auxdata without a hash cannot differ, so if it occurs more than once, all occurrences are treated as
  // ordinary code.
  if (occurrences.length > 1 && holdsHash(auxdata)) return { state: 'edit_needed' };
  const located = occurrences.length === 1 ? occurrences : [];
  const at = (offset: number): CodeReference => ({ start: offset, length: auxdata.length });
  return {
    state: 'located',
    runtime: toPositions(runtime, [at(start)]),
    creation: toPositions(creation, located.map(at)),
  };
}

function readChanged(code: CompiledCode, edited: CompiledCode): AuxdataPositions | undefined {
  const bytes = bytesOf(code);
  const stretches = findChangedAuxdatas(bytes, bytesOf(edited));
  return stretches && toPositions(bytes, stretches);
}

/** Returns whether the positions agree with the auxdata that the compiler lists, if it lists any. */
function agrees(positions: AuxdataPositions, listed: ReadonlySet<string>): boolean {
  return (
    listed.size === 0 || Object.values(positions).every(({ value }) => listed.has(value.slice(2)))
  );
}

function readBoth(compiled: CompiledContract, edited: CompiledContract): AuxdataReading {
  const runtime = readChanged(compiled.evm.deployedBytecode, edited.evm.deployedBytecode);
  const creation = readChanged(compiled.evm.bytecode, edited.evm.bytecode);
  const assembly = compiled.evm.legacyAssembly;
  const listed = new Set(auxdatasOf(assembly));
  if (!runtime || !creation || !agrees(runtime, listed) || !agrees(creation, listed)) {
    return { state: 'unlocated' };
  }
  const own = ownAuxdata(assembly);
  const length = bytesOf(compiled.evm.deployedBytecode).length;
  const isOwnFound =
    own === undefined ||
    !holdsHash(own) ||
    Object.values(runtime).some(({ offset }) => offset + own.length === length);
  if (!isOwnFound) return { state: 'unlocated' };
  // From 0.8.18 on, the compiler lists every auxdata.
  const [release = ''] = (compiled.version ?? '').split('+');
  const isWithout =
    listed.size === 0 && isMembers(assembly) && isAtLeastRelease(release, APPEND_CBOR_SINCE);
  return { state: 'located', runtime, creation, ...(isWithout && { omitsAuxdataOf: release }) };
}

/**
 * Reader for Solidity. From 0.4.12 on, `evm.legacyAssembly` lists the auxdata of a contract without
 * positions; a contract without nested contracts has one, at a known position. If there are several, or none
 * is listed (by 0.4.7 to 0.4.11, or with `appendCBOR: false`), only a second compilation shows which bytes
 * depend on the metadata.
 */
export const solidityAuxdataReader: AuxdataReader = {
  changeMetadata<Input extends EditableInput>(input: Input): Input {
    // Appends a space: the metadata contains the keccak256 of each source, and its length does not appear in
    // the bytecode.
    const sources = Object.entries(input.sources).map(([path, source]) => [
      path,
      source.content === undefined ? source : { ...source, content: `${source.content} ` },
    ]);
    return { ...input, sources: Object.fromEntries(sources) as Input['sources'] };
  },

  read(compiled, edited) {
    if (edited !== undefined) return readBoth(compiled, edited);
    const assembly = compiled.evm.legacyAssembly;
    const own = ownAuxdata(assembly);
    const all = auxdatasOf(assembly).map((auxdata) => hexToBytes(auxdata));
    const isAlone = all.length === 1 || (all.length > 0 && !all.some(holdsHash));
    return own !== undefined && isAlone ? readAlone(compiled, own) : { state: 'edit_needed' };
  },
};
