import { readTrailingAuxdata } from './auxdata.ts';
import { type CodeTemplate } from './recompiled-code.ts';

/** The code on chain ends otherwise than the recompiled one: settings of the metadata, and nothing else, made them differ. */
export interface OtherEnding {
  /** Where the code that both share ends, in bytes. */
  readonly offset: number;
  /** How many bytes the recompiled code has from there on. */
  readonly length: number;
  /** The auxdata on chain in the place of the recompiled one of that id. Absent where the code on chain has none. */
  readonly auxdata?: { readonly id: string; readonly value: Buffer };
}

/** INVALID: solc puts it between the code and what it appends. Without an auxdata (`appendCBOR: false`) there is none. */
const INVALID = 0xfe;

/**
 * What would make the end of the recompiled code that of the code on chain, where the settings of the metadata differ:
 * the code on chain has no auxdata (`appendCBOR: false`), or one of the two has a metadata hash and the other has none
 * (`bytecodeHash: none`), with the same compiler and the same flag in both. Only in a code with one auxdata, its own at
 * the very end: with another one in the middle, those settings move what follows. What stands before is still to be compared.
 */
export function findOtherEnding(template: CodeTemplate, onChain: Buffer): OtherEnding | undefined {
  const [slot, another] = template.auxdata;
  const { bytes } = template;
  if (slot === undefined || another !== undefined) return undefined;
  if (slot.offset + slot.length !== bytes.length) return undefined;
  const beforeInvalid = slot.offset - 1;
  if (onChain.length === beforeInvalid && bytes[beforeInvalid] === INVALID) {
    return { offset: beforeInvalid, length: slot.length + 1 };
  }
  const own = readTrailingAuxdata(bytes);
  const found = readTrailingAuxdata(onChain);
  if (own?.offset !== slot.offset || found?.offset !== slot.offset) return undefined;
  const isOtherSetting = (own.metadataHash === undefined) !== (found.metadataHash === undefined);
  const isSameCompiler = own.solc === found.solc && own.experimental === found.experimental;
  if (!isOtherSetting || !isSameCompiler || own.solc === undefined) return undefined;
  const value = onChain.subarray(found.offset);
  return { offset: slot.offset, length: slot.length, auxdata: { id: slot.id, value } };
}
