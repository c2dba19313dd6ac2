/** An HTTP response in a fuzz run. */
export interface FuzzAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Reads consecutive responses from the bytes of a connection. */
export class AnswerReader {
  #heard: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#heard = this.#heard.length === 0 ? chunk : Buffer.concat([this.#heard, chunk]);
  }

  /** Whether the remaining bytes are an incomplete response. */
  get hasRest(): boolean {
    return this.#heard.length > 0;
  }

  /**
   * Returns the next complete response, or undefined.
   * @param headOnly whether the response has only a head: to HEAD, or an endless one
   * @throws Error when the received data is not an HTTP response
   */
  next(headOnly: boolean): FuzzAnswer | undefined {
    const end = this.#heard.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const [first = '', ...lines] = this.#heard.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1]);
    if (!Number.isInteger(status)) throw new Error(`not an answer: ${first.slice(0, 100)}`);
    const headers = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    if (status < 200) {
      this.#heard = this.#heard.subarray(end + 4);
      return this.next(headOnly);
    }
    const taken = headOnly || status === 204 || status === 304 ? Buffer.alloc(0) : undefined;
    const read =
      taken === undefined ? this.#readBody(headers, end + 4) : { body: taken, end: end + 4 };
    if (read === undefined) return undefined;
    this.#heard = this.#heard.subarray(read.end);
    return { status, headers, body: read.body };
  }

  #readBody(
    headers: ReadonlyMap<string, string>,
    start: number,
  ): { body: Buffer; end: number } | undefined {
    if (headers.get('transfer-encoding') === 'chunked') return this.#readChunks(start);
    const end = start + Number(headers.get('content-length') ?? 0);
    return this.#heard.length < end ? undefined : { body: this.#heard.subarray(start, end), end };
  }

  #readChunks(start: number): { body: Buffer; end: number } | undefined {
    const chunks: Buffer[] = [];
    for (let place = start; ;) {
      const lineEnd = this.#heard.indexOf('\r\n', place);
      if (lineEnd < 0) return undefined;
      const size = Number.parseInt(this.#heard.subarray(place, lineEnd).toString('latin1'), 16);
      const end = lineEnd + 2 + size + 2;
      if (this.#heard.length < end) return undefined;
      if (size === 0) return { body: Buffer.concat(chunks), end };
      chunks.push(this.#heard.subarray(lineEnd + 2, lineEnd + 2 + size));
      place = end;
    }
  }
}
