/** A range of a source, in bytes of its file. */
export interface SourceRange {
  /** Id of the file in the compilation. */
  readonly file: number;
  readonly offset: number;
  readonly length: number;
}

/** An instruction of a bytecode. */
export interface Instruction {
  /** Its offset in bytes. */
  readonly at: number;
  readonly opcode: number;
  /** The value of a PUSH, if it is short enough for a selector or a jump target. */
  readonly pushed?: number;
}

const PUSH1 = 0x60;
const PUSH32 = 0x7f;
/** Size of a selector, and of the largest jump target. */
const MAX_PUSHED_BYTES = 4;

/** Returns the number of operand bytes after an opcode. */
export function pushedBytes(opcode: number): number {
  return opcode >= PUSH1 && opcode <= PUSH32 ? opcode - PUSH1 + 1 : 0;
}

const NUMBER = /^-?\d{1,10}$/;

/** Disassembles a bytecode. Data is read as instructions too. */
export function readInstructions(code: Uint8Array): readonly Instruction[] {
  const found: Instruction[] = [];
  for (let at = 0; at < code.length;) {
    const opcode = code[at] ?? 0;
    const width = pushedBytes(opcode);
    const isShort = width > 0 && width <= MAX_PUSHED_BYTES;
    const bytes = isShort ? code.subarray(at + 1, at + 1 + width) : [];
    let pushed = 0;
    for (const byte of bytes) pushed = pushed * 256 + byte;
    found.push({ at, opcode, ...(isShort && { pushed }) });
    at += 1 + width;
  }
  return found;
}

/** Reads the ranges of a source map, one per instruction (Solidity documentation, "Source Mappings"). */
export function readSourceMap(text: string, most: number): readonly SourceRange[] {
  const places: SourceRange[] = [];
  let last = [0, 0, -1];
  for (const entry of text.split(';', most)) {
    const given = entry.split(':', 3);
    last = last.map((before, index) => {
      const field = given[index] ?? '';
      return NUMBER.test(field) ? Number(field) : before;
    });
    const [offset = 0, length = 0, file = -1] = last;
    places.push({ file, offset, length });
  }
  return places;
}
