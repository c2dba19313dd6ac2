/** The number of values that each opcode in a range takes from the stack and puts on it. */
type Effects = readonly [from: number, to: number, takes: number, gives: number];

/**
 * The instructions that continue with the next one, run no other contract, and have the same effect on every
 * chain. The missing ones jump, halt, call or create, which the language has its own words for, or differ
 * between chains and forks: an unassigned opcode of today may swap values deep in the stack tomorrow
 * (EIP-8024).
 */
const EFFECTS: readonly Effects[] = [
  [0x01, 0x07, 2, 1], // ADD to SMOD
  [0x08, 0x09, 3, 1], // ADDMOD, MULMOD
  [0x0a, 0x0b, 2, 1], // EXP, SIGNEXTEND
  [0x10, 0x14, 2, 1], // LT to EQ
  [0x15, 0x15, 1, 1], // ISZERO
  [0x16, 0x18, 2, 1], // AND, OR, XOR
  [0x19, 0x19, 1, 1], // NOT
  [0x1a, 0x1d, 2, 1], // BYTE, SHL, SHR, SAR
  [0x1e, 0x1e, 1, 1], // CLZ
  [0x20, 0x20, 2, 1], // KECCAK256
  [0x30, 0x30, 0, 1], // ADDRESS
  [0x31, 0x31, 1, 1], // BALANCE
  [0x32, 0x34, 0, 1], // ORIGIN, CALLER, CALLVALUE
  [0x35, 0x35, 1, 1], // CALLDATALOAD
  [0x36, 0x36, 0, 1], // CALLDATASIZE
  [0x37, 0x37, 3, 0], // CALLDATACOPY
  [0x38, 0x38, 0, 1], // CODESIZE
  [0x39, 0x39, 3, 0], // CODECOPY
  [0x3a, 0x3a, 0, 1], // GASPRICE
  [0x3b, 0x3b, 1, 1], // EXTCODESIZE
  [0x3c, 0x3c, 4, 0], // EXTCODECOPY
  [0x3d, 0x3d, 0, 1], // RETURNDATASIZE
  [0x3e, 0x3e, 3, 0], // RETURNDATACOPY
  [0x3f, 0x40, 1, 1], // EXTCODEHASH, BLOCKHASH
  [0x41, 0x48, 0, 1], // COINBASE to BASEFEE
  [0x49, 0x49, 1, 1], // BLOBHASH
  [0x4a, 0x4a, 0, 1], // BLOBBASEFEE
  [0x50, 0x50, 1, 0], // POP
  [0x51, 0x51, 1, 1], // MLOAD
  [0x52, 0x53, 2, 0], // MSTORE, MSTORE8
  [0x54, 0x54, 1, 1], // SLOAD
  [0x55, 0x55, 2, 0], // SSTORE
  [0x59, 0x5a, 0, 1], // MSIZE, GAS
  [0x5c, 0x5c, 1, 1], // TLOAD
  [0x5d, 0x5d, 2, 0], // TSTORE
  [0x5e, 0x5e, 3, 0], // MCOPY
  [0x5f, 0x7f, 0, 1], // PUSH0 to PUSH32
];

const PUSH0 = 0x5f;
const PUSH32 = 0x7f;
const DUP1 = 0x80;
const SWAP1 = 0x90;
const LOG0 = 0xa0;
const LOG4 = 0xa4;

/**
 * Returns the stack effect of an instruction. An instruction that only reads or moves values counts as taking
 * all values within its reach.
 */
function effectOf(opcode: number): readonly [takes: number, gives: number] | undefined {
  if (opcode >= LOG0) return opcode <= LOG4 ? [2 + opcode - LOG0, 0] : undefined;
  if (opcode >= SWAP1) return [opcode - SWAP1 + 2, opcode - SWAP1 + 2];
  if (opcode >= DUP1) return [opcode - DUP1 + 1, opcode - DUP1 + 2];
  const found = EFFECTS.find(([from, to]) => opcode >= from && opcode <= to);
  return found && [found[2], found[3]];
}

/**
 * Returns whether bytes have the stack effect that their call declares: whole instructions of known effect
 * run from first to last, none reaches below the `inputs`, and `outputs` values remain. Below are the return
 * addresses of functions.
 */
export function hasDeclaredStackEffect(code: Uint8Array, inputs: number, outputs: number): boolean {
  let height = inputs;
  let at = 0;
  while (at < code.length) {
    const opcode = code[at] ?? 0;
    const effect = effectOf(opcode);
    if (effect === undefined || effect[0] > height) return false;
    height += effect[1] - effect[0];
    at += opcode > PUSH0 && opcode <= PUSH32 ? opcode - PUSH0 + 1 : 1;
  }
  return at === code.length && height === outputs;
}
