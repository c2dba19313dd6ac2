import { type Instruction, pushedBytes, readInstructions } from './instructions.ts';

const JUMPDEST = 0x5b;
/** Jump targets fit into this many bytes. */
const PLACE_BYTES = 3;

/**
 * Returns the index of the first instruction that differs between two bytecodes, or undefined. If the
 * bytecodes have different lengths, their jump targets differ even if the code at the targets is the same, so
 * jump targets are not compared.
 * @param ends offset in each bytecode at which instructions end and data or metadata begins
 */
export function firstDifferingInstruction(
  recompiled: Uint8Array,
  onChain: Uint8Array,
  ends: readonly [number, number],
): number | undefined {
  const [ours, theirs] = [
    readInstructions(recompiled.subarray(0, ends[0])),
    readInstructions(onChain.subarray(0, ends[1])),
  ];
  const [ourTargets, theirTargets] = [targetsOf(ours), targetsOf(theirs)];
  for (const [index, our] of ours.entries()) {
    const their = theirs[index];
    if (their === undefined) return index;
    const width = pushedBytes(our.opcode);
    // A target of 255 and one of 256 are pushed by different instructions.
    if (width !== pushedBytes(their.opcode) || (width === 0 && our.opcode !== their.opcode)) {
      if (isPlace(our, ourTargets) && isPlace(their, theirTargets)) continue;
      return index;
    }
    const isSame = sameBytes(recompiled, our.at + 1, onChain, their.at + 1, width);
    if (isSame || (isPlace(our, ourTargets) && isPlace(their, theirTargets))) continue;
    // Immutables and library addresses are zeros in recompiled bytecode.
    if (isZero(recompiled, our.at + 1, width)) continue;
    return index;
  }
  return theirs.length > ours.length ? ours.length - 1 : undefined;
}

function targetsOf(instructions: readonly Instruction[]): ReadonlySet<number> {
  return new Set(instructions.filter(({ opcode }) => opcode === JUMPDEST).map(({ at }) => at));
}

function isPlace({ opcode, pushed }: Instruction, targets: ReadonlySet<number>): boolean {
  return pushed !== undefined && pushedBytes(opcode) <= PLACE_BYTES && targets.has(pushed);
}

function sameBytes(
  left: Uint8Array,
  leftAt: number,
  right: Uint8Array,
  rightAt: number,
  length: number,
): boolean {
  for (let each = 0; each < length; each += 1) {
    if (left[leftAt + each] !== right[rightAt + each]) return false;
  }
  return true;
}

function isZero(code: Uint8Array, at: number, length: number): boolean {
  return code.subarray(at, at + length).every((byte) => byte === 0);
}
