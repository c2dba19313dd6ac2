import fc from 'fast-check';
import { type ListRecord } from '../../src/chains/registry/list-record.ts';

const word = fc.constantFrom('Alpha', 'Beta', 'Gamma', 'Mainnet', 'Testnet', 'ΩChain', '链', 'a"b');
const name = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '));
const url = fc.constantFrom('https://a.example', 'https://b.example', 'wss://c.example');

const listRecord: fc.Arbitrary<ListRecord> = fc.record(
  {
    chainId: fc.integer({ min: 1, max: 30 }),
    name,
    rpc: fc.uniqueArray(url),
    shortName: fc.constantFrom('a', 'b', 'c'),
    redFlags: fc.constantFrom([], ['reusedChainId']),
    nativeCurrency: fc.constant({ name: 'Ether', symbol: 'ETH', decimals: 18 }),
    status: fc.constantFrom('active', 'deprecated'),
  },
  { requiredKeys: ['chainId', 'name', 'rpc'] },
);

/** Lists with few ids and names, so that two of them overlap. */
export function listRecords(): fc.Arbitrary<readonly ListRecord[]> {
  return fc.uniqueArray(listRecord, { selector: ({ chainId }) => chainId, maxLength: 20 });
}

/** A record in the format of the public list. */
export function listedChain(chainId: number, name = `Chain ${chainId}`): ListRecord {
  return {
    name,
    chain: 'ETH',
    rpc: [`https://rpc-${chainId}.example`],
    faucets: [],
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    infoURL: 'https://example.org',
    shortName: `c${chainId}`,
    chainId,
    networkId: chainId,
  };
}
