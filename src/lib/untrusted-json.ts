/** Limits of untrusted JSON. They are checked on the bytes, before parsing. */
export interface JsonLimits {
  /** Nesting depth of objects and arrays: `[]` has depth 1. */
  readonly depth: number;
  /** Number of objects, arrays, strings, numbers, booleans and nulls; member names do not count. */
  readonly values: number;
  /** Number of backslashes: parsing escaped text is twenty times slower. Unlimited by default. */
  readonly escapes?: number;
}

/** Why untrusted JSON is rejected. */
export type JsonFaultKind = 'malformed' | 'too_deep' | 'too_many_values' | 'too_many_escapes';

/** Thrown for JSON that exceeds a limit or is malformed. The message states the reason and may be public. */
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

/** Classes of bytes outside strings; 0 for all others. */
const OPENER = 1;
const CLOSER = 2;
const COLON = 3;
const TEXT = 4;
/** A byte of a number, or of true, false or null. */
const SCALAR = 5;

const BYTES = new Uint8Array(256);
for (const byte of Buffer.from('{[')) BYTES[byte] = OPENER;
for (const byte of Buffer.from('}]')) BYTES[byte] = CLOSER;
for (const byte of Buffer.from('+-.0123456789abcdefghijklmnopqrstuvwxyzE')) BYTES[byte] = SCALAR;
BYTES[0x3a] = COLON;
BYTES[QUOTE] = TEXT;

/**
 * Counts the depth and values of JSON on its bytes, chunk by chunk, in one pass and constant memory. The
 * counts of malformed JSON are meaningless, but a parser rejects it at the first invalid byte.
 */
export class JsonScanner {
  readonly #limits: JsonLimits;
  #depth = 0;
  /** Number of strings, scalars and openers, minus colons: a colon makes the string before it a name. */
  #values = 0;
  #escapes = 0;
  #inText = false;
  #inScalar = false;
  #isEscaped = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** Number of values so far. */
  get values(): number {
    return this.#values;
  }

  /**
   * Scans the next chunk.
   * @throws JsonFault too_deep, too_many_values, too_many_escapes
   */
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

  /**
   * Finishes the scan.
   * @throws JsonFault too_many_values
   */
  end(): void {
    if (this.#values > this.#limits.values) throw tooMany(this.#limits);
  }

  /** Returns the index after the closing quote of the current string, or the end of the chunk. */
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
    // Allows one more, since the last string may turn out to be a name.
    if (this.#values > this.#limits.values + 1) throw tooMany(this.#limits);
  }
}

function tooDeep({ depth }: JsonLimits): JsonFault {
  return new JsonFault('too_deep', `The JSON nests deeper than ${depth} levels.`);
}

function tooMany({ values }: JsonLimits): JsonFault {
  return new JsonFault('too_many_values', `The JSON has more than ${values} values.`);
}

/**
 * Counts the values of JSON on its bytes.
 * @throws JsonFault too_deep, too_many_values, too_many_escapes
 */
export function countJsonValues(bytes: Uint8Array, limits: JsonLimits): number {
  const scanner = new JsonScanner(limits);
  scanner.push(bytes);
  scanner.end();
  return scanner.values;
}

/**
 * Parses untrusted JSON after checking its limits on the bytes. Invalid UTF-8 becomes U+FFFD. `__proto__` is
 * an ordinary member; of duplicate members, the last one counts.
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
