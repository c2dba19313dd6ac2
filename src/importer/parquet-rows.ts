import * as zlib from 'node:zlib';
import { decompress } from 'fzstd';
import {
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
} from 'hyparquet';
import { CopyRows } from '../store/copy-rows.ts';

/** PostgreSQL type of a staged column. */
export type ParquetType = 'bigint' | 'boolean' | 'bytea' | 'json' | 'text' | 'timestamp' | 'uuid';

/** Requested rows of a file, starting at an index. */
export interface ParquetReadRequest {
  readonly path: string;
  readonly columns: Readonly<Record<string, ParquetType>>;
  /** Columns that a file may omit. */
  readonly optional: readonly string[];
  readonly from: number;
}

/** The rows of one read, or what is wrong with the file. */
export type ParquetReadResult =
  | {
      /** Rows in the whole file. */
      readonly total: number;
      /** Rows in each response except the last. */
      readonly rowsAtOnce: number;
      readonly count: number;
      /** The rows in COPY's binary format. */
      readonly bytes: Uint8Array;
    }
  | { readonly fault: string };

const MAX_ROWS = 50_000_000;
const MAX_PAGE_BYTES = 2 ** 30;
/** Maximum size of a response, by the size that the file declares; a row group may exceed it. */
const BYTES_AT_ONCE = 32 * 2 ** 20;
const ROWS_AT_ONCE = [100, 20_000] as const;

/** Reads rows of a Parquet file and encodes them for COPY. A defect of the file is returned, not thrown. */
export async function readParquetRows(question: ParquetReadRequest): Promise<ParquetReadResult> {
  try {
    return await readRows(question);
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

async function readRows({
  path,
  columns,
  optional,
  from,
}: ParquetReadRequest): Promise<ParquetReadResult> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const there = requireColumns(metadata, Object.keys(columns), optional);
  const total = Number(metadata.num_rows);
  if (!(total >= 0 && total <= MAX_ROWS)) throw new RangeError(`it says that it has ${total} rows`);
  const rowsAtOnce = chooseRows(metadata, total);
  const rowEnd = Math.min(total, from + rowsAtOnce);
  const rows =
    rowEnd <= from
      ? []
      : await parquetReadObjects({
          ...{ file, metadata, rowStart: from, rowEnd, columns: there },
          compressors: { ZSTD: decompressPage },
          // Binary columns stay bytes; text columns are marked as UTF8.
          utf8: false,
        });
  if (rows.length !== Math.max(0, rowEnd - from)) throw new RangeError('it lacks rows');
  const copied = new CopyRows();
  const all = Object.entries(columns);
  for (const row of rows as readonly Readonly<Record<string, unknown>>[]) {
    copied.begin(all.length);
    for (const [name, type] of all) writeValue(copied, row[name], type, name);
  }
  return { total, rowsAtOnce, count: rows.length, bytes: copied.take() };
}

function chooseRows({ row_groups: groups }: FileMetaData, total: number): number {
  const bytes = groups.reduce((sum, group) => sum + Number(group.total_byte_size), 0);
  const [fewest, most] = ROWS_AT_ONCE;
  const wanted = Math.floor(BYTES_AT_ONCE / Math.max(1, bytes / Math.max(1, total)));
  return Math.max(fewest, Math.min(most, Number.isFinite(wanted) ? wanted : fewest));
}

/** The columns that the file has; only optional ones may be missing. */
function requireColumns(
  { schema }: FileMetaData,
  columns: readonly string[],
  optional: readonly string[],
): string[] {
  const there = new Set(schema.map(({ name }) => name));
  const missing = columns.filter((column) => !there.has(column) && !optional.includes(column));
  if (missing.length > 0) throw new TypeError(`it has no column ${missing.join(', ')}`);
  return columns.filter((column) => there.has(column));
}

/** Node has Zstandard from 22.15 on, which is much faster. */
const { zstdDecompressSync } = zlib as {
  readonly zstdDecompressSync?: (bytes: Uint8Array, limit: { maxOutputLength: number }) => Buffer;
};

function decompressPage(input: Uint8Array, length: number): Uint8Array {
  if (!(length >= 0 && length <= MAX_PAGE_BYTES)) throw new RangeError(`a page of ${length} bytes`);
  if (zstdDecompressSync === undefined) return decompress(input, new Uint8Array(length));
  return zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) });
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MAX_BIGINT = 2n ** 63n;
const isText = (value: unknown): value is string =>
  typeof value === 'string' && !value.includes('\0');
const isBigint = (value: unknown): value is bigint | number =>
  Number.isSafeInteger(value) ||
  (typeof value === 'bigint' && value >= -MAX_BIGINT && value < MAX_BIGINT);

/** Writes a value; a value that does not fit the column type is a defect of the file. */
function writeValue(rows: CopyRows, value: unknown, type: ParquetType, name: string): void {
  // The writer of the field's exports turns NULL in a JSON column into the text `null`.
  if (value === null || value === undefined || (type === 'json' && value === 'null')) {
    rows.nothing();
  } else if (type === 'bytea' && value instanceof Uint8Array) rows.bytes(value);
  else if ((type === 'json' || type === 'text') && isText(value)) rows.text(value);
  else if (type === 'bigint' && isBigint(value)) rows.bigint(value);
  else if (type === 'boolean' && typeof value === 'boolean') rows.boolean(value);
  else if (type === 'uuid' && typeof value === 'string' && UUID.test(value)) rows.uuid(value);
  else if (type === 'timestamp' && value instanceof Date && Number.isFinite(value.getTime())) {
    rows.timestamp(value.getTime());
  } else throw new TypeError(`a value of its column ${name} is no ${type}`);
}
