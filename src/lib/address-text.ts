const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/**
 * Returns whether a text is an address in any case, without checking the checksum. Also used in the browser,
 * which has no Buffer.
 */
export function isAddress(text: string): boolean {
  return ADDRESS.test(text);
}
