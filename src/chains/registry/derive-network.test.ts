import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_SHARED_DATA, readCases, sharedData } from '../../../test/support/shared-data.ts';
import { deriveNetwork } from './derive-network.ts';

interface Case {
  readonly name?: string;
  readonly title?: string;
  readonly shortName?: string;
  readonly slip44?: number;
  readonly network: 'mainnet' | 'testnet' | null;
}

const shared = sharedData('public-chain-list.json') as
  readonly { chainId: number; name: string; title?: string; shortName: string }[] | undefined;

describe('deriveNetwork', () => {
  test.each(readCases<Case>('chain-networks.json'))(
    'derives $network from $name / $title / $shortName / $slip44',
    ({ network, ...names }) => {
      expect(deriveNetwork({ chainId: 7, ...names }) ?? null).toBe(network);
    },
  );

  test('never classifies a chain with mainnet in its name as a testnet', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.constantFrom('mainnet', 'Mainnet'), (a, b, word) => {
        const name = `${a}${word}${b}`;
        const names = { chainId: 7, name, title: 'Testnet', shortName: 'tTest', slip44: 1 };
        expect(deriveNetwork(names)).toBe('mainnet');
      }),
    );
  });

  test.skipIf(shared === undefined)(
    `agrees with every shared record that contains testnet or mainnet (skipped when ${NO_SHARED_DATA})`,
    () => {
      for (const record of shared ?? []) {
        const name = record.name.toLowerCase();
        if (name.includes('mainnet')) expect(deriveNetwork(record), name).toBe('mainnet');
        else if (name.includes('testnet')) expect(deriveNetwork(record), name).toBe('testnet');
      }
    },
  );
});
