const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
const FIRST_BYTES = 64 * 1024;
const NULL_LENGTH = -1;

/** Header and trailer of `COPY … FROM STDIN (FORMAT binary)`. */
export const COPY_BEGIN: Buffer = Buffer.concat([SIGNATURE, Buffer.alloc(8)]);
export const COPY_END: Buffer = Buffer.from([0xff, 0xff]);

/**
 * Builds rows in PostgreSQL's binary COPY format (its manual, COPY, "Binary Format"): bytes and text are
 * copied unchanged, so megabytes of sources are neither escaped nor hex-encoded. Each row starts with {@link
 * CopyRows.begin}, followed by one call for each column.
 */
export class CopyRows {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;

  /** Bytes so far: the offset of the next row. */
  get length(): number {
    return this.#length;
  }

  begin(columns: number): this {
    this.#reserve(2);
    this.#length = this.#bytes.writeInt16BE(columns, this.#length);
    return this;
  }

  nothing(): this {
    this.#reserve(4);
    this.#length = this.#bytes.writeInt32BE(NULL_LENGTH, this.#length);
    return this;
  }

  /** A column of type bytea. */
  bytes(value: Uint8Array | null | undefined): this {
    if (value === null || value === undefined) return this.nothing();
    this.#open(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  /** A column of type text, varchar or an enumeration. */
  text(value: string | null | undefined): this {
    if (value === null || value === undefined) return this.nothing();
    const length = Buffer.byteLength(value);
    this.#open(length);
    this.#length += this.#bytes.write(value, this.#length, length);
    return this;
  }

  /** A column of type uuid. */
  uuid(value: string | null | undefined): this {
    if (value === null || value === undefined) return this.nothing();
    return this.bytes(Buffer.from(value.replaceAll('-', ''), 'hex'));
  }

  integer(value: number): this {
    this.#open(4);
    this.#length = this.#bytes.writeInt32BE(value, this.#length);
    return this;
  }

  bigint(value: bigint | number | null | undefined): this {
    if (value === null || value === undefined) return this.nothing();
    this.#open(8);
    this.#length = this.#bytes.writeBigInt64BE(BigInt(value), this.#length);
    return this;
  }

  boolean(value: boolean | null | undefined): this {
    if (value === null || value === undefined) return this.nothing();
    this.#open(1);
    this.#length = this.#bytes.writeUInt8(value ? 1 : 0, this.#length);
    return this;
  }

  /** A column of type timestamptz, from milliseconds since 1970. */
  timestamp(ms: number | null | undefined): this {
    if (ms === null || ms === undefined) return this.nothing();
    return this.bigint(Math.round((ms - Date.UTC(2000, 0)) * 1000));
  }

  /** Discards everything from that offset on. */
  cut(length: number): void {
    this.#length = length;
  }

  /** Returns a copy of the rows and clears the buffer. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.#length = 0;
    return taken;
  }

  #open(length: number): void {
    this.#reserve(4 + length);
    this.#length = this.#bytes.writeInt32BE(length, this.#length);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
