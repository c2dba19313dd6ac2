import { readAuxdataAt } from './auxdata.ts';
import { type Transformation } from './transformation.ts';

const WORD_BYTES = 32;
const INVALID = 0xfe;
/** The trailer of Vyper is shorter than this and has another form than that of solc. */
const VYPER_END_BYTES = 512;

/**
 * Returns whether the bytecode itself shows that the compiler reserved the range for a value: zeros for a
 * library, an immutable or the call protection, an auxdata where one is replaced. Without this check, an
 * import that lists the variable ranges could declare any range variable.
 * @param code the recompiled bytecode with zeros for placeholders
 * @param width size of the value in bytes; undefined for a deletion
 */
export function isReservedRange(
  code: Uint8Array,
  { type, reason, offset, length }: Transformation,
  width: number | undefined,
): boolean {
  if (reason === 'cborAuxdata') return isAuxdata(code, offset, length ?? width);
  if (type !== 'replace') return true;
  if (width === undefined || width > WORD_BYTES) return false;
  return code.subarray(offset, offset + width).every((byte) => byte === 0);
}

/** Returns whether there is an auxdata of that length, with or without the INVALID before it. */
function isAuxdata(code: Uint8Array, offset: number, length: number | undefined): boolean {
  if (length === undefined) return false;
  if (offset >= code.length - VYPER_END_BYTES) return true;
  if (readAuxdataAt(code, offset)?.length === length) return true;
  return code[offset] === INVALID && readAuxdataAt(code, offset + 1)?.length === length - 1;
}
