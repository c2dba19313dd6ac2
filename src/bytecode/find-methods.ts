import {
  type Instruction,
  readInstructions,
  readSourceMap,
  type SourceRange,
} from './instructions.ts';

const EQ = 0x14;
const JUMPI = 0x57;
const JUMPDEST = 0x5b;
const DUP1 = 0x80;
const DUP16 = 0x8f;
/** Number of instructions from a selector to its jump: a comparison, the jump target, and at most two DUPs. */
const WITHIN = 6;

/**
 * Returns where the dispatcher jumps if a call has the selector that an instruction pushes; undefined if it
 * is not a dispatch.
 */
function jumpOf(instructions: readonly Instruction[], index: number): number | undefined {
  let isCompared = false;
  let place: number | undefined;
  for (const { opcode, pushed } of instructions.slice(index + 1, index + WITHIN)) {
    if (opcode === JUMPI) return isCompared ? place : undefined;
    if (opcode === EQ) isCompared = true;
    else if (pushed !== undefined && isCompared) place = pushed;
    else if (opcode < DUP1 || opcode > DUP16) return undefined;
  }
  return undefined;
}

/**
 * Finds the source ranges of the functions in a runtime bytecode, whose dispatcher compares the selector of a
 * call with its own and jumps. Functions dispatched in another way are left out.
 * @param selectors the selectors of its ABI, as numbers
 */
export function findMethods(
  code: Uint8Array,
  sourceMap: string,
  selectors: ReadonlySet<number>,
): ReadonlyMap<number, SourceRange> {
  const instructions = readInstructions(code);
  const places = readSourceMap(sourceMap, instructions.length);
  const targets = new Map(
    instructions.flatMap(({ at, opcode }, index) =>
      opcode === JUMPDEST ? [[at, index] as const] : [],
    ),
  );
  const found = new Map<number, SourceRange>();
  for (const [index, { pushed }] of instructions.entries()) {
    if (pushed === undefined || !selectors.has(pushed) || found.has(pushed)) continue;
    const place = places[targets.get(jumpOf(instructions, index) ?? -1) ?? -1];
    if (place !== undefined && place.file >= 0) found.set(pushed, place);
  }
  return found;
}
