import {
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { decompress } from 'fzstd';

const compressors = {
  ZSTD: (bytes: Uint8Array, length: number): Uint8Array =>
    decompress(bytes, new Uint8Array(length)),
};

/** The rows of a Parquet file, with timestamps as microseconds and bytes as hex. */
export async function readParquet(path: string): Promise<readonly Record<string, unknown>[]> {
  const file = await asyncBufferFromFile(path);
  const rows: readonly Record<string, unknown>[] = await parquetReadObjects({
    ...{ file, compressors, utf8: false },
    parsers: { timestampFromNanoseconds: (nanos) => nanos / 1000n },
  });
  const plain = (value: unknown): unknown =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
  );
}

/** The columns of a Parquet file with their types, in order. */
export async function readParquetTypes(
  path: string,
): Promise<readonly (readonly [string, string])[]> {
  const schema = parquetSchema(await parquetMetadataAsync(await asyncBufferFromFile(path)));
  return schema.children.map(({ element }) => [
    element.name,
    element.logical_type?.type === 'TIMESTAMP'
      ? `${element.logical_type.isAdjustedToUTC ? 'UTC ' : ''}${element.logical_type.unit}`
      : (element.converted_type ?? String(element.type)),
  ]);
}
