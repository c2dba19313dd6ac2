import { expect, test } from 'vitest';

import { type ProxyReading } from '../../../chains/proxy/read-proxy.ts';
import { type Hex } from '../../../lib/hex.ts';
import { recallProxy } from './proxy-resolution.ts';

const ADDRESS: Hex = `0x${'ab'.repeat(20)}`;

test('looks up implementation names once for concurrent requests and again for later ones', async () => {
  const reading: ProxyReading = {
    ...{ blockNumber: 1, blockHash: `0x${'00'.repeat(32)}`, delegates: true },
    proxy: { type: 'DiamondProxy', implementations: [ADDRESS] },
  };
  let asked = 0;
  const parts = {
    proxies: { find: () => Promise.resolve(reading), newest: () => reading, findings: 1 },
    contracts: {
      findVerified: () => {
        asked += 1;
        const contract = {
          ...({ name: `Name ${asked}`, match: 'full', origin: 'verified' } as const),
          ...{ compiler: 'solc', compilerVersion: '0.8.37' },
        };
        return Promise.resolve(new Map([[ADDRESS, contract]]));
      },
    },
  };
  const recall = () => recallProxy(parts, { chainId: 1, address: ADDRESS });
  const all = await Promise.all([recall(), recall(), recall()]);
  expect(asked).toBe(1);
  expect(all.map((each) => each?.implementations?.[0]?.name)).toEqual(Array(3).fill('Name 1'));
  expect((await recall())?.implementations?.[0]?.name).toBe('Name 2');
});
