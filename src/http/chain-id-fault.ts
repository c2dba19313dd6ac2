const CHAIN_ID = /^[1-9][0-9]{0,15}$/;

/**
 * Returns what is wrong with a chain id in a request, as the end of a sentence; undefined for canonical
 * decimal digits.
 */
export function describeChainIdFault(text: string): string | undefined {
  if (!CHAIN_ID.test(text)) return 'a chain id in decimal digits is expected';
  return Number.isSafeInteger(Number(text)) ? undefined : 'a chain id is at most 2^53-1';
}
