import { readInstructions } from '../../bytecode/instructions.ts';

/** Opcodes in a row that are compared as one. */
const ROW = 6;

/**
 * Returns how much of two bytecodes without auxdata consists of the same rows of opcodes, from 0 to 1 (Dice's
 * coefficient). Operands are left out, so that an insertion, which moves jump targets, changes little.
 */
export function opcodeLikeness(left: Uint8Array, right: Uint8Array): number {
  const counts = new Map<string, number>();
  const rows = rowsOf(left);
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  let common = 0;
  const others = rowsOf(right);
  for (const row of others) {
    const count = counts.get(row) ?? 0;
    if (count === 0) continue;
    counts.set(row, count - 1);
    common += 1;
  }
  return (2 * common) / Math.max(rows.length + others.length, 1);
}

function rowsOf(code: Uint8Array): readonly string[] {
  const opcodes = Buffer.from(readInstructions(code).map(({ opcode }) => opcode)).toString(
    'latin1',
  );
  return Array.from({ length: Math.max(0, opcodes.length - ROW + 1) }, (_, at) =>
    opcodes.slice(at, at + ROW),
  );
}
