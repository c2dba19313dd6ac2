import { readInstructions } from '../../bytecode/instructions.ts';

/** Opcodes in a row that are compared as one. */
const ROW = 6;

/**
 * Returns a function that tells how much of a bytecode and the target, both without auxdata, consists of the same
 * rows of opcodes, from 0 to 1 (Dice's coefficient). Operands are left out, so that an insertion, which moves jump
 * targets, changes little. The target is read once.
 */
export function opcodeLikenessTo(target: Uint8Array): (code: Uint8Array) => number {
  const wanted = rowsOf(target);
  return (code) => {
    const counts = new Map<string, number>();
    const rows = rowsOf(code);
    for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
    let common = 0;
    for (const row of wanted) {
      const count = counts.get(row) ?? 0;
      if (count === 0) continue;
      counts.set(row, count - 1);
      common += 1;
    }
    return (2 * common) / (rows.length + wanted.length);
  };
}

function rowsOf(code: Uint8Array): readonly string[] {
  const opcodes = Buffer.from(readInstructions(code).map(({ opcode }) => opcode)).toString(
    'latin1',
  );
  // Shorter code is one row.
  return Array.from({ length: Math.max(1, opcodes.length - ROW + 1) }, (_, at) =>
    opcodes.slice(at, at + ROW),
  );
}
