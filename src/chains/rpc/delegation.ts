/** 0xef0100 and an address: what EIP-7702 writes in the place of code, so that an account runs the code of another. */
const DESIGNATOR_PREFIX = Buffer.from('ef0100', 'hex');
const DESIGNATOR_BYTES = 23;

/** Whether the code at an address says only whose code runs there (EIP-7702): it is not a contract's, and may change. */
export function isDelegation(code: Uint8Array): boolean {
  return (
    code.length === DESIGNATOR_BYTES &&
    DESIGNATOR_PREFIX.equals(code.subarray(0, DESIGNATOR_PREFIX.length))
  );
}
