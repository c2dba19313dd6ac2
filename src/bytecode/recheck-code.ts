import { isMembers, type Members, membersOf } from '../lib/members.ts';
import { readTrailingAuxdata } from './auxdata.ts';
import { isReservedRange } from './reserved-ranges.ts';
import { replayTransformations, type Transformation } from './transformation.ts';

/**
 * An imported description of a bytecode: both versions of it, and the transformations between them. None of
 * it is trusted to be well-formed.
 */
export interface ImportedBytecode {
  readonly side: 'creation' | 'runtime';
  /** Lower-case hex: the runtime bytecode of a library contains its own address. */
  readonly address: string;
  readonly recompiled: Uint8Array;
  readonly onChain: Uint8Array;
  readonly transformations: unknown;
  readonly values: unknown;
  /** linkReferences, immutableReferences and cborAuxdata: the ranges that may differ according to the compiler. */
  readonly artifacts: unknown;
  readonly isFull: boolean;
}

/**
 * Why an imported bytecode is rejected. `codes_differ`: the transformations are malformed, or do not turn the
 * recompiled bytecode into the one on chain. `unexplained_difference`: they do, but change a range that may
 * not differ according to the compiler. `metadata_replaced`: a full match is claimed, but a metadata hash was
 * replaced.
 */
export type DeliveredFault = 'codes_differ' | 'unexplained_difference' | 'metadata_replaced';

interface Place {
  readonly start: number;
  readonly length: number;
}

const ADDRESS_BYTES = 20;
const CALL_PROTECTION_OFFSET = 1;
const BYTES = /^0x(?:[0-9a-fA-F]{2})*$/;
const isBytes = (value: unknown): value is string => typeof value === 'string' && BYTES.test(value);
const MEMBERS = new Set(['type', 'reason', 'offset', 'length', 'id']);

/**
 * Checks an imported bytecode without a compiler: every transformation must be allowed for its reason and be
 * at a range that may differ according to the compiler, and together they must turn the recompiled bytecode
 * into the one on chain, byte for byte.
 * @returns undefined if it is valid
 */
export function validateImportedBytecode(code: ImportedBytecode): DeliveredFault | undefined {
  const { transformations, values } = code;
  if (!Array.isArray(transformations) || !isMembers(values)) return 'codes_differ';
  if (!transformations.every(isTransformation)) return 'codes_differ';
  try {
    const replayed = replayTransformations(code.recompiled, transformations, values);
    if (!replayed.equals(code.onChain)) return 'codes_differ';
  } catch {
    // A value is missing or malformed, or an offset is outside the bytecode.
    return 'codes_differ';
  }
  const places = placesOf(code.artifacts);
  if (!transformations.every((each) => isExplained(each, code, places)))
    return 'unexplained_difference';
  const isReplaced = transformations.some(({ reason }) => reason === 'cborAuxdata');
  return code.isFull && isReplaced ? 'metadata_replaced' : undefined;
}

function isTransformation(value: unknown): value is Transformation {
  if (!isMembers(value) || !Object.keys(value).every((key) => MEMBERS.has(key))) return false;
  const { type, reason, offset, length, id } = value;
  return (
    typeof type === 'string' &&
    typeof reason === 'string' &&
    Number.isSafeInteger(offset) &&
    (length === undefined || Number.isSafeInteger(length)) &&
    (id === undefined || typeof id === 'string')
  );
}

/** Returns whether bytes may differ at that offset for that reason, and in that number. */
function isExplained(
  transformation: Transformation,
  code: ImportedBytecode,
  places: Places,
): boolean {
  const { type, reason, offset, id } = transformation;
  const { length } = code.recompiled;
  const width = widthOf(transformation, code.values as Members);
  if (reason !== 'constructorArguments' && !isReservedRange(code.recompiled, transformation, width))
    return false;
  switch (reason) {
    case 'constructorArguments':
      return code.side === 'creation' && type === 'insert' && offset === length;
    case 'library':
      return type === 'replace' && width === ADDRESS_BYTES && places.libraries.has(offset);
    case 'immutable':
      if (code.side !== 'runtime') return false;
      if (type === 'insert') return offset === length;
      return type === 'replace' && places.immutables.has(`${offset} ${width ?? ''} ${id ?? ''}`);
    case 'callProtection':
      return (
        code.side === 'runtime' &&
        type === 'replace' &&
        offset === CALL_PROTECTION_OFFSET &&
        String((code.values as Members)['callProtection']).toLowerCase() === code.address
      );
    case 'cborAuxdata':
      return isAuxdata(transformation, width, code, places);
    default:
      return false;
  }
}

function isAuxdata(
  { type, offset, length, id }: Transformation,
  width: number | undefined,
  { recompiled }: ImportedBytecode,
  { auxdata }: Places,
): boolean {
  if (type === 'insert') return false;
  const known = membersOf(auxdata[id ?? '']);
  const value = known['value'];
  const trailing = readTrailingAuxdata(recompiled);
  // A deletion has no id, and older writers list no positions: then it is the auxdata at the end.
  const place =
    known['offset'] === offset && isBytes(value)
      ? { start: offset, length: (value.length - 2) / 2 }
      : trailing && { start: trailing.offset, length: recompiled.length - trailing.offset };
  return place?.start === offset && place.length === (length ?? width);
}

function widthOf({ reason, id, type }: Transformation, values: Members): number | undefined {
  if (type === 'delete') return undefined;
  const keys = { library: 'libraries', immutable: 'immutables', cborAuxdata: 'cborAuxdata' };
  const value =
    reason === 'constructorArguments' || reason === 'callProtection'
      ? values[reason]
      : membersOf(values[keys[reason]])[id ?? ''];
  return isBytes(value) ? (value.length - 2) / 2 : undefined;
}

function placesIn(value: unknown): readonly Place[] {
  if (!Array.isArray(value)) return [];
  return value.filter(
    (place): place is Place =>
      isMembers(place) &&
      Number.isSafeInteger(place['start']) &&
      Number.isSafeInteger(place['length']),
  );
}

/** Ranges that may differ according to the compiler. */
interface Places {
  /** Offsets of library addresses. */
  readonly libraries: ReadonlySet<number>;
  /** `offset length id` of each immutable. */
  readonly immutables: ReadonlySet<string>;
  readonly auxdata: Members;
}

function placesOf(artifacts: unknown): Places {
  const { linkReferences, immutableReferences, cborAuxdata } = membersOf(artifacts);
  const libraries = Object.values(membersOf(linkReferences))
    .flatMap((named) => Object.values(membersOf(named)))
    .flatMap(placesIn);
  const immutables = Object.entries(membersOf(immutableReferences)).flatMap(([id, references]) =>
    placesIn(references).map(({ start, length }) => `${start} ${length} ${id}`),
  );
  return {
    libraries: new Set(libraries.map(({ start }) => start)),
    immutables: new Set(immutables),
    auxdata: membersOf(cborAuxdata),
  };
}
