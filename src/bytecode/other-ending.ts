import { readTrailingAuxdata } from './auxdata.ts';
import { isSince } from './release.ts';
import { type CodeTemplate } from './recompiled-code.ts';

/** The code on chain ends otherwise than the recompiled one: settings of the metadata, and nothing else, made them differ. */
export interface OtherEnding {
  /** Where the code that both share ends, in bytes. */
  readonly offset: number;
  /** How many bytes the recompiled code has from there on: none where the code on chain goes on behind it. */
  readonly length: number;
  /**
   * What the code on chain has from there on: its auxdata in the place of the recompiled one of that id, or behind the
   * INVALID that comes with it. Absent where the code on chain has none.
   */
  readonly auxdata?: { readonly id: string; readonly value: Buffer };
}

/** INVALID: solc puts it between the code and what it appends. Without an auxdata (`appendCBOR: false`) there is none. */
const INVALID = 0xfe;
const PUSH1 = 0x60;
const PUSH32 = 0x7f;
/** The first release with `appendCBOR`. */
export const FIRST_WITHOUT_AUXDATA = [0, 8, 18];

/**
 * Whether nothing but instructions stands before the INVALID at a place: it is the first one, since constants and other
 * contracts stand behind one as well. The last byte of a constant may look like it, and is not to be left out: where the
 * code ends before that byte, the contract reads zero there.
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
 * What would make the end of the recompiled code that of the code on chain, where the settings of the metadata differ:
 * one of the two has no auxdata (`appendCBOR: false`), or one of the two has a metadata hash and the other has none
 * (`bytecodeHash: none`), with the same compiler and the same flag in both. Only in a code with one auxdata, its own at
 * the very end: with another one in the middle, those settings move what follows. What stands before is still to be compared.
 */
export function findOtherEnding(template: CodeTemplate, onChain: Buffer): OtherEnding | undefined {
  const [slot, another] = template.auxdata;
  const { bytes, omitsAuxdataOf } = template;
  if (omitsAuxdataOf !== undefined) return findAppended(bytes, onChain, omitsAuxdataOf);
  if (slot === undefined || another !== undefined) return undefined;
  if (slot.offset + slot.length !== bytes.length) return undefined;
  const own = readTrailingAuxdata(bytes);
  if (own?.offset !== slot.offset) return undefined;
  const beforeInvalid = slot.offset - 1;
  if (onChain.length === beforeInvalid) {
    const mayBeWithout = own.solc !== undefined && isSince(own.solc, FIRST_WITHOUT_AUXDATA);
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

/** The INVALID and the auxdata of the same compiler, behind a code of nothing but instructions. */
function findAppended(bytes: Buffer, onChain: Buffer, release: string): OtherEnding | undefined {
  const offset = bytes.length;
  const found = readTrailingAuxdata(onChain);
  const isBehind = found?.offset === offset + 1 && endsInstructions(onChain, offset);
  if (!isBehind || found.solc !== release) return undefined;
  return { offset, length: 0, auxdata: { id: '1', value: onChain.subarray(offset) } };
}
