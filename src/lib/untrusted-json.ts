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

/** Classes of bytes outside strings. */
const OTHER = 0;
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
 * Counts the values of JSON on its bytes, in one pass and constant memory. The count of malformed JSON is
 * meaningless, but a parser rejects it at the first invalid byte.
 * @throws JsonFault too_deep, too_many_values, too_many_escapes
 */
export function countJsonValues(bytes: Uint8Array, limits: JsonLimits): number {
  const { length } = bytes;
  const { escapes: maxEscapes = Infinity } = limits;
  let depth = 0;
  // Number of strings, scalars and openers, minus colons: a colon makes the string before it a name.
  let values = 0;
  let escapes = 0;
  let inScalar = false;
  for (let index = 0; index < length; index += 1) {
    const kind = BYTES[bytes[index] as number];
    if (kind === SCALAR && inScalar) continue;
    inScalar = kind === SCALAR;
    if (kind === CLOSER) depth -= 1;
    else if (kind === COLON) values -= 1;
    else if (kind !== OTHER) {
      values += 1;
      // Allows one more, since the last string may turn out to be a name.
      if (values > limits.values + 1) throw tooMany(limits);
    }
    if (kind === OPENER) {
      depth += 1;
      if (depth > limits.depth) throw tooDeep(limits);
    } else if (kind === TEXT) {
      for (index += 1; index < length; index += 1) {
        const byte = bytes[index];
        if (byte === BACKSLASH) {
          escapes += 1;
          if (escapes > maxEscapes) throw tooManyEscapes(maxEscapes);
          index += 1;
        } else if (byte === QUOTE) break;
      }
    }
  }
  if (values > limits.values) throw tooMany(limits);
  return values;
}

function tooDeep({ depth }: JsonLimits): JsonFault {
  return new JsonFault('too_deep', `The JSON nests deeper than ${depth} levels.`);
}

function tooMany({ values }: JsonLimits): JsonFault {
  return new JsonFault('too_many_values', `The JSON has more than ${values} values.`);
}

function tooManyEscapes(escapes: number): JsonFault {
  return new JsonFault('too_many_escapes', `The JSON has more than ${escapes} escapes.`);
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
