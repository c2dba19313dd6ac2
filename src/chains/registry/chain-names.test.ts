import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { distance } from 'fastest-levenshtein';
import { describe, expect, test } from 'vitest';
import { registryOf } from '../../../test/support/chain-sources.ts';
import { readEmbeddedList } from '../list/chain-list.ts';
import { ChainNames } from './chain-names.ts';
import { type RegisteredChain } from './registered-chain.ts';

const text = fc.string({
  unit: fc.constantFrom('a', 'b', 'E', 'e', ' ', 'n', 'T', '2', 'é', 'İ'),
  minLength: 1,
  maxLength: 12,
});
const chains = fc.array(fc.record({ name: text, shortName: text }), { maxLength: 8 }).map((names) =>
  names.map((each, index): RegisteredChain => {
    const supported = index % 3 === 2;
    const record = { ...each, rpc: [], chainId: index + 1, supported, monitored: false };
    return { record, origins: {}, endpoints: [], testnet: false, local: false };
  }),
);

/**
 * Expected suggestion: a name that starts with the text as a word, or with the text, or has a word that does,
 * supported chains first; else the first of the nearest, comparing all.
 */
function compareAll(all: readonly RegisteredChain[], wanted: string): string | undefined {
  const lower = wanted.toLowerCase();
  const namesOf = (chains: readonly RegisteredChain[]): readonly string[] =>
    chains.flatMap(({ record }) => [record.name, record.shortName ?? '']);
  for (const names of [namesOf(all.filter(({ record }) => record.supported)), namesOf(all)]) {
    const begun = names.find((name) => name.toLowerCase().startsWith(`${lower} `));
    if (begun !== undefined) return begun;
    if (lower.length < 3) continue;
    const part = names.find((name) => name.toLowerCase().startsWith(lower));
    if (part !== undefined) return part;
    const word = names.find((name) => name.toLowerCase().includes(` ${lower}`));
    if (word !== undefined) return word;
  }
  const names = [...namesOf(all.filter(({ record }) => record.supported)), ...namesOf(all)];
  const compared = names
    .map((name) => ({ name, steps: distance(lower, name.toLowerCase()) }))
    .filter(({ steps }) => steps <= Math.max(1, Math.floor(lower.length / 3)));
  const least = Math.min(...compared.map(({ steps }) => steps));
  return compared.find(({ steps }) => steps === least)?.name;
}

test('the chain id in the documentation is not on the public list', async () => {
  const list = JSON.parse(
    await readFile(new URL('../../../generated/public-chain-list.json', import.meta.url), 'utf8'),
  ) as { chainId: number }[];
  expect(list.some(({ chainId }) => chainId === 42_424_242)).toBe(false);
  for (const file of ['README.md', 'docs/etherscan.md', 'docs/vyper.md']) {
    const text = await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8');
    expect(text).not.toMatch(/\\b424242\\b/);
    expect(text).toContain('42424242');
  }
});

const WELL_KNOWN = [1, 8453, 42_161, 11_155_111].map((chainId) => ({ chainId }));

describe('Nearest name', () => {
  test.each([
    ['ethereum', 'Ethereum Mainnet'],
    ['mainnet', 'Ethereum Mainnet'],
    ['bas', 'Base'],
    ['arbitrum', 'Arbitrum One'],
    ['sepola', 'sepolia'],
    // An ecosystem, a currency, and former names.
    ['bsc', 'BNB Smart Chain Mainnet'],
    ['xdai', 'Gnosis'],
    ['avalanche', 'Avalanche C-Chain'],
    ['matic', 'Polygon Mainnet'],
    ['optimism', 'OP Mainnet'],
    ['klaytn', 'Kaia Mainnet'],
    ['zzzzzzzzzz', undefined],
  ])('to %s in the public list is %s', async (wanted, name) => {
    const { records } = await readEmbeddedList();
    const { chains: all } = registryOf({ list: records, configured: WELL_KNOWN });
    expect(new ChainNames({ chains: all }).nearest(wanted)?.toLowerCase()).toBe(
      name?.toLowerCase(),
    );
  });

  test('equals the result of comparing all names', () => {
    fc.assert(
      fc.property(chains, text, (all, wanted) => {
        expect(new ChainNames({ chains: all }).nearest(wanted)).toBe(compareAll(all, wanted));
      }),
    );
  });

  test.each([
    ['letters that no name has', 'zqxjkvbwpfgmcy'],
    ['the letters of most names', 'tinemaontsehr '],
    ['words of names in other order', 'testnet niamnet '],
  ])('compares only a few names for %s', async (_, letters) => {
    const { records } = await readEmbeddedList();
    let measured = 0;
    const names = new ChainNames(registryOf({ list: records }), (left, right) => {
      measured += 1;
      return distance(left, right);
    });
    for (const length of [10, 14, 16, 18, 20, 24, 33, 44, 100]) {
      const wanted = letters.repeat(10).slice(0, length);
      measured = 0;
      names.nearest(wanted);
      // Distances of more than 32 characters take far longer. By length alone hundreds would be compared.
      expect(measured, `${length} characters`).toBeLessThan(length > 32 ? 100 : 1_000);
    }
  });
});
