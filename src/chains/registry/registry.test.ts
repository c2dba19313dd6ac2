import { describe, expect, test } from 'vitest';
import { MONITOR, registryOf } from '../../../test/support/chain-sources.ts';
import { Secret } from '../../lib/secret.ts';
import { parseChainList, readEmbeddedList } from '../list/chain-list.ts';
import { CHAIN_RECORD_FIELDS } from './chain-record-schema.ts';
import { defaultServiceChains } from './default-service-chains.ts';
import { type ListRecord } from './list-record.ts';
import { buildRegistry, type ChainRegistry, type RegisteredChain } from './registry.ts';

const HEX_ADDRESS = `0x${'0'.repeat(40)}`;

const FULL: ListRecord = {
  name: 'Example Mainnet',
  chain: 'EX',
  icon: 'example',
  rpc: ['https://a.example.org', 'https://b.example.org/${KEY}'],
  faucets: [],
  nativeCurrency: { name: 'Ex', symbol: 'EX', decimals: 18 },
  infoURL: 'https://example.org',
  shortName: 'ex',
  chainId: 7,
  networkId: 7,
  slip44: 60,
  ens: { registry: HEX_ADDRESS },
  explorers: [{ name: 'e', url: 'https://e.example.org', standard: 'EIP3091' }],
  title: 'Example',
  status: 'active',
  features: [{ name: 'EIP155' }],
  parent: { type: 'L2', chain: 'eip155-1' },
  redFlags: [],
};

function chainOf(registry: ChainRegistry, chainId: number): RegisteredChain {
  const chain = registry.chains.find(({ record }) => record.chainId === chainId);
  if (chain === undefined) throw new Error(`chain ${chainId} is missing`);
  return chain;
}

const codesOf = (registry: ChainRegistry): readonly string[] =>
  registry.findings.map(({ code }) => code);

describe('Chain array', () => {
  test('contains every listed chain as unsupported and unmonitored, in ascending order', () => {
    const ids = [9007199254740991, 10, 2, 4294967296, 1];
    const registry = registryOf({
      list: ids.map((chainId) => ({ name: `C${chainId}`, rpc: [], chainId })),
    });
    expect(registry.chains.map(({ record }) => record.chainId)).toEqual(
      ids.sort((left, right) => left - right),
    );
    for (const { record } of registry.chains) {
      expect(record).toMatchObject({ supported: false, monitored: false });
    }
  });

  test('with include: configured contains only configured chains and those with contracts', () => {
    const list = [1, 2, 3, 4].map((chainId) => ({ name: `C${chainId}`, rpc: [], chainId }));
    const registry = registryOf({
      list,
      defaults: [{ chainId: 1, supported: true }],
      configured: [{ chainId: 2, supported: false }],
      contracts: [3],
      include: 'configured',
    });
    expect(registry.chains.map(({ record }) => record.chainId)).toEqual([2, 3]);
    expect(chainOf(registry, 3).record).toMatchObject({ name: 'C3', supported: false });
  });

  test('may be empty', () => {
    expect(registryOf().chains).toEqual([]);
  });

  test('applies default entries only to listed chains', () => {
    const registry = registryOf({
      list: [{ name: 'One', rpc: ['https://a.example.org'], chainId: 1 }],
      defaults: [
        { chainId: 1, supported: true },
        { chainId: 10, supported: true },
      ],
    });
    expect(registry.chains.map(({ record }) => record.chainId)).toEqual([1]);
    expect(registry.findings).toMatchObject([
      { level: 'info', code: 'default_chain_not_listed', chainId: 10 },
    ]);
  });

  test('supports the best-known chains of the embedded list, each with an endpoint', async () => {
    const registry = buildRegistry({
      list: await readEmbeddedList(),
      defaults: defaultServiceChains,
      configured: new Map(),
      include: 'all',
      localChains: false,
      contractChainIds: [],
    });
    expect(registry.chains.length).toBeGreaterThanOrEqual(1900);
    const supported = registry.chains.filter(({ record }) => record.supported);
    expect(supported.map(({ record }) => record.chainId)).toEqual(
      [...defaultServiceChains.keys()].sort((left, right) => left - right),
    );
    expect(supported.filter(({ endpoints }) => endpoints.length === 0)).toEqual([]);
    const codes = new Set(codesOf(registry));
    expect(codes).not.toContain('duplicate_short_name');
    expect(codes).not.toContain('default_chain_not_listed');
  });
});

describe('Chain record', () => {
  test('has its keys in schema order, followed by the extras', () => {
    const registry = registryOf({
      list: [FULL],
      configured: [
        {
          chainId: 7,
          txRegex: '(a)',
          contractFetchAddress: 'https://e.example.org/${ADDRESS}',
          network: 'mainnet',
        },
      ],
    });
    expect(Object.keys(chainOf(registry, 7).record)).toEqual([...CHAIN_RECORD_FIELDS]);
  });

  test('has an origin for exactly its fields', () => {
    const { record, origins } = chainOf(
      registryOf({
        list: [FULL],
        defaults: [{ chainId: 7, supported: true, txRegex: '(a)' }],
        configured: [{ chainId: 7, name: 'Mine', extraRpc: ['https://c.example.org'] }],
      }),
      7,
    );
    expect(Object.keys(origins)).toEqual(Object.keys(record));
    expect(origins).toMatchObject({
      name: 'configuration',
      chain: 'list',
      network: 'derived',
      rpc: 'list + configuration',
      chainId: 'list',
      supported: 'default configuration',
      monitored: 'service',
      txRegex: 'default configuration',
    });
  });

  test('prefers the configuration over the defaults and those over the list', () => {
    const registry = registryOf({
      list: [FULL],
      defaults: [{ chainId: 7, name: 'Default', title: 'Default', supported: true }],
      configured: [{ chainId: 7, name: 'Mine', supported: false, status: 'x' }],
    });
    expect(chainOf(registry, 7).record).toMatchObject({
      name: 'Mine',
      title: 'Default',
      shortName: 'ex',
      status: 'x',
      supported: false,
    });
  });

  test('is supported if configured, unless the entry says otherwise', () => {
    const registry = registryOf({
      list: [FULL],
      configured: [{ chainId: 7 }, { chainId: 8, name: 'Eight', supported: false }],
    });
    expect(chainOf(registry, 7).record.supported).toBe(true);
    expect(chainOf(registry, 7).origins.supported).toBe('configuration');
    expect(chainOf(registry, 8).record.supported).toBe(false);
  });

  test('keeps a given network and derives a missing one', () => {
    const registry = registryOf({
      list: [
        { name: 'Old', network: 'rinkeby', rpc: [], chainId: 1 },
        { name: 'Foo Sepolia', rpc: [], chainId: 2 },
      ],
      configured: [{ chainId: 3, name: 'Mine', network: 'testnet' }],
    });
    expect(registry.chains.map(({ record, testnet }) => [record.network, testnet])).toEqual([
      ['rinkeby', false],
      ['testnet', true],
      ['testnet', true],
    ]);
  });

  test('without a known name gets a placeholder name and a finding', () => {
    const registry = registryOf({ configured: [{ chainId: 8, rpc: ['https://a.example.org'] }] });
    expect(JSON.stringify(chainOf(registry, 8).record)).toBe(
      '{"name":"Unknown chain 8","rpc":["https://a.example.org"],"chainId":8,"supported":true,"monitored":false}',
    );
    expect(codesOf(registry)).toEqual(['chain_name_unknown']);
  });
});

describe('Unlisted chain with contracts', () => {
  test('has exactly the record of SPEC §1 rule 2 and a finding', () => {
    const registry = registryOf({ contracts: [2716446429837000, 2716446429837000] });
    expect(registry.chains.map(({ record }) => record)).toEqual([
      {
        name: 'Unknown chain 2716446429837000',
        rpc: [],
        chainId: 2716446429837000,
        supported: false,
        monitored: false,
      },
    ]);
    expect(codesOf(registry)).toEqual(['contract_chain_unknown']);
  });
});

describe('rpc', () => {
  test('requests each endpoint once, however its URL is spelled, and publishes URLs as given', () => {
    const rpc = [
      'https://a.example.org',
      'https://a.example.org/',
      'https://A.example.org',
      'https://a.example.org:443',
      'https://a.example.org/other',
    ];
    const extraRpc = ['HTTPS://a.example.org:443/', 'wss://a.example.org'];
    const registry = registryOf({ configured: [{ chainId: 7, name: 'Mine', rpc, extraRpc }] });
    const chain = chainOf(registry, 7);
    expect(chain.record.rpc).toEqual([...rpc, 'wss://a.example.org']);
    expect(chain.endpoints.map(({ url }) => url.reveal())).toEqual([
      rpc[0],
      rpc[4],
      'wss://a.example.org',
    ]);
  });

  test('is replaced by the configuration, and extended by extraRpc without duplicates', () => {
    const list = [{ ...FULL, rpc: ['https://a.example.org', 'https://b.example.org'] }];
    const extraRpc = ['https://b.example.org', 'https://c.example.org', 'https://c.example.org'];
    const appended = registryOf({ list, configured: [{ chainId: 7, extraRpc }] });
    expect(chainOf(appended, 7).record.rpc).toEqual([
      'https://a.example.org',
      'https://b.example.org',
      'https://c.example.org',
    ]);
    const rpc = ['https://x.example.org'];
    const replaced = registryOf({
      list,
      defaults: [{ chainId: 7, extraRpc: ['https://d.example.org'] }],
      configured: [{ chainId: 7, rpc, extraRpc }],
    });
    expect(chainOf(replaced, 7).record.rpc).toEqual([
      'https://x.example.org',
      'https://b.example.org',
      'https://c.example.org',
    ]);
    expect(chainOf(replaced, 7).origins.rpc).toBe('configuration');
  });

  test('has the origins of its sources', () => {
    const extraRpc = ['https://c.example.org'];
    const originOf = (registry: ChainRegistry): unknown => chainOf(registry, 7).origins.rpc;
    expect(originOf(registryOf({ contracts: [7] }))).toBe('service');
    expect(originOf(registryOf({ list: [{ ...FULL, rpc: [] }] }))).toBe('list');
    expect(originOf(registryOf({ configured: [{ chainId: 7, extraRpc }] }))).toBe('configuration');
  });

  test('may be replaced by an empty list', () => {
    const registry = registryOf({ list: [FULL], configured: [{ chainId: 7, rpc: [] }] });
    expect(chainOf(registry, 7).record.rpc).toEqual([]);
    expect(codesOf(registry)).toEqual(['supported_chain_without_endpoint']);
  });

  test('keeps a duplicate within one source, but requests it once', () => {
    const rpc = ['https://a.example.org', 'https://a.example.org'];
    const { record, endpoints } = chainOf(registryOf({ list: [{ ...FULL, rpc }] }), 7);
    expect(record.rpc).toEqual(rpc);
    expect(endpoints.map(({ label }) => label)).toEqual(['a.example.org']);
  });

  test('drops unpublishable list endpoints with one finding and never requests them', () => {
    const rpc = [
      'https://a.example.org',
      'https://b.example.org/${KEY}',
      'https://c.example.org/{KEY}',
      'https://name:password@d.example.org',
      'http://127.0.0.1:8545',
    ];
    const registry = registryOf({ list: [{ ...FULL, rpc }] });
    const { record, endpoints } = chainOf(registry, 7);
    expect(record.rpc).toEqual(['https://a.example.org']);
    expect(endpoints).toHaveLength(1);
    expect(registry.findings).toMatchObject([
      { level: 'info', code: 'rpc_left_out', chainId: 7, field: 'rpc' },
    ]);
    expect(registry.findings[0]?.message).toContain('placeholder 2');
    expect(JSON.stringify(registry.findings)).not.toContain('password');
  });

  test('requests but does not publish private configured endpoints, with a suggested fix', () => {
    const rpc = [
      'https://name:hunter2@d.example.org',
      'http://10.0.0.1:8545',
      'https://e.example.org/${KEY}',
    ];
    const registry = registryOf({ list: [FULL], configured: [{ chainId: 7, rpc }] });
    const { record, endpoints } = chainOf(registry, 7);
    expect(record.rpc).toEqual([]);
    expect(endpoints.map(({ url, label, public: shown }) => [url.reveal(), label, shown])).toEqual([
      [rpc[0], 'private-1', false],
      [rpc[1], 'private-2', false],
    ]);
    expect(registry.findings.map(({ code, field }) => [code, field])).toEqual([
      ['configured_rpc_not_published', 'rpc[0]'],
      ['configured_rpc_not_published', 'rpc[1]'],
      ['configured_rpc_unusable', 'rpc[2]'],
    ]);
    expect(registry.findings[0]?.message).toContain('privateRpc');
    expect(JSON.stringify(registry)).not.toContain('hunter2');
    expect(JSON.stringify(registry)).not.toContain('10.0.0.1');
  });

  test('of a local chain may contain private hosts, but no credentials or placeholders', () => {
    const rpc = ['http://127.0.0.1:8545', 'http://a:b@127.0.0.1', 'http://geth:8545/${KEY}'];
    const registry = registryOf({
      configured: [{ chainId: 7, name: 'Mine', local: true, rpc }],
    });
    const { record, local } = chainOf(registry, 7);
    expect(record.rpc).toEqual(['http://127.0.0.1:8545']);
    expect(local).toBe(true);
  });

  test('hides a list endpoint that the operator also uses privately', () => {
    const secret = new Secret('https://a.example.org');
    const { endpoints } = chainOf(
      registryOf({ list: [FULL], configured: [{ chainId: 7, privateRpc: [secret] }] }),
      7,
    );
    expect(endpoints.map(({ label }) => label)).toEqual(['private-1']);
  });
});

describe('privateRpc', () => {
  test('is tried first under an opaque label and never published', () => {
    const key = '0123456789abcdef0123456789abcdef';
    const registry = registryOf({
      list: [FULL],
      configured: [
        { chainId: 7, privateRpc: [new Secret(`https://secret-host.example.org/v3/${key}`)] },
      ],
    });
    const { endpoints } = chainOf(registry, 7);
    expect(endpoints.map(({ label, public: shown }) => [label, shown])).toEqual([
      ['private-1', false],
      ['a.example.org', true],
    ]);
    expect(endpoints[0]?.url.reveal()).toContain(key);
    expect(JSON.stringify(registry)).not.toMatch(/0123456789abcdef|secret-host/);
  });

  test('reports an unusable endpoint by its index, without its value', () => {
    const registry = registryOf({
      list: [FULL],
      configured: [{ chainId: 7, privateRpc: [new Secret('https://a.example/${HUNTER2}')] }],
    });
    expect(registry.findings).toMatchObject([
      { code: 'private_rpc_unusable', field: 'privateRpc[0]', level: 'warning' },
      { code: 'rpc_left_out' },
    ]);
    expect(JSON.stringify(registry)).not.toContain('HUNTER2');
  });
});

describe('Reused chain id', () => {
  const list: ListRecord[] = [
    { ...FULL, name: 'Ronin Mainnet', title: 'Ronin', redFlags: ['reusedChainId'] },
  ];

  test('with conflicting names takes no list field and reports the conflict', () => {
    const registry = registryOf({ list, configured: [{ chainId: 7, name: 'PublicMint Mainnet' }] });
    expect(chainOf(registry, 7).record).toEqual({
      name: 'PublicMint Mainnet',
      network: 'mainnet',
      rpc: [],
      chainId: 7,
      supported: true,
      monitored: false,
    });
    expect(codesOf(registry)).toEqual(['reused_chain_id', 'supported_chain_without_endpoint']);
  });

  test.each(['Ronin Mainnet', 'ronin mainnet', 'Ronin', 'Ronin Chain'])(
    'does not conflict with the configured name %s',
    (name) => {
      const registry = registryOf({ list, configured: [{ chainId: 7, name }] });
      expect(chainOf(registry, 7).record.shortName).toBe('ex');
      expect(codesOf(registry)).not.toContain('reused_chain_id');
    },
  );

  test.each(['Ronin Testnet', 'Saigon'])('conflicts with the configured name %s', (name) => {
    const registry = registryOf({ list, configured: [{ chainId: 7, name }] });
    expect(chainOf(registry, 7).record.shortName).toBeUndefined();
    expect(codesOf(registry)).toContain('reused_chain_id');
  });

  test('does not conflict without a configured name or under an unflagged id', () => {
    const unnamed = registryOf({ list, configured: [{ chainId: 7 }] });
    expect(codesOf(unnamed)).not.toContain('reused_chain_id');
    const unflagged = registryOf({ list: [FULL], configured: [{ chainId: 7, name: 'Other' }] });
    expect(chainOf(unflagged, 7).record).toMatchObject({ name: 'Other', shortName: 'ex' });
    expect(codesOf(unflagged)).toContain('listed_under_another_name');
    expect(codesOf(unnamed)).not.toContain('listed_under_another_name');
  });
});

describe('Local chains', () => {
  const list = [
    { ...FULL, name: 'Geth Testnet', rpc: ['http://127.0.0.1:8545'], chainId: 1337 },
    { ...FULL, name: 'GoChain Testnet', shortName: 'got', chainId: 31337 },
  ];

  test('are off by default: list records remain, without private endpoints', () => {
    const registry = registryOf({ list });
    expect(chainOf(registry, 1337)).toMatchObject({
      record: { name: 'Geth Testnet', rpc: [], supported: false },
      local: false,
    });
    expect(chainOf(registry, 31337).record.name).toBe('GoChain Testnet');
  });

  test('replace the list records when enabled', () => {
    const registry = registryOf({ list, localChains: true, include: 'configured' });
    expect(registry.chains.map(({ record, local }) => [record.chainId, local])).toEqual([
      [1337, true],
      [31337, true],
    ]);
    for (const { record, testnet, endpoints } of registry.chains) {
      expect(record).toMatchObject({ supported: true, monitored: false });
      expect(record.rpc).toContain('http://127.0.0.1:8545');
      expect(JSON.stringify(record)).not.toMatch(/GoChain|Geth Testnet|icon|example/);
      expect(testnet).toBe(true);
      expect(endpoints[0]?.public).toBe(true);
    }
  });

  test('exist without a list, and the configuration overrides their defaults', () => {
    const registry = registryOf({
      localChains: true,
      configured: [{ chainId: 31337, rpc: ['http://10.0.0.5:8545'] }],
    });
    expect(chainOf(registry, 31337).record).toMatchObject({
      name: 'Local Chain 31337',
      rpc: ['http://10.0.0.5:8545'],
    });
  });
});

describe('Monitored state of a chain', () => {
  const isMonitored = (
    entry: { readonly monitored?: boolean; readonly monitor?: typeof MONITOR },
    watched: readonly number[],
  ): boolean =>
    chainOf(registryOf({ list: [FULL], configured: [{ chainId: 7, ...entry }], watched }), 7).record
      .monitored;

  test('requires a configured monitor that keeps up; the flag alone is not enough', () => {
    expect(isMonitored({ monitor: MONITOR }, [7])).toBe(true);
    expect(isMonitored({ monitor: MONITOR, monitored: false }, [7])).toBe(true);
    expect(isMonitored({ monitor: MONITOR }, [8])).toBe(false);
    expect(isMonitored({ monitor: MONITOR, monitored: true }, [])).toBe(false);
    expect(isMonitored({ monitored: true }, [])).toBe(false);
    expect(isMonitored({ monitored: true }, [7])).toBe(false);
  });

  test('ignores the default configuration and the list', () => {
    const monitored = { monitored: true, monitor: MONITOR };
    const registry = registryOf({
      list: [{ ...FULL, ...monitored }],
      defaults: [{ chainId: 7, supported: true, ...monitored }],
      watched: [7],
    });
    expect(chainOf(registry, 7).record.monitored).toBe(false);
  });
});

describe('Findings', () => {
  test('report monitored: true without a monitor', () => {
    const registry = registryOf({
      list: [FULL],
      configured: [{ chainId: 7, monitored: true }],
    });
    expect(registry.findings[0]).toMatchObject({
      level: 'warning',
      code: 'monitored_without_monitor',
      chainId: 7,
      field: 'monitored',
    });
    expect(registry.findings[0]?.message).toContain('set monitor: true');
  });

  test('report quarantined records and ignored fields of the list', () => {
    const text = JSON.stringify([{ name: 'A', chainId: 1, tvl: 5 }, { chainId: 2 }]);
    const registry = buildRegistry({
      list: parseChainList(text, 'own.json'),
      defaults: new Map(),
      configured: new Map(),
      include: 'all',
      localChains: false,
      contractChainIds: [],
    });
    expect(registry.findings).toMatchObject([
      { level: 'warning', code: 'list_record_quarantined', chainId: 2 },
      { level: 'info', code: 'list_field_ignored' },
    ]);
    expect(registry.listSource).toBe('own.json');
  });

  test('report supported chains that are deprecated or have no endpoint', () => {
    const registry = registryOf({
      list: [{ name: 'Old', rpc: [], chainId: 1, status: 'deprecated' }],
      configured: [{ chainId: 1 }],
    });
    expect(codesOf(registry)).toEqual([
      'deprecated_chain_supported',
      'supported_chain_without_endpoint',
    ]);
    expect(codesOf(registryOf({ list: [{ name: 'Old', rpc: [], chainId: 1 }] }))).toEqual([]);
  });

  test('report short names shared by two chains, ignoring case', () => {
    const registry = registryOf({
      list: [
        { name: 'A', shortName: 'a', rpc: [], chainId: 1 },
        { name: 'B', shortName: 'A', rpc: [], chainId: 2 },
      ],
    });
    expect(registry.findings).toMatchObject([{ code: 'duplicate_short_name', chainId: 2 }]);
  });

  test('report monitored but unsupported chains and a txRegex without a page', () => {
    const registry = registryOf({
      list: [FULL],
      configured: [{ chainId: 7, supported: false, monitor: MONITOR, txRegex: '(a)' }],
    });
    expect(codesOf(registry)).toEqual([
      'monitored_chain_unsupported',
      'tx_regex_without_page',
      'rpc_left_out',
    ]);
  });
});
