/** 0xef0100 and an address: what EIP-7702 stores as code, so that an account runs the code of another. */
const DESIGNATOR_PREFIX = Buffer.from('ef0100', 'hex');
const DESIGNATOR_BYTES = 23;

/**
 * Whether the code at an address only delegates to another account (EIP-7702): it is not a contract's, and
 * may change.
 */
export function isDelegation(code: Uint8Array): boolean {
  return (
    code.length === DESIGNATOR_BYTES &&
    DESIGNATOR_PREFIX.equals(code.subarray(0, DESIGNATOR_PREFIX.length))
  );
}
