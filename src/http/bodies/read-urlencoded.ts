import { FullmatchError } from '../../errors.ts';

/** Most pairs of a body; no tool sends more than a third of that. */
const PAIRS_MAX = 100;
const NAME_MAX_BYTES = 64;

const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const PLUS = 0x2b;
const PERCENT = 0x25;
const SPACE = 0x20;

/**
 * Reads the wanted values of an `application/x-www-form-urlencoded` body as bytes; if a name repeats, the
 * first value counts. Reads every byte at most twice and decodes only the wanted values.
 * @throws FullmatchError malformed_request
 */
export function readUrlencoded(
  bytes: Buffer,
  wanted: ReadonlySet<string>,
): ReadonlyMap<string, Buffer> {
  const values = new Map<string, Buffer>();
  let pairs = 0;
  for (let begin = 0; begin < bytes.length;) {
    const next = bytes.indexOf(AMPERSAND, begin);
    const end = next === -1 ? bytes.length : next;
    const pair = bytes.subarray(begin, end);
    begin = end + 1;
    pairs += 1;
    if (pairs > PAIRS_MAX) {
      throw new FullmatchError(
        'malformed_request',
        `The body has more than ${PAIRS_MAX} fields, which are not read.`,
      );
    }
    // Text before an equals sign can be a name only if it is short enough.
    const equals = pair.subarray(0, 3 * NAME_MAX_BYTES + 1).indexOf(EQUALS);
    if (equals === -1) continue;
    const name = decode(pair.subarray(0, equals)).toString('utf8');
    if (wanted.has(name) && !values.has(name)) values.set(name, decode(pair.subarray(equals + 1)));
  }
  return values;
}

/** Decodes `+` to a space, and `%` with two hexadecimal digits to a byte; any other `%` is literal. */
function decode(coded: Buffer): Buffer {
  const bytes = Buffer.allocUnsafeSlow(coded.length);
  let length = 0;
  for (let at = 0; at < coded.length; at += 1) {
    let byte = coded[at] ?? 0;
    if (byte === PLUS) byte = SPACE;
    else if (byte === PERCENT) {
      const high = digitOf(coded[at + 1]);
      const low = digitOf(coded[at + 2]);
      if (high !== undefined && low !== undefined) {
        byte = 16 * high + low;
        at += 2;
      }
    }
    bytes[length] = byte;
    length += 1;
  }
  return bytes.subarray(0, length);
}

function digitOf(byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : undefined;
}
