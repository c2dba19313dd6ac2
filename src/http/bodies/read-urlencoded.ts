import { FullmatchError } from '../../errors.ts';

/** Pairs of a body, beside which no tool sends more than a third. */
const PAIRS_MAX = 100;
const NAME_MAX_BYTES = 64;

const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const PLUS = 0x2b;
const PERCENT = 0x25;
const SPACE = 0x20;

/**
 * The wanted values of a body in `application/x-www-form-urlencoded`, as bytes; of a name that comes again the first one.
 * Every byte is looked at twice at most, and what is not wanted is not decoded.
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
    // What stands before a sign of equality is a name only where it is as short as one.
    const equals = pair.subarray(0, 3 * NAME_MAX_BYTES + 1).indexOf(EQUALS);
    if (equals === -1) continue;
    const name = decode(pair.subarray(0, equals)).toString('utf8');
    if (wanted.has(name) && !values.has(name)) values.set(name, decode(pair.subarray(equals + 1)));
  }
  return values;
}

/** The bytes that are meant: `+` is a space, and `%` with two hexadecimal digits a byte; any other `%` is itself. */
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

/** The value of a hexadecimal digit. */
function digitOf(byte: number | undefined): number | undefined {
  if (byte === undefined) return undefined;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : undefined;
}
