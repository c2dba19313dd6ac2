import { readAuxdataAt } from './auxdata.ts';
import { type Transformation } from './transformation.ts';

const WORD_BYTES = 32;
const INVALID = 0xfe;
/** Vyper ends its codes with less than this, and in another form than solc. */
const VYPER_END_BYTES = 512;

/**
 * Whether the code itself shows that a compiler left the place for a value: zeros for a library, an immutable or the call
 * protection, an auxdata where one is replaced. Who delivers a code also says where it may differ, and could say everywhere.
 * @param code the recompiled code with zeros for placeholders
 * @param width of the value, in bytes; undefined in a deletion
 */
export function isPlaceLeft(
  code: Uint8Array,
  { type, reason, offset, length }: Transformation,
  width: number | undefined,
): boolean {
  if (reason === 'cborAuxdata') return isAuxdata(code, offset, length ?? width);
  if (type !== 'replace') return true;
  if (width === undefined || width > WORD_BYTES) return false;
  return code.subarray(offset, offset + width).every((byte) => byte === 0);
}

/** Whether an auxdata of that length stands there, with the INVALID before it or without. */
function isAuxdata(code: Uint8Array, offset: number, length: number | undefined): boolean {
  if (length === undefined) return false;
  if (offset >= code.length - VYPER_END_BYTES) return true;
  if (readAuxdataAt(code, offset)?.length === length) return true;
  return code[offset] === INVALID && readAuxdataAt(code, offset + 1)?.length === length - 1;
}
