import { describe, expect, test } from 'vitest';
import { NO_SHARED_DATA, readCases, sharedData } from '../../../test/support/shared-data.ts';
import { defaultServiceChains, localServiceChains } from './default-service-chains.ts';
import { validateServiceChain } from './service-chain.ts';

interface Case {
  readonly field: 'txRegex' | 'contractFetchAddress';
  readonly value: string;
  readonly sound: boolean;
}

const real = sharedData('service-chains-2023.json') as Record<string, object> | undefined;

describe('validateServiceChain', () => {
  test.each(readCases<Case>('explorer-pages.json'))(
    'accepts $field $value: $sound',
    ({ field, value, sound }) => {
      const { chain, problems } = validateServiceChain(5, { [field]: value });
      if (sound) {
        expect(problems).toEqual([]);
        expect(chain).toEqual({ chainId: 5, [field]: value });
      } else {
        expect(chain).toBeUndefined();
        expect(problems).toHaveLength(1);
        expect(problems[0]).toMatchObject({ field, code: 'invalid_configuration' });
        expect(problems[0]?.message).toContain(`Chain 5: chains.5.${field} `);
        // The fix follows the fault.
        expect(problems[0]?.message).toMatch(/; \w+/);
      }
    },
  );

  test('rejects a txRegex longer than 500 characters', () => {
    const { problems } = validateServiceChain(5, { txRegex: `(${'a'.repeat(500)})` });
    expect(problems).toMatchObject([{ field: 'txRegex' }]);
  });

  test('accepts an empty entry as a configured chain', () => {
    expect(validateServiceChain(5, null).chain).toEqual({ chainId: 5 });
    expect(validateServiceChain(5, {}).chain).toEqual({ chainId: 5 });
  });

  test('accepts every field of the public list and of the service', () => {
    const entry = {
      supported: false,
      monitored: true,
      monitor: {
        from: 12,
        confirmations: 'finalized',
        traces: false,
        gateways: ['https://ipfs.example.org'],
      },
      local: true,
      rpc: ['https://a.example.org'],
      extraRpc: ['https://b.example.org'],
      privateRpc: ['https://c.example.org/key'],
      contractFetchAddress: 'https://explorer.example.org/${ADDRESS}',
      txRegex: '(0x.*)',
      name: 'A',
      chain: 'A',
      network: 'testnet',
      icon: 'a',
      faucets: [],
      nativeCurrency: { name: 'A', symbol: 'A', decimals: 18 },
      infoURL: 'https://a.example.org',
      shortName: 'a',
      networkId: 5,
      slip44: 1,
      ens: { registry: `0x${'0'.repeat(40)}` },
      explorers: [{ name: 'e', url: 'https://e.example.org', standard: 'EIP3091', icon: 'e' }],
      title: 'A',
      status: 'active',
      features: [{ name: 'EIP155' }],
      parent: { type: 'L2', chain: 'eip155-1', bridges: [{ url: 'https://b.example.org' }] },
      redFlags: ['reusedChainId'],
    };
    expect(validateServiceChain(5, entry)).toEqual({
      chain: { chainId: 5, ...entry },
      problems: [],
    });
  });

  test.each(['rpc', 'extraRpc', 'privateRpc'])(
    'shows how to write %s as a list if it is a single URL',
    (field) => {
      const { problems } = validateServiceChain(5, { [field]: 'https://hunter2.example.org' });
      expect(problems).toMatchObject([{ code: 'invalid_configuration', field }]);
      expect(problems[0]?.message).toContain("['https://node.example.org']");
      expect(problems[0]?.message).not.toContain('hunter2');
    },
  );

  test('rejects an unknown key and suggests the closest one', () => {
    const { chain, problems } = validateServiceChain(5, { txregex: '(a)' });
    expect(chain).toBeUndefined();
    expect(problems).toMatchObject([{ code: 'unknown_configuration_key', field: 'txregex' }]);
    expect(problems[0]?.message).toContain("'txRegex'");
  });

  test('reports every problem with its path but without the value', () => {
    const { problems } = validateServiceChain(5, {
      rpc: ['https://a.example.org', 'x', 7],
      nativeCurrency: { name: 'A', symbol: 'hunter2', decimals: -1, extra: 'hunter2' },
      supported: 'hunter2',
      privateRpc: { key: 'hunter2' },
    });
    expect(problems.map(({ field }) => field).sort()).toEqual([
      'nativeCurrency.decimals',
      'nativeCurrency.extra',
      'privateRpc',
      'rpc[2]',
      'supported',
    ]);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  test('omits credentials of a contractFetchAddress from the message', () => {
    const value = 'https://explorer.example.org/${ADDRESS}?apikey=hunter2';
    const { problems } = validateServiceChain(5, { contractFetchAddress: value });
    expect(JSON.stringify(problems)).toContain('apikey');
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  test.each([0, -1, 1.5, 2 ** 53, Number.NaN])('rejects the chain id %d', (chainId) => {
    expect(validateServiceChain(chainId, {}).problems).toHaveLength(1);
  });

  test.each([['a text'], [5], [[]]])('rejects the entry %j', (raw) => {
    expect(validateServiceChain(5, raw).problems).toHaveLength(1);
  });

  test.skipIf(real === undefined)(
    `accepts every real entry of 2023 (skipped when ${NO_SHARED_DATA})`,
    () => {
      for (const [key, entry] of Object.entries(real ?? {})) {
        const { chain, problems } = validateServiceChain(Number(key), entry);
        expect(problems).toEqual([]);
        expect(chain).toEqual({ chainId: Number(key), ...entry });
      }
    },
  );
});

describe('monitor', () => {
  test.each([
    [true, { from: 'head', confirmations: 0, traces: true, gateways: [] }],
    [{}, { from: 'head', confirmations: 0, traces: true, gateways: [] }],
    [false, undefined],
    [{ from: 7 }, { from: 7, confirmations: 0, traces: true, gateways: [] }],
    [
      { confirmations: 12, gateways: ['http://127.0.0.1:8080/'] },
      { from: 'head', confirmations: 12, traces: true, gateways: ['http://127.0.0.1:8080'] },
    ],
  ])('expands %j', (monitor, expected) => {
    const { chain, problems } = validateServiceChain(5, { monitor });
    expect(problems).toEqual([]);
    expect(chain?.monitor).toEqual(expected);
  });

  test.each([
    ['yes', 'monitor', 'is not valid'],
    [null, 'monitor', 'is not valid'],
    [{ from: 'tail' }, 'monitor.from', 'expected head or the number of a block'],
    [{ from: -1 }, 'monitor.from', 'expected head or the number of a block'],
    [{ confirmations: 1.5 }, 'monitor.confirmations', 'expected a whole number'],
    [{ traces: 'no' }, 'monitor.traces', 'is not valid'],
    [{ gateways: ['https://u:p@a.example'] }, 'monitor.gateways[0]', 'expected an http or https'],
    [{ gateways: ['https://a.example/?key=1'] }, 'monitor.gateways[0]', 'expected an http'],
    [{ gateways: ['https://a.example', 'https://a.example/'] }, 'monitor.gateways', 'each gateway'],
    [{ confirmation: 1 }, 'monitor.confirmation', "did you mean 'confirmations'"],
  ])('rejects %j', (monitor, field, fault) => {
    const { chain, problems } = validateServiceChain(5, { monitor });
    expect(chain).toBeUndefined();
    expect(problems).toMatchObject([{ field }]);
    expect(problems[0]?.message).toContain(fault);
  });
});

describe('Default service configuration', () => {
  const chains = [...defaultServiceChains, ...localServiceChains];

  test.each(chains)('is valid for chain %d', (chainId, chain) => {
    const { chainId: id, ...entry } = chain;
    expect(id).toBe(chainId);
    expect(validateServiceChain(chainId, entry)).toMatchObject({ chain, problems: [] });
    expect(chain).toMatchObject({ supported: true });
    expect(chain).not.toHaveProperty('monitor');
  });

  test.skipIf(real === undefined)(
    `contains the explorer pages in use in 2023 (skipped when ${NO_SHARED_DATA})`,
    () => {
      for (const [chainId, { contractFetchAddress, txRegex }] of defaultServiceChains) {
        if (contractFetchAddress === undefined) continue;
        expect(real?.[String(chainId)]).toMatchObject({ contractFetchAddress, txRegex });
      }
    },
  );
});
