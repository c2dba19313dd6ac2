/** A stretch of a source, in bytes of its file. */
export interface SourcePlace {
  /** The number of the file in the compilation. */
  readonly file: number;
  readonly offset: number;
  readonly length: number;
}

/** An instruction of a code. */
export interface Instruction {
  /** Where it stands in the code, in bytes. */
  readonly at: number;
  readonly opcode: number;
  /** What a PUSH puts onto the stack, where it fits a selector or a place in the code. */
  readonly pushed?: number;
}

const PUSH1 = 0x60;
const PUSH32 = 0x7f;
/** A selector, and the largest place in a code. */
const MOST_PUSHED_BYTES = 4;

/** How many bytes of the code behind an opcode belong to it. */
export function pushedBytes(opcode: number): number {
  return opcode >= PUSH1 && opcode <= PUSH32 ? opcode - PUSH1 + 1 : 0;
}

const NUMBER = /^-?\d{1,10}$/;

/** The instructions of a code, one behind the other. Data between them reads as instructions too. */
export function readInstructions(code: Uint8Array): readonly Instruction[] {
  const found: Instruction[] = [];
  for (let at = 0; at < code.length;) {
    const opcode = code[at] ?? 0;
    const width = pushedBytes(opcode);
    const isShort = width > 0 && width <= MOST_PUSHED_BYTES;
    const bytes = isShort ? code.subarray(at + 1, at + 1 + width) : [];
    let pushed = 0;
    for (const byte of bytes) pushed = pushed * 256 + byte;
    found.push({ at, opcode, ...(isShort && { pushed }) });
    at += 1 + width;
  }
  return found;
}

/** The places of a source map, one for each instruction (Solidity documentation, "Source Mappings"). */
export function readSourceMap(text: string, most: number): readonly SourcePlace[] {
  const places: SourcePlace[] = [];
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
