/** How the field's tables are written: their names, columns, order and the size of their files in Parquet. */
export type FieldType = 'binary' | 'boolean' | 'int32' | 'int64' | 'string' | 'timestamp';

/** A column as SQL gives it: bytes, true or false, or text; a timestamp as microseconds since 1970. */
export type FieldValue = Buffer | boolean | string | null;

/** A row in the order of its table's columns. */
export type FieldRow = readonly FieldValue[];

/** A column of a table. */
export interface FieldColumn {
  readonly name: string;
  readonly type: FieldType;
  /** What PostgreSQL calls its type. */
  readonly sqlType: string;
  /** Its value in SQL, read `FROM` {@link FieldTable.from}. */
  readonly value: string;
  /** What SQL cannot do with it. */
  readonly finish?: (value: FieldValue) => FieldValue;
}

/** A table of the field, or one of ours beside them. */
export interface FieldTable {
  readonly name: string;
  readonly columns: readonly FieldColumn[];
  /** The columns that give the order of rows: a time, and what tells rows of one time apart. */
  readonly order: { readonly at: string; readonly key: string };
  /** A column that is needed to find a row by its key. */
  readonly lookup?: string;
  /** Whether a row may change; its column `updated_at` then says when. */
  readonly changes?: true;
  /**
   * SQL over `scope` that gives `at`, `key`, and `lookup` and `version` where the table has them, of each row once. `key` is of
   * a type that PostgreSQL orders as the bytes of its text.
   */
  readonly keys: string;
  /** How `key` is written as text. */
  readonly keyText: string;
  /** SQL that finds the rows of `wanted (key, at, lookup)`. */
  readonly from: string;
  readonly rowsPerFile: number;
  /** Rows that are read at once: those of sources and compilations may be of megabytes. */
  readonly rowsAtOnce: number;
}

/** Microseconds since 1970 of a time in SQL. */
export const microsOf = (time: string): string => `(extract(epoch FROM ${time}) * 1000000)::bigint`;

/** Microseconds since 1970 as a time in UTC, such as `2026-01-02T03:04:05.678901Z`; such texts compare as the times do. */
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

/** Who wrote a row, and when. */
export const audit = (table: string): readonly FieldColumn[] => [
  timestamp('created_at', `${table}.created_at`),
  timestamp('updated_at', `${table}.updated_at`),
  string('created_by', `${table}.created_by`),
  string('updated_by', `${table}.updated_by`),
];
