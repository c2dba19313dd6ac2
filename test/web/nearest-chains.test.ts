import { describe, expect, test } from 'vitest';

import { nearestChains } from '../../web/src/chains/nearest-chains.ts';
import { type RegistryLine } from '../../web/src/answers.ts';

const line = (chainId: number, name: string, more: Partial<RegistryLine> = {}): RegistryLine => ({
  chainId,
  name,
  supported: false,
  monitored: false,
  testnet: false,
  warnings: [],
  ...more,
});

const LINES = [
  line(1, 'Ethereum Mainnet', { shortName: 'eth' }),
  line(100, 'Gnosis', { shortName: 'gno' }),
  line(101, 'Gnosys', { supported: true }),
  line(5, 'Görli', { shortName: 'gor' }),
  line(137, 'Polygon Mainnet', { shortName: 'pol' }),
  line(84_532, 'Base Sepolia Testnet', { shortName: 'basesep' }),
  line(11_155_111, 'Sepolia', { shortName: 'sep' }),
];

describe('chain name suggestions', () => {
  test.each([
    ['sepola', [11_155_111, 84_532]],
    ['GOERLI', [5]],
    ['gnosiss', [100, 101]],
    ['gnosas', [101, 100]],
    ['etherium mainnet', [1]],
    ['basesap', [84_532]],
    ['84533', [84_532]],
    ['eip155:84533', [84_532]],
    // A former name.
    ['matic', [137]],
    ['twelve monkeys', []],
    ['', []],
  ])('for %j are %j, the nearest first', (text, ids) => {
    expect(nearestChains(LINES, text).map(({ chainId }) => chainId)).toEqual(ids);
  });

  test('are limited to five', () => {
    const many = Array.from({ length: 50 }, (_, index) => line(index + 1, 'Twin'));
    expect(nearestChains(many, 'twim')).toHaveLength(5);
  });
});
