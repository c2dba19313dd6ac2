import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import * as zlib from 'node:zlib';
import { type SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import {
  type FieldColumn,
  type FieldRow,
  type FieldTable,
  type FieldType,
  type FieldValue,
  timeOf,
} from '../tables/field-table.ts';
import { type RowKey } from '../tables/read-table.ts';

/** Size limits of a row group, which is buffered in memory. */
const GROUP_BYTES = 16 * 2 ** 20;
const GROUP_ROWS = 50_000;
const NANOS_OF_MICRO = 1_000n;

type Zstd = (bytes: Uint8Array) => Uint8Array;
const zstd = (zlib as { zstdCompressSync?: Zstd }).zstdCompressSync;

/** Page compression: Zstandard if this version of Node supports it (22.15 and later), else Snappy. */
const CODEC = zstd === undefined ? 'SNAPPY' : 'ZSTD';

const TYPES: Readonly<Record<FieldType, Partial<SchemaElement>>> = {
  binary: { type: 'BYTE_ARRAY' },
  boolean: { type: 'BOOLEAN' },
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  timestamp: {
    type: 'INT64',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'NANOS' },
  },
};

const schemaOf = (columns: readonly FieldColumn[]): SchemaElement[] => [
  { name: 'schema', num_children: columns.length },
  ...columns.map(({ name, type }) => ({
    name,
    ...{ repetition_type: 'OPTIONAL' as const, ...TYPES[type] },
  })),
];

const VALUES: Readonly<Record<FieldType, (value: FieldValue) => unknown>> = {
  binary: (value) => value,
  boolean: (value) => value,
  int32: Number,
  int64: (value) => BigInt(String(value)),
  string: (value) => value,
  timestamp: (value) => BigInt(String(value)) * NANOS_OF_MICRO,
};

/** Statistics of a file. */
export interface WrittenFile {
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Sum of {@link RowSum} over its rows. */
  readonly checksum: string;
  /** Keys of the first and last row, each a time and a tie-breaker; null if the file is empty. */
  readonly minKey: readonly [string, string] | null;
  readonly maxKey: readonly [string, string] | null;
}

/** XOR of the SHA-256 hashes of rows: independent of their order and of how they are split into files. */
export class RowSum {
  readonly #sum = Buffer.alloc(32);

  add(row: FieldRow): void {
    const hash = createHash('sha256');
    const head = Buffer.alloc(5);
    for (const value of row) {
      const bytes = Buffer.isBuffer(value)
        ? value
        : Buffer.from(value === null ? '' : String(value));
      head.writeUInt8(value === null ? 0 : 1, 0);
      head.writeUInt32BE(bytes.length, 1);
      hash.update(head).update(bytes);
    }
    this.#mix(hash.digest());
  }

  /** Adds another sum. */
  addSum(sum: string): void {
    this.#mix(Buffer.from(sum, 'hex'));
  }

  #mix(other: Buffer): void {
    for (let at = 0; at < this.#sum.length; at += 1) {
      this.#sum.writeUInt8(this.#sum.readUInt8(at) ^ other.readUInt8(at), at);
    }
  }

  toString(): string {
    return this.#sum.toString('hex');
  }
}

/** Writes a Parquet file one row group at a time. Equal rows give equal bytes. */
export class ParquetFile {
  readonly path: string;
  readonly #columns: readonly FieldColumn[];
  readonly #handle: FileHandle;
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  readonly #hash: Hash = createHash('sha256');
  readonly #sum = new RowSum();
  #group: FieldRow[] = [];
  #groupBytes = 0;
  #rows = 0;
  #first: RowKey | undefined;
  #last: RowKey | undefined;

  private constructor(path: string, handle: FileHandle, { columns }: FieldTable) {
    this.path = path;
    this.#handle = handle;
    this.#columns = columns;
    this.#writer = new ParquetWriter({
      ...{ writer: this.#bytes, schema: schemaOf(columns), codec: CODEC, createdBy: 'fullmatch' },
      ...(zstd !== undefined && { compressors: { ZSTD: zstd } }),
    });
  }

  /** Opens a file and truncates an existing one. */
  static async open(path: string, table: FieldTable): Promise<ParquetFile> {
    return new ParquetFile(path, await open(path, 'w'), table);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Appends a row. */
  async add(key: RowKey, row: FieldRow): Promise<void> {
    this.#first ??= key;
    this.#last = key;
    this.#rows += 1;
    this.#sum.add(row);
    this.#group.push(row);
    for (const value of row) this.#groupBytes += sizeOf(value);
    if (this.#groupBytes >= GROUP_BYTES || this.#group.length >= GROUP_ROWS) await this.#endGroup();
  }

  async #endGroup(): Promise<void> {
    const group = this.#group;
    if (group.length === 0) return;
    const columnData = this.#columns.map(({ name, type }, index) => ({
      name,
      data: group.map((row) => {
        const value = row[index] ?? null;
        return value === null ? null : VALUES[type](value);
      }),
    }));
    void this.#writer.write({ columnData, rowGroupSize: group.length });
    this.#group = [];
    this.#groupBytes = 0;
    await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = this.#bytes.getBytes();
    this.#hash.update(bytes);
    await this.#handle.writeFile(bytes);
    this.#bytes.index = 0;
  }

  /** Writes the footer; the file is invalid before that. */
  async end(): Promise<WrittenFile> {
    await this.#endGroup();
    void this.#writer.finish();
    await this.#flush();
    await this.#handle.sync();
    await this.#handle.close();
    return {
      ...{ rows: this.#rows, bytes: this.#bytes.offset, sha256: this.#hash.digest('hex') },
      checksum: String(this.#sum),
      ...{ minKey: keyPair(this.#first), maxKey: keyPair(this.#last) },
    };
  }

  /** Closes and deletes the file. */
  async giveUp(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await rm(this.path, { force: true });
  }
}

const keyPair = (key: RowKey | undefined): readonly [string, string] | null =>
  key === undefined ? null : [timeOf(key.at), key.key];

/** Approximate size of a value in bytes. */
function sizeOf(value: FieldValue): number {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.length + 4 : 8;
}
