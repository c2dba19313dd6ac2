/** Networks that were renamed: former names in lower case, which people and tools still use. */
const FORMER_NAMES: ReadonlyMap<number, readonly string[]> = new Map([
  [10, ['optimism']],
  [56, ['binance smart chain']],
  [137, ['matic']],
  [8217, ['klaytn']],
]);

/** The former names of a chain, in lower case; the public list has only current names. */
export function formerNamesOf(chainId: number): readonly string[] {
  return FORMER_NAMES.get(chainId) ?? [];
}
