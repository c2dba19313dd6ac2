import { expect, test } from 'vitest';
import { selectNamedChain } from '../../web/src/parts/named-chain.ts';

const CHAINS = [
  { chainId: 8453, name: 'Base', shortName: 'base' },
  { chainId: 84532, name: 'Base Sepolia Testnet', shortName: 'basesep' },
  { chainId: 11155111, name: 'Ethereum Sepolia', shortName: 'sep' },
  { chainId: 81457, name: 'Blast', shortName: 'blastmainnet' },
  { chainId: 238, name: 'Blast Mainnet', shortName: 'blast' },
  { chainId: 11, name: 'Twin', shortName: 'one' },
  { chainId: 12, name: 'Twin', shortName: 'two' },
];

test.each([
  ['base', 8453],
  [' BaseSep ', 84532],
  ['ethereum sepolia', 11155111],
  ['84532', 84532],
  // The short name of one chain is the name of another.
  ['blast', 238],
  ['one', 11],
  ['twin', undefined],
  ['bas', undefined],
])('%j among several chains names %j', (text, chainId) => {
  const named = selectNamedChain(text, { results: CHAINS, matching: CHAINS.length });
  expect(named?.chainId).toBe(chainId);
});

test('a part of a name is enough if no other chain matches', () => {
  const results = CHAINS.slice(2, 3);
  expect(selectNamedChain('sepol', { results, matching: 1 })?.chainId).toBe(11155111);
  expect(selectNamedChain('sepol', { results, matching: 2 })).toBeUndefined();
  expect(selectNamedChain('sepol', { results: [], matching: 0 })).toBeUndefined();
});
