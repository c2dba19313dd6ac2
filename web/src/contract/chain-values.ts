import { type DescribedValue, type V2Contract } from '../../../client/src/schemas.ts';

/** A value in a row of a table. */
export interface ValueRow {
  /** Path of a value, also within lists and tuples: `key.fees[0]`; empty if it has no name. */
  readonly name: string;
  readonly type: string;
  /** Truncated if it is long. */
  readonly value: string;
  /** Whether the value is an address, and so links to a contract. */
  readonly isAddress: boolean;
}

/** Values of a contract that only the chain knows. */
export interface ChainValues {
  /** Absent if there are none. */
  readonly constructorArguments?: {
    /** Absent if they could not be decoded. */
    readonly rows?: readonly ValueRow[];
    readonly more: number;
    /** Hex to copy; absent if it is long. */
    readonly data?: string;
    readonly bytes: number;
  };
  readonly immutables: ShownRows;
  readonly libraries: ShownRows;
}

/** The first few values. */
export interface ShownRows {
  readonly rows: readonly ValueRow[];
  readonly total: number;
}

const ROWS_SHOWN = 100;
const VALUE_CHARACTERS = 400;
const NAME_CHARACTERS = 200;
const DATA_CHARACTERS = 10_000;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** Values of a contract as the API returns them; undefined if they were not requested, or there are none. */
export function valuesOf(values: V2Contract['values']): ChainValues | undefined {
  const { constructorArguments: given, immutables = [], libraries = [] } = values ?? {};
  const all: ChainValues = {
    ...(given && { constructorArguments: argumentsOf(given) }),
    immutables: {
      total: immutables.length,
      rows: immutables
        .slice(0, ROWS_SHOWN)
        .map(({ id, name, type, data, value }) =>
          toRow(name ?? `number ${id}`, type ?? 'not known', value ?? data),
        ),
    },
    libraries: {
      total: libraries.length,
      rows: libraries
        .slice(0, ROWS_SHOWN)
        .map(({ name, address }) => toRow(name, 'library', address)),
    },
  };
  const isEmpty = !given && immutables.length === 0 && libraries.length === 0;
  return isEmpty ? undefined : all;
}

type Given = NonNullable<NonNullable<V2Contract['values']>['constructorArguments']>;

function argumentsOf({ data, decoded }: Given): NonNullable<ChainValues['constructorArguments']> {
  const rows = decoded === null ? [] : [...flatten(decoded, '')];
  return {
    ...(decoded !== null && { rows: rows.slice(0, ROWS_SHOWN) }),
    more: Math.max(0, rows.length - ROWS_SHOWN),
    ...(data.length <= DATA_CHARACTERS && { data }),
    bytes: (data.length - 2) / 2,
  };
}

function* flatten(values: readonly DescribedValue[], within: string): Generator<ValueRow> {
  for (const { name, type, value, members } of values) {
    const place =
      within === '' || /^\d+$/.test(name)
        ? `${within}${listed(within, name)}`
        : `${within}.${name}`;
    if (members === undefined) yield toRow(place, type, value ?? '');
    else if (members.length === 0) yield toRow(place, type, 'none');
    else yield* flatten(members, place);
  }
}

const listed = (within: string, name: string): string => (within === '' ? name : `[${name}]`);

function toRow(name: string, type: string, value: string): ValueRow {
  const isCut = value.length > VALUE_CHARACTERS;
  return {
    name: name.slice(0, NAME_CHARACTERS),
    type,
    value: isCut ? `${value.slice(0, VALUE_CHARACTERS)}…` : value,
    isAddress: ADDRESS.test(value) && /^(?:address|contract|library)\b/.test(type),
  };
}
