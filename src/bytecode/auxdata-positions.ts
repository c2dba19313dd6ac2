import { bytesToHex } from '../lib/hex.ts';
import { METADATA_HASH_BYTES, readAuxdataAt } from './auxdata.ts';
import { type AuxdataPositions, type CodeReference } from './recompiled-code.ts';

/**
 * Maximum distance from the start of a map to its hash: `experimental` and the names of the hash take about
 * 24 bytes.
 */
const LONGEST_BEFORE_HASH_BYTES = 64;

/** Returns the ranges as positions with ids `1`, `2` and so on, in order of offset. */
export function toPositions(code: Buffer, stretches: readonly CodeReference[]): AuxdataPositions {
  const ordered = [...stretches].sort((left, right) => left.start - right.start);
  return Object.fromEntries(
    ordered.map(({ start, length }, index) => [
      String(index + 1),
      { offset: start, value: bytesToHex(code.subarray(start, start + length)) },
    ]),
  );
}

/**
 * Returns the auxdata at `start` in both bytecodes if its metadata hash covers the byte at `covering` and is
 * the only difference.
 */
function auxdataOfBoth(
  code: Buffer,
  edited: Buffer,
  start: number,
  covering: number,
): CodeReference | undefined {
  const auxdata = readAuxdataAt(code, start);
  const hash = auxdata?.metadataHash;
  if (auxdata === undefined || hash === undefined) return undefined;
  const hashStart = start + hash.offset;
  const hashEnd = hashStart + METADATA_HASH_BYTES;
  const end = start + auxdata.length;
  const isAllThatDiffers =
    hashStart <= covering &&
    covering < hashEnd &&
    edited.subarray(start, hashStart).equals(code.subarray(start, hashStart)) &&
    edited.subarray(hashEnd, end).equals(code.subarray(hashEnd, end));
  return isAllThatDiffers ? { start, length: auxdata.length } : undefined;
}

/**
 * Finds the auxdata of a bytecode by comparing it with the bytecode of the same sources under different
 * metadata. Every byte that differs must lie in the metadata hash of a well-formed auxdata that is otherwise
 * equal in both bytecodes, and there must be only one such reading. Bytes that merely look like an auxdata
 * (for example a planted constant in the source) do not change with the metadata, so they are not found.
 * @returns undefined if a difference lies in no auxdata, or allows two readings.
 */
export function findChangedAuxdatas(
  code: Buffer,
  edited: Buffer,
): readonly CodeReference[] | undefined {
  if (code.length !== edited.length) return undefined;
  const found: CodeReference[] = [];
  let from = 0;
  for (let offset = 0; offset < code.length; offset += 1) {
    if (code[offset] === edited[offset]) continue;
    const readings: CodeReference[] = [];
    const lowest = Math.max(from, offset - LONGEST_BEFORE_HASH_BYTES);
    for (let start = lowest; start < offset; start += 1) {
      const reading = auxdataOfBoth(code, edited, start, offset);
      if (reading !== undefined) readings.push(reading);
    }
    const [only, another] = readings;
    if (only === undefined || another !== undefined) return undefined;
    found.push(only);
    from = only.start + only.length;
    offset = from - 1;
  }
  return found;
}

/** Returns every offset at which the bytes occur in the bytecode. */
export function findAllOffsets(bytes: Buffer, code: Buffer): readonly number[] {
  const offsets: number[] = [];
  for (let at = code.indexOf(bytes); at !== -1; at = code.indexOf(bytes, at + 1)) offsets.push(at);
  return offsets;
}
