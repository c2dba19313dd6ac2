import * as zlib from 'node:zlib';
import { decompress } from 'fzstd';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { type FieldTable } from '../tables/field-table.ts';
import { type RowKey } from '../tables/read-table.ts';

type Zstd = (bytes: Uint8Array) => Uint8Array;
const zstd = (zlib as { zstdDecompressSync?: Zstd }).zstdDecompressSync;
const compressors = {
  ZSTD: (bytes: Uint8Array, length: number): Uint8Array =>
    zstd === undefined ? decompress(bytes, new Uint8Array(length)) : zstd(bytes),
};
const NANOS_OF_MICRO = 1_000n;
const NUMBER_LENGTH = 20;

/** Yields the row keys of an exported file in order, those of one row group at a time. */
export async function* readKeysOfFile(
  path: string,
  table: FieldTable,
): AsyncGenerator<readonly RowKey[], void, undefined> {
  const { order, lookup, changes } = table;
  const columns = [
    ...new Set([order.at, order.key]),
    ...(lookup === undefined ? [] : [lookup]),
    ...(changes === undefined ? [] : ['updated_at']),
  ];
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  let rowStart = 0;
  for (const { num_rows: rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(rows);
    const read: readonly Record<string, unknown>[] = await parquetReadObjects({
      ...{ file, metadata, columns, compressors, utf8: false, rowStart, rowEnd },
      parsers: { timestampFromNanoseconds: (nanos) => String(nanos / NANOS_OF_MICRO) },
    });
    rowStart = rowEnd;
    yield read.map((row) => ({
      ...{ at: String(row[order.at]), key: textOf(row[order.key]) },
      ...(lookup !== undefined && { lookup: textOf(row[lookup]) }),
      ...(changes !== undefined && { version: String(row['updated_at']) }),
    }));
  }
}

/** A key in SQL's text form, so that keys compare as text. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return typeof value === 'bigint' ? value.toString().padStart(NUMBER_LENGTH, '0') : String(value);
}
