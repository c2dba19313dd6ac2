/** What a JSON text may hold; what parsing costs depends on it, not on the bytes alone. */
export interface JsonLimits {
  /** Objects, arrays, texts, numbers, literals and the names of members. */
  readonly maxValues: number;
  /** Objects and arrays within each other. */
  readonly maxDepth: number;
}

/** A JSON text that holds more than its reader takes. */
export class JsonTooComplex extends Error {
  override readonly name = 'JsonTooComplex';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);
/** Space, tab, line feed, carriage return, comma and colon. */
const BETWEEN: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0x2c, 0x3a]);

/**
 * Parses JSON from outside. Values and depth are counted in the bytes first, which costs a tenth of parsing and nothing
 * but time: `[{},{},…]` of 8 MB would be 2.7 million objects.
 * @throws JsonTooComplex above a limit; SyntaxError when it is not JSON; TypeError when it is not UTF-8.
 */
export function parseUntrustedJson(bytes: Uint8Array, limits: JsonLimits): unknown {
  countValues(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), limits);
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}

/** Counts what JSON would hold; of bytes that are not JSON it counts something, and the parser refuses them. */
function countValues(bytes: Buffer, { maxValues, maxDepth }: JsonLimits): void {
  let values = 0;
  let depth = 0;
  let inPlainValue = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (BETWEEN.has(byte)) {
      inPlainValue = false;
    } else if (CLOSING.has(byte)) {
      inPlainValue = false;
      depth -= 1;
    } else if (byte === QUOTE) {
      inPlainValue = false;
      values += 1;
      at = findClosingQuote(bytes, at + 1);
    } else if (OPENING.has(byte)) {
      inPlainValue = false;
      values += 1;
      depth += 1;
    } else if (!inPlainValue) {
      inPlainValue = true;
      values += 1;
    }
    if (values > maxValues)
      throw new JsonTooComplex(`The JSON holds more than ${maxValues} values.`);
    if (depth > maxDepth)
      throw new JsonTooComplex(`The JSON is more than ${maxDepth} levels deep.`);
  }
}

/** Where a text ends: at a quote behind an even number of backslashes, or with the bytes. */
function findClosingQuote(bytes: Buffer, from: number): number {
  for (let at = from; ; at += 1) {
    at = bytes.indexOf(QUOTE, at);
    if (at === -1) return bytes.length;
    let first = at;
    while (first > from && bytes[first - 1] === BACKSLASH) first -= 1;
    if ((at - first) % 2 === 0) return at;
  }
}
