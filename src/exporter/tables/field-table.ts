/** Definition of an exported table: name, columns, row order and rows in a Parquet file. */
export type FieldType = 'binary' | 'boolean' | 'int32' | 'int64' | 'string' | 'timestamp';

/** A column value from SQL: bytes, boolean or text; a timestamp is microseconds since 1970. */
export type FieldValue = Buffer | boolean | string | null;

/** A row, with values in column order. */
export type FieldRow = readonly FieldValue[];

/** A column of a table. */
export interface FieldColumn {
  readonly name: string;
  readonly type: FieldType;
  /** PostgreSQL type. */
  readonly sqlType: string;
  /** SQL expression of the value, evaluated `FROM` {@link FieldTable.from}. */
  readonly value: string;
  /** Conversion that SQL cannot do. */
  readonly finish?: (value: FieldValue) => FieldValue;
}

/** A table of the field's schema, or an extra table of Fullmatch. */
export interface FieldTable {
  readonly name: string;
  readonly columns: readonly FieldColumn[];
  /** Columns that order the rows: a time and a tie-breaker. */
  readonly order: { readonly at: string; readonly key: string };
  /** A column needed to look up a row by its key. */
  readonly lookup?: string;
  /** Whether rows can change; `updated_at` then holds the time of the last change. */
  readonly changes?: true;
  /**
   * SQL over `scope` that yields `at`, `key`, and `lookup` and `version` if the table has them, once for each
   * row. PostgreSQL must order `key` as the bytes of its text.
   */
  readonly keys: string;
  /** SQL that formats `key` as text. */
  readonly keyText: string;
  /** SQL that finds the rows of `wanted (key, at, lookup)`. */
  readonly from: string;
  readonly rowsPerFile: number;
  /** Rows read at once; those of sources and compilations can be several megabytes each. */
  readonly rowsAtOnce: number;
}

/** A time as microseconds since 1970, in SQL. */
export const microsOf = (time: string): string => `(extract(epoch FROM ${time}) * 1000000)::bigint`;

/** Formats microseconds since 1970 as UTC, such as `2026-01-02T03:04:05.678901Z`. The texts sort like the times. */
export function timeOf(micros: string): string {
  const value = BigInt(micros);
  const rest = ((value % 1_000n) + 1_000n) % 1_000n;
  const millis = new Date(Number((value - rest) / 1_000n)).toISOString().slice(0, -1);
  return `${millis}${rest.toString().padStart(3, '0')}Z`;
}

const SQL_TYPES: Readonly<Record<FieldType, string>> = {
  binary: 'bytea',
  boolean: 'boolean',
  int32: 'numeric',
  int64: 'bigint',
  string: 'varchar',
  timestamp: 'timestamptz',
};

function column(type: FieldType, read: (value: string) => string) {
  return (name: string, value: string = name, sqlType = SQL_TYPES[type]): FieldColumn => ({
    ...{ name, type, sqlType, value: read(value) },
  });
}

export const binary = column('binary', (value) => value);
export const boolean = column('boolean', (value) => value);
export const int32 = column('int32', (value) => `(${value})::text`);
export const int64 = column('int64', (value) => `(${value})::text`);
export const string = column('string', (value) => `(${value})::text`);
export const timestamp = column('timestamp', (value) => `${microsOf(value)}::text`);
export const uuid = (name: string, value = name): FieldColumn => string(name, value, 'uuid');
export const json = (name: string, value = name): FieldColumn => string(name, value, 'jsonb');

/** Author and time of a row. */
export const audit = (table: string): readonly FieldColumn[] => [
  timestamp('created_at', `${table}.created_at`),
  timestamp('updated_at', `${table}.updated_at`),
  string('created_by', `${table}.created_by`),
  string('updated_by', `${table}.updated_by`),
];
