const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** Whether the text is an address in any case; says nothing about its checksum. Pages ask it too, which have no Buffer. */
export function isAddress(text: string): boolean {
  return ADDRESS.test(text);
}
