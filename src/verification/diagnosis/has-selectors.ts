/**
 * Returns whether bytecode contains all of these function selectors: as operands of PUSH4, as those of shorter
 * PUSHes without their leading zeros, or in the tables that Vyper searches since 0.3.10. Other bytes may look
 * like a selector, so the result may be a false positive.
 * @param selectors `0x` and 8 digits each
 */
export function hasSelectors(code: Uint8Array, selectors: readonly string[]): boolean {
  const bytes = Buffer.from(code.buffer, code.byteOffset, code.byteLength);
  return selectors.every((selector) => {
    const digits = Buffer.from(selector.slice(2), 'hex');
    const start = digits.findIndex((byte) => byte !== 0);
    return start === -1 || bytes.includes(digits.subarray(start));
  });
}
