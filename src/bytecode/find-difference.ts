import { type Instruction, pushedBytes, readInstructions } from './instructions.ts';

const JUMPDEST = 0x5b;
/** STOP, JUMP, RETURN, REVERT, INVALID and SELFDESTRUCT: the next instruction is reached only by a jump. */
const ENDS_BLOCK: ReadonlySet<number> = new Set([0x00, 0x56, 0xf3, 0xfd, 0xfe, 0xff]);
/** Jump targets fit into this many bytes. */
const TARGET_BYTES = 3;
/** Limit on the compared pairs of blocks. Compiled code has about as many pairs as jump targets. */
const MAX_PAIRS = 50_000;
/** Limit on the pushes that are returned. */
const MAX_CALLERS = 16;

/** A bytecode with its instructions, and the index of the instruction at each jump target. */
interface Disassembly {
  readonly code: Uint8Array;
  readonly instructions: readonly Instruction[];
  readonly targets: ReadonlyMap<number, number>;
}

/** Two blocks that should be equal: the indexes of their first instructions, and of the pushes that led there. */
interface Pair {
  readonly our: number;
  readonly their: number;
  readonly callers: readonly number[];
}

/**
 * Finds where a recompiled bytecode first differs from the one on chain. Offsets differ behind a difference
 * in length, so jump targets are not compared by value; the code at the targets is compared instead, from
 * the entry of the contract in the order of its jumps.
 * @param ends offset in each bytecode at which instructions end and data or metadata begins
 * @returns the index of the instruction that differs, followed by those that push the jump targets leading to
 * it, the nearest first; undefined if there is no difference
 */
export function findDifference(
  recompiled: Uint8Array,
  onChain: Uint8Array,
  ends: readonly [number, number],
): readonly number[] | undefined {
  const ours = disassemble(recompiled.subarray(0, ends[0]));
  const theirs = disassemble(onChain.subarray(0, ends[1]));
  return compareFlow(ours, theirs) ?? compareInOrder(ours, theirs);
}

function disassemble(code: Uint8Array): Disassembly {
  const instructions = readInstructions(code);
  const targets = new Map<number, number>();
  for (const [index, { opcode, at }] of instructions.entries()) {
    if (opcode === JUMPDEST) targets.set(at, index);
  }
  return { code, instructions, targets };
}

/** Compares the blocks that are reached from the entry. */
function compareFlow(ours: Disassembly, theirs: Disassembly): readonly number[] | undefined {
  const seen = new Set<string>();
  const moved: Pair[] = [];
  // A target of equal value may be a number that is no target, so these pairs come last.
  const unmoved: Pair[] = [];
  const add = (pair: Pair, isMoved: boolean): void => {
    const key = `${pair.our} ${pair.their}`;
    if (seen.has(key) || seen.size >= MAX_PAIRS) return;
    seen.add(key);
    (isMoved ? moved : unmoved).push(pair);
  };
  add({ our: 0, their: 0, callers: [] }, true);
  for (let [nextMoved, nextUnmoved] = [0, 0]; ;) {
    const pair = moved[nextMoved] ?? unmoved[nextUnmoved];
    if (pair === undefined) return undefined;
    if (nextMoved < moved.length) nextMoved += 1;
    else nextUnmoved += 1;
    const index = compareBlock(ours, theirs, pair, add);
    if (index !== undefined) return [index, ...pair.callers];
  }
}

/** Compares one pair of blocks; returns the index of the instruction of ours that differs. */
function compareBlock(
  ours: Disassembly,
  theirs: Disassembly,
  { our: start, their, callers }: Pair,
  add: (pair: Pair, isMoved: boolean) => void,
): number | undefined {
  for (let step = 0; ; step += 1) {
    const index = start + step;
    const [left, right] = [ours.instructions[index], theirs.instructions[their + step]];
    if (left === undefined) return right === undefined ? undefined : Math.max(0, index - 1);
    if (right === undefined) return index;
    if (step > 0 && left.opcode === JUMPDEST && right.opcode === JUMPDEST) {
      add({ our: index, their: their + step, callers }, true);
      return undefined;
    }
    const [ourTarget, theirTarget] = [targetOf(left, ours), targetOf(right, theirs)];
    if (ourTarget !== undefined && theirTarget !== undefined) {
      const isMoved = left.pushed !== right.pushed;
      const nearest = [index, ...callers].slice(0, MAX_CALLERS);
      add({ our: ourTarget, their: theirTarget, callers: nearest }, isMoved);
    } else if (isOther(left, ours.code, right, theirs.code)) return index;
    if (ENDS_BLOCK.has(left.opcode)) return undefined;
  }
}

/** Compares all instructions in their order: code that no jump reaches, and data. */
function compareInOrder(ours: Disassembly, theirs: Disassembly): readonly number[] | undefined {
  for (const [index, left] of ours.instructions.entries()) {
    const right = theirs.instructions[index];
    if (right === undefined) return [index];
    const areTargets = targetOf(left, ours) !== undefined && targetOf(right, theirs) !== undefined;
    if (!areTargets && isOther(left, ours.code, right, theirs.code)) return [index];
  }
  const { length } = ours.instructions;
  return theirs.instructions.length > length ? [Math.max(0, length - 1)] : undefined;
}

/** Returns the index of the jump target that an instruction pushes. */
function targetOf({ opcode, pushed }: Instruction, { targets }: Disassembly): number | undefined {
  if (pushed === undefined || pushedBytes(opcode) > TARGET_BYTES) return undefined;
  return targets.get(pushed);
}

function isOther(
  left: Instruction,
  ours: Uint8Array,
  right: Instruction,
  theirs: Uint8Array,
): boolean {
  if (left.opcode !== right.opcode) return true;
  const width = pushedBytes(left.opcode);
  const operand = ours.subarray(left.at + 1, left.at + 1 + width);
  // Immutables and library addresses are zeros in recompiled bytecode.
  if (operand.every((byte) => byte === 0)) return false;
  return !Buffer.from(operand).equals(theirs.subarray(right.at + 1, right.at + 1 + width));
}
