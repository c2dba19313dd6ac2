import { type V2Contract } from '../../../client/src/schemas.ts';
import { isMembers, type Members } from '../../../src/lib/members.ts';

/** A location at which the bytecode on chain differs from the compiler output as expected. */
export interface MarkedLocation {
  /** `replace`, `insert` or `delete`. */
  readonly type: string;
  readonly reason: string;
  /** In bytes. */
  readonly offset: number;
  readonly length: number;
  /** Name of an immutable or a library, or the compiler's id of it. */
  readonly id?: string | undefined;
  /** The bytes on chain in hex; truncated if they are long. */
  readonly value?: string;
  /** The bytes of the code on chain next to it, in hex without `0x`. */
  readonly before: string;
  readonly after: string;
}

/** A compared bytecode: its length on chain, and its marked locations. */
export interface CodeProof {
  readonly bytes: number;
  readonly places: readonly MarkedLocation[];
  /** Number of locations that are not listed. */
  readonly more: number;
}

type WireCode = NonNullable<V2Contract['runtimeBytecode']>;

const PLACES_SHOWN = 200;
const VALUE_CHARACTERS = 300;
/** Bytes shown on each side of a location. */
const AROUND = 8;
const GROUPS: Readonly<Record<string, string>> = {
  ...{ library: 'libraries', immutable: 'immutables', cborAuxdata: 'cborAuxdata' },
};

/**
 * A compared bytecode as the API returns it; undefined if nothing was compared.
 * @param names names of immutables by the compiler's ids
 */
export function proofOf(
  code: WireCode | undefined,
  names: ReadonlyMap<string, string>,
): CodeProof | undefined {
  const { onchainBytecode, transformations, transformationValues } = code ?? {};
  if (!onchainBytecode || !transformations) return undefined;
  const values = transformationValues ?? {};
  const places = transformations
    .slice(0, PLACES_SHOWN)
    .flatMap((each) => placeOf(each, values, onchainBytecode.slice(2)) ?? [])
    .map((place) => ({
      ...place,
      ...(place.reason === 'immutable' && { id: names.get(place.id ?? '') ?? place.id }),
    }));
  return {
    bytes: (onchainBytecode.length - 2) / 2,
    places,
    more: Math.max(0, transformations.length - PLACES_SHOWN),
  };
}

function placeOf(
  { type, reason, offset, id, length }: Members,
  values: Members,
  code: string,
): MarkedLocation | undefined {
  if (typeof type !== 'string' || typeof reason !== 'string' || typeof offset !== 'number') return;
  const group: unknown = values[GROUPS[reason] ?? reason];
  const value = isMembers(group) && typeof id === 'string' ? group[id] : group;
  const text = typeof value === 'string' ? value : undefined;
  const cut = typeof length === 'number' ? length : 0;
  const marked = text === undefined ? 0 : (text.length - 2) / 2;
  const hexOf = (from: number, to: number): string => code.slice(2 * Math.max(0, from), 2 * to);
  return {
    ...{ type, reason, offset },
    length: text === undefined ? cut : marked,
    before: hexOf(offset - AROUND, offset),
    after: hexOf(offset + marked, offset + marked + AROUND),
    ...(typeof id === 'string' && { id }),
    ...(text !== undefined && { value: text.slice(0, VALUE_CHARACTERS) }),
  };
}
