/** One field of a protobuf message: a number, or bytes that may be text, a message or packed numbers. */
export interface ProtobufField {
  readonly number: number;
  readonly value: number | Uint8Array;
}

/** Bytes that are not a message of the expected form. */
export class ProtobufFault extends Error {
  override readonly name = 'ProtobufFault';
}

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;
const VARINT_BYTES = 8;
/** Twice the number of fields in the largest usual file node. */
const MAX_FIELDS = 10_000;

/**
 * Reads a varint and returns its value and end.
 * @throws ProtobufFault if it is truncated or not a safe integer
 */
export function readVarint(bytes: Uint8Array, offset: number): { value: number; end: number } {
  let value = 0;
  for (let index = 0; index < VARINT_BYTES; index += 1) {
    const byte = bytes[offset + index];
    if (byte === undefined) throw new ProtobufFault('a number is cut off');
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte >= 0x80) continue;
    if (!Number.isSafeInteger(value)) break;
    return { value, end: offset + index + 1 };
  }
  throw new ProtobufFault('a number is too large');
}

function lengthOf(bytes: Uint8Array, type: number, offset: number): { from: number; to: number } {
  if (type === FIXED_64) return { from: offset, to: offset + 8 };
  if (type === FIXED_32) return { from: offset, to: offset + 4 };
  if (type !== BYTES) throw new ProtobufFault('a field has no type that is used');
  const { value, end } = readVarint(bytes, offset);
  return { from: end, to: end + value };
}

/**
 * Yields the fields of a protobuf message without copying them, so that a caller can stop early.
 * @param takeStep counts each field before it is read, and throws if there are too many in total
 * @throws ProtobufFault; errors of `takeStep`
 */
export function* readFields(
  bytes: Uint8Array,
  takeStep: () => void,
): Generator<ProtobufField, void, undefined> {
  let offset = 0;
  for (let fields = 0; offset < bytes.length; fields += 1) {
    if (fields === MAX_FIELDS) throw new ProtobufFault('it has too many fields');
    takeStep();
    const { value: key, end } = readVarint(bytes, offset);
    const number = Math.floor(key / 8);
    const type = key % 8;
    if (type === VARINT) {
      const read = readVarint(bytes, end);
      offset = read.end;
      yield { number, value: read.value };
    } else {
      const { from, to } = lengthOf(bytes, type, end);
      if (to > bytes.length) throw new ProtobufFault('a field is cut off');
      offset = to;
      yield { number, value: bytes.subarray(from, to) };
    }
  }
}
