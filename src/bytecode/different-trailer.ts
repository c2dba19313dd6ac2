import { readTrailingAuxdata } from './auxdata.ts';
import { isAtLeastRelease } from './release.ts';
import { type CodeTemplate } from './recompiled-code.ts';

/** A different ending of the bytecode on chain, caused only by metadata settings. */
export interface DifferentTrailer {
  /** End of the common code, in bytes. */
  readonly offset: number;
  /** Number of recompiled bytes from there on; 0 if the bytecode on chain only appends. */
  readonly length: number;
  /**
   * The bytes on chain from there on: an auxdata that replaces the recompiled one with that id, or one that
   * is appended together with an INVALID. Absent if the bytecode on chain has no auxdata.
   */
  readonly auxdata?: { readonly id: string; readonly value: Buffer };
}

/** INVALID, which solc puts between the code and its auxdata. Absent without auxdata (`appendCBOR: false`). */
const INVALID = 0xfe;
const PUSH1 = 0x60;
const PUSH32 = 0x7f;
/** The first release with `appendCBOR`. */
export const APPEND_CBOR_SINCE = [0, 8, 18];

/**
 * Returns whether only instructions precede the INVALID at an offset, so that it is the first one: constants
 * and nested contracts also follow an INVALID. The last byte of a constant may look like an INVALID and must
 * not be cut off: the contract would read zero there.
 */
function endsInstructions(code: Buffer, place: number): boolean {
  let at = 0;
  while (at < code.length && code[at] !== INVALID) {
    const opcode = code[at] ?? 0;
    at += opcode >= PUSH1 && opcode <= PUSH32 ? opcode - PUSH1 + 2 : 1;
  }
  return at === place;
}

/**
 * Returns the ending that turns the recompiled bytecode into the one on chain if metadata settings differ:
 * either only one of them has an auxdata (`appendCBOR: false`), or only one has a metadata hash
 * (`bytecodeHash: none`), with the same compiler and the same flag in both. Supports only bytecode whose
 * single auxdata is at the very end: with another one in the middle, these settings would move what follows.
 * The code before the ending still has to be compared.
 */
export function findDifferentTrailer(
  template: CodeTemplate,
  onChain: Buffer,
): DifferentTrailer | undefined {
  const [slot, another] = template.auxdata;
  const { bytes, omitsAuxdataOf } = template;
  if (omitsAuxdataOf !== undefined) return findAppended(bytes, onChain, omitsAuxdataOf);
  if (slot === undefined || another !== undefined) return undefined;
  if (slot.offset + slot.length !== bytes.length) return undefined;
  const own = readTrailingAuxdata(bytes);
  if (own?.offset !== slot.offset) return undefined;
  const beforeInvalid = slot.offset - 1;
  if (onChain.length === beforeInvalid) {
    const mayBeWithout = own.solc !== undefined && isAtLeastRelease(own.solc, APPEND_CBOR_SINCE);
    const isCut = mayBeWithout && endsInstructions(bytes, beforeInvalid);
    return isCut ? { offset: beforeInvalid, length: slot.length + 1 } : undefined;
  }
  const found = readTrailingAuxdata(onChain);
  if (found?.offset !== slot.offset) return undefined;
  const isOtherSetting = (own.metadataHash === undefined) !== (found.metadataHash === undefined);
  const isSameCompiler = own.solc === found.solc && own.experimental === found.experimental;
  if (!isOtherSetting || !isSameCompiler || own.solc === undefined) return undefined;
  const value = onChain.subarray(found.offset);
  return { offset: slot.offset, length: slot.length, auxdata: { id: slot.id, value } };
}

/** Returns an appended INVALID and auxdata of the same compiler, after bytecode of nothing but instructions. */
function findAppended(
  bytes: Buffer,
  onChain: Buffer,
  release: string,
): DifferentTrailer | undefined {
  const offset = bytes.length;
  const found = readTrailingAuxdata(onChain);
  const isBehind = found?.offset === offset + 1 && endsInstructions(onChain, offset);
  if (!isBehind || found.solc !== release) return undefined;
  return { offset, length: 0, auxdata: { id: '1', value: onChain.subarray(offset) } };
}
