import { bytesToHex } from '../lib/hex.ts';
import { METADATA_HASH_BYTES, readAuxdataAt } from './auxdata.ts';
import { type AuxdataPositions, type CodeReference } from './recompiled-code.ts';

/** The longest map begins no further before its hash: `experimental` and the names of the hash are some 24 bytes. */
const LONGEST_BEFORE_HASH_BYTES = 64;

/** The stretches as positions with the ids `1`, `2`, … in the order of offsets. */
export function toPositions(code: Buffer, stretches: readonly CodeReference[]): AuxdataPositions {
  const ordered = [...stretches].sort((left, right) => left.start - right.start);
  return Object.fromEntries(
    ordered.map(({ start, length }, index) => [
      String(index + 1),
      { offset: start, value: bytesToHex(code.subarray(start, start + length)) },
    ]),
  );
}

/** The auxdata at `start` in both codes, when its metadata hash covers the byte at `covering` and is all that differs in it. */
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
 * The auxdatas of a code, found by comparing it with the code of the same sources under another metadata. Every byte that
 * differs must lie in the metadata hash of a well-formed auxdata, the same in both codes but for that hash, and there
 * must be only one way to read it so. Bytes that merely look like an auxdata (a constant in the source, planted to be
 * overlooked) do not change with the metadata, and so are not found.
 * @returns undefined when a difference is left that no auxdata accounts for, or that two readings do.
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

/** Every offset at which the bytes stand in the code. */
export function occurrencesOf(bytes: Buffer, code: Buffer): readonly number[] {
  const offsets: number[] = [];
  for (let at = code.indexOf(bytes); at !== -1; at = code.indexOf(bytes, at + 1)) offsets.push(at);
  return offsets;
}
