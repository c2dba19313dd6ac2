const PUSH1 = 0x60;
const PUSH32 = 0x7f;
/** The first byte of codes that are no sequence of opcodes: delegation designators, and the object format. */
const NO_LEGACY_CODE = 0xef;

/** CALLCODE and DELEGATECALL run the code of others in the place of this one; SELFDESTRUCT ends it. */
const DESTROYING: ReadonlySet<number> = new Set([0xf2, 0xf4, 0xff]);

/**
 * Whether code could end the contract that it runs for, before EIP-6780 (Cancun) or in the transaction that creates it: it holds SELFDESTRUCT, or runs
 * code of others as its own. What the EVM executes always begins at an instruction of the linear reading from the first
 * byte on, since it jumps to such places only. So what that reading does not show cannot happen. The appended metadata
 * is read as code too: a jump may lead into it.
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
