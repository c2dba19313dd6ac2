/** The names of a chain, which indicate whether it is a testnet. */
export interface ChainNames {
  readonly chainId: number;
  readonly name?: string;
  readonly title?: string;
  readonly shortName?: string;
  readonly slip44?: number;
}

/**
 * Parts of a word that indicate a testnet anywhere: `zkTestnet2`, `pectra-devnet-5`; `tesnet` is a spelling
 * in one record.
 */
const TESTNET_PARTS = /testnet|tesnet|devnet|previewnet|alphanet|stagenet/;

/** Words that indicate a testnet on their own: common names of test networks. */
const TESTNET_WORDS: ReadonlySet<string> = new Set(
  [
    'test sepolia goerli görli holesky hoodi rinkeby ropsten kovan mekong zhejiang',
    'mumbai amoy fuji alfajores baklava chapel chiado sokol apothem baobab kairos',
    'moonbase westend paseo shasta bartio bepolia hekla katla jolnir puppynet curtis',
  ].flatMap((line) => line.split(' ')),
);

/** Words that indicate a testnet only together with SLIP-44 coin type 1 ("testnet, all coins"). */
const HINT_WORDS: ReadonlySet<string> = new Set(
  'alpha beta dev develop developer staging stage preview demo'.split(' '),
);

/** `tKEK`, `tBTT`: a test coin's short name is often the coin's with a small t. */
const TEST_COIN = /^t[A-Z]/;
const SLIP44_TESTNET = 1;

/** The name of a chain of which only the id is known. */
export function unknownChainName(chainId: number): string {
  return `Unknown chain ${chainId}`;
}

function hasWord(texts: readonly string[], words: ReadonlySet<string>): boolean {
  return texts.some((text) => text.split(/[^\p{L}\p{N}]+/u).some((word) => words.has(word)));
}

/**
 * `mainnet` or `testnet`, from the words of name, title and shortName; undefined if the chain has no name. A
 * chain with "mainnet" in its name is never a testnet. SLIP-44 coin type 1 only breaks a tie: many mainnets
 * have it, so alone it is right 3 times in 4.
 */
export function deriveNetwork(names: ChainNames): 'mainnet' | 'testnet' | undefined {
  // A generated name has no meaning, also when it returns in a list that this service published.
  const name = names.name === unknownChainName(names.chainId) ? undefined : names.name;
  const texts = [name, names.title, names.shortName].flatMap((text) =>
    text === undefined ? [] : [text.toLowerCase()],
  );
  if (texts.length === 0) return undefined;
  if (name?.toLowerCase().includes('mainnet')) return 'mainnet';
  if (texts.some((text) => TESTNET_PARTS.test(text)) || hasWord(texts, TESTNET_WORDS)) {
    return 'testnet';
  }
  const hinted = hasWord(texts, HINT_WORDS) || TEST_COIN.test(names.shortName ?? '');
  return hinted && names.slip44 === SLIP44_TESTNET ? 'testnet' : 'mainnet';
}
