const CODECOPY = 0x39;
const PUSH1 = 0x60;
const PUSH4 = 0x63;
const PUSH32 = 0x7f;
/** Numbers that are pushed before a copy, of which two may be its place and its length. */
const PUSHES_LOOKED_AT = 6;
/** Less is no contract's code, but some value's. */
const LEAST_BYTES = 16;
const MOST_CODES = 12;
/** More copies than any constructor has; data behind it may look like one everywhere. */
const MOST_COPIES = 500;

/**
 * Parts of a creation code that it may return as the running code, in the order of its instructions: what it copies from a
 * place and with a length that are pushed right before. Compilers write the running code so, with zeros for what only the
 * constructor knows. Says nothing about what is returned: whoever looks a code up by it has to judge the whole.
 */
export function findCopiedCodes(creationCode: Uint8Array): readonly Uint8Array[] {
  const found = new Map<string, Uint8Array>();
  const pushed: number[] = [];
  let copies = 0;
  for (let at = 0; at < creationCode.length && found.size < MOST_CODES; at += 1) {
    const opcode = creationCode[at] ?? 0;
    if (opcode === CODECOPY) {
      if ((copies += 1) > MOST_COPIES) break;
      for (const [begin, length] of pairsOf(pushed)) {
        const end = begin + length;
        const isWithin = begin > at && end <= creationCode.length && length >= LEAST_BYTES;
        if (!isWithin || found.size === MOST_CODES) continue;
        found.set(`${begin} ${length}`, creationCode.subarray(begin, end));
      }
    }
    if (opcode < PUSH1 || opcode > PUSH32) continue;
    const operand = creationCode.subarray(at + 1, at + 1 + opcode - PUSH1 + 1);
    if (opcode <= PUSH4) {
      pushed.push(operand.reduce((number, byte) => number * 256 + byte, 0));
      if (pushed.length > PUSHES_LOOKED_AT) pushed.shift();
    }
    at += operand.length;
  }
  return [...found.values()];
}

/** The latest numbers first, each with each other one. */
function pairsOf(numbers: readonly number[]): readonly (readonly [number, number])[] {
  const latest = numbers.toReversed();
  return latest.flatMap((begin, index) =>
    latest.filter((_, other) => other !== index).map((length) => [begin, length] as const),
  );
}
