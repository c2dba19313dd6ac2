/** How much JSON from outside may hold. Both are counted in the bytes, before anything is parsed. */
export interface JsonLimits {
  /** Levels of objects and arrays: `[]` has one. */
  readonly depth: number;
  /** Objects, arrays, texts, numbers, booleans and nulls; names of members do not count. */
  readonly values: number;
  /** Backslashes: a parser reads escaped text twenty times slower than other text. Default any number. */
  readonly escapes?: number;
}

/** What is wrong with JSON from outside. */
export type JsonFaultKind = 'malformed' | 'too_deep' | 'too_many_values' | 'too_many_escapes';

/** JSON that is not parsed, or cannot be. The message says why and may be shown to anyone. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault';
  readonly kind: JsonFaultKind;

  constructor(kind: JsonFaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What a byte is outside of a text; 0 for all others. */
const OPENER = 1;
const CLOSER = 2;
const COLON = 3;
const TEXT = 4;
/** A byte of a number or of true, false and null. */
const SCALAR = 5;

const BYTES = new Uint8Array(256);
for (const byte of Buffer.from('{[')) BYTES[byte] = OPENER;
for (const byte of Buffer.from('}]')) BYTES[byte] = CLOSER;
for (const byte of Buffer.from('+-.0123456789abcdefghijklmnopqrstuvwxyzE')) BYTES[byte] = SCALAR;
BYTES[0x3a] = COLON;
BYTES[QUOTE] = TEXT;

/**
 * Counts the levels and values of JSON in its bytes, in one pass and without memory, chunk by chunk. What is not JSON
 * is counted too, and means nothing: a parser refuses it at the first byte that does not fit.
 */
export class JsonScanner {
  readonly #limits: JsonLimits;
  #depth = 0;
  /** Texts, scalars and openers, less the colons: each colon makes a name of the text before it. */
  #values = 0;
  #escapes = 0;
  #inText = false;
  #inScalar = false;
  #isEscaped = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** The values so far. */
  get values(): number {
    return this.#values;
  }

  /** Reads on. @throws JsonFault too_deep, too_many_values, too_many_escapes */
  push(chunk: Uint8Array): void {
    let index = 0;
    while (index < chunk.length) {
      if (this.#inText) {
        index = this.#endOfText(chunk, index);
        continue;
      }
      const meaning = BYTES[chunk[index] as number];
      index += 1;
      if (meaning === SCALAR) {
        if (!this.#inScalar) this.#count();
        this.#inScalar = true;
        continue;
      }
      this.#inScalar = false;
      if (meaning === OPENER) {
        this.#count();
        this.#depth += 1;
        if (this.#depth > this.#limits.depth) throw tooDeep(this.#limits);
      } else if (meaning === CLOSER) this.#depth -= 1;
      else if (meaning === COLON) this.#values -= 1;
      else if (meaning === TEXT) {
        this.#inText = true;
        this.#count();
      }
    }
  }

  /** Ends the count. @throws JsonFault too_many_values */
  end(): void {
    if (this.#values > this.#limits.values) throw tooMany(this.#limits);
  }

  /** Where a text that has begun goes on: behind its closing quote, or at the end of the chunk. */
  #endOfText(chunk: Uint8Array, from: number): number {
    let index = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      index += 1;
    }
    for (; index < chunk.length; index += 1) {
      const byte = chunk[index];
      if (byte === BACKSLASH) {
        this.#countEscape();
        index += 1;
        this.#isEscaped = index === chunk.length;
      } else if (byte === QUOTE) {
        this.#inText = false;
        return index + 1;
      }
    }
    return chunk.length;
  }

  #countEscape(): void {
    const { escapes } = this.#limits;
    this.#escapes += 1;
    if (escapes === undefined || this.#escapes <= escapes) return;
    throw new JsonFault('too_many_escapes', `The JSON has more than ${escapes} escapes.`);
  }

  #count(): void {
    this.#values += 1;
    // The last one may turn out to be a name.
    if (this.#values > this.#limits.values + 1) throw tooMany(this.#limits);
  }
}

function tooDeep({ depth }: JsonLimits): JsonFault {
  return new JsonFault('too_deep', `The JSON nests deeper than ${depth} levels.`);
}

function tooMany({ values }: JsonLimits): JsonFault {
  return new JsonFault('too_many_values', `The JSON has more than ${values} values.`);
}

/** Counts the values of JSON in its bytes. @throws JsonFault too_deep, too_many_values, too_many_escapes */
export function countJsonValues(bytes: Uint8Array, limits: JsonLimits): number {
  const scanner = new JsonScanner(limits);
  scanner.push(bytes);
  scanner.end();
  return scanner.values;
}

/**
 * Parses JSON from outside, after its levels and values are counted in its bytes. Bytes that are no UTF-8 become
 * U+FFFD. A member called `__proto__` is a member like any other; of two with one name the last one counts.
 * @throws JsonFault
 */
export function parseUntrustedJson(bytes: Uint8Array, limits: JsonLimits): unknown {
  countJsonValues(bytes, limits);
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new JsonFault('malformed', 'The text is not JSON.');
  }
}
