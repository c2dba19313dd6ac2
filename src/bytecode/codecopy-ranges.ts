const CODECOPY = 0x39;
const PUSH1 = 0x60;
const PUSH4 = 0x63;
const PUSH32 = 0x7f;
/** How many pushed numbers before a copy are tried as its offset and length. */
const PUSHES_EXAMINED = 6;
/** Anything shorter is a value rather than the bytecode of a contract. */
const LEAST_BYTES = 16;
const MAX_CODES = 12;
/** More copies than any constructor has; data may look like copies everywhere. */
const MAX_COPIES = 500;

/**
 * Finds the parts of a creation bytecode that it may return as the runtime bytecode, in the order of its
 * instructions: those copied from an offset and with a length that are pushed right before. Compilers emit
 * the runtime bytecode in this form, with zeros for values that only the constructor knows. This does not
 * prove what is returned: a caller that uses a part for a lookup has to compare the whole.
 */
export function findCodecopyRanges(creationCode: Uint8Array): readonly Uint8Array[] {
  const found = new Map<string, Uint8Array>();
  const pushed: number[] = [];
  let copies = 0;
  for (let at = 0; at < creationCode.length && found.size < MAX_CODES; at += 1) {
    const opcode = creationCode[at] ?? 0;
    if (opcode === CODECOPY) {
      if ((copies += 1) > MAX_COPIES) break;
      for (const [begin, length] of pairsOf(pushed)) {
        const end = begin + length;
        const isWithin = begin > at && end <= creationCode.length && length >= LEAST_BYTES;
        if (!isWithin || found.size === MAX_CODES) continue;
        found.set(`${begin} ${length}`, creationCode.subarray(begin, end));
      }
    }
    if (opcode < PUSH1 || opcode > PUSH32) continue;
    const operand = creationCode.subarray(at + 1, at + 1 + opcode - PUSH1 + 1);
    if (opcode <= PUSH4) {
      pushed.push(operand.reduce((number, byte) => number * 256 + byte, 0));
      if (pushed.length > PUSHES_EXAMINED) pushed.shift();
    }
    at += operand.length;
  }
  return [...found.values()];
}

/** Returns all ordered pairs of different numbers, the latest first. */
function pairsOf(numbers: readonly number[]): readonly (readonly [number, number])[] {
  const latest = numbers.toReversed();
  return latest.flatMap((begin, index) =>
    latest.filter((_, other) => other !== index).map((length) => [begin, length] as const),
  );
}
