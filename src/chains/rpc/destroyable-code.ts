const PUSH1 = 0x60;
const PUSH32 = 0x7f;
/** The first byte of code that is not a sequence of opcodes: delegation designators, and the object format. */
const NO_LEGACY_CODE = 0xef;

/** CALLCODE and DELEGATECALL run other code as this contract; SELFDESTRUCT ends it. */
const DESTROYING: ReadonlySet<number> = new Set([0xf2, 0xf4, 0xff]);

/**
 * Whether code could destroy its contract, before EIP-6780 (Cancun) or in the transaction that creates it: it
 * contains SELFDESTRUCT, or runs other code as its own. The EVM only executes instructions of the linear
 * disassembly from the first byte on, since it jumps only to those, so opcodes outside it cannot run. The
 * appended metadata is disassembled too, because a jump may lead into it.
 */
export function canDestroyItself(code: Uint8Array): boolean {
  if (code[0] === NO_LEGACY_CODE) return true;
  for (let at = 0; at < code.length; at += 1) {
    const opcode = code[at] ?? 0;
    if (DESTROYING.has(opcode)) return true;
    if (opcode >= PUSH1 && opcode <= PUSH32) at += opcode - PUSH1 + 1;
  }
  return false;
}
