import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_SHARED_DATA, sharedData } from '../../../test/support/shared-data.ts';
import { chainListOf, serviceChains } from '../../../test/support/chain-sources.ts';
import { Secret } from '../../lib/secret.ts';
import { parseChainList } from '../list/chain-list.ts';
import { CHAIN_RECORD_FIELDS } from './chain-record-schema.ts';
import { type ListRecord } from './list-record.ts';
import { containsPlaceholder, isPrivateHost, judgeRpc } from './public-rpc.ts';
import { buildRegistry, type RegistryInput } from './registry.ts';
import { assertNoSecrets, renderChains } from './render-chains.ts';
import { type ServiceChain } from './service-chain.ts';

const HIDDEN_KEY = 'k7f3a9c2e8b4d6a1f0c5e7b9d2a4';

const url = fc.constantFrom(
  'https://a.example.org',
  'https://b.example.org/path',
  'wss://c.example.org',
  'http://d.example.org:8545',
  'https://e.example.org/${KEY}',
  'https://f.example.org/{KEY}',
  'https://g.example.org/<key>',
  'https://name:word@h.example.org',
  'http://127.0.0.1:8545',
  'http://[::1]/',
  'http://0x7f.1',
  'ftp://i.example.org',
  ' https://j.example.org',
  'nothing',
);
const urls = fc.array(url, { maxLength: 5 });
const chainId = fc.constantFrom(1, 7, 10, 1337, 31337, 4294967296, 2716446429837000);
const name = fc.constantFrom('Seven', 'Seven Mainnet', 'Other', 'Foo Testnet', 'ARÉV ◈', 'Sepolia');

const listFields = {
  title: name,
  shortName: fc.constantFrom('a', 'b', 'seven'),
  slip44: fc.constantFrom(1, 60),
  status: fc.constantFrom('active', 'deprecated'),
  redFlags: fc.constantFrom<string[]>([], ['reusedChainId']),
  network: fc.constantFrom('mainnet', 'testnet', 'rinkeby'),
};

const listRecord: fc.Arbitrary<ListRecord> = fc.record(
  { ...listFields, name, rpc: urls, chainId },
  { requiredKeys: ['name', 'rpc', 'chainId'] },
);

const serviceChain: fc.Arbitrary<ServiceChain> = fc.record(
  {
    ...listFields,
    chainId,
    name,
    supported: fc.boolean(),
    monitored: fc.boolean(),
    local: fc.boolean(),
    rpc: urls,
    extraRpc: urls,
    privateRpc: fc.constant([new Secret(`https://hidden.example.org/${HIDDEN_KEY}`)]),
    txRegex: fc.constant('(a)'),
  },
  { requiredKeys: ['chainId'] },
);

const input: fc.Arbitrary<RegistryInput> = fc.record({
  list: fc
    .uniqueArray(listRecord, { selector: (record) => record.chainId })
    .map((records) => chainListOf(records)),
  defaults: fc.array(serviceChain, { maxLength: 3 }).map((chains) => serviceChains(...chains)),
  configured: fc.array(serviceChain, { maxLength: 3 }).map((chains) => serviceChains(...chains)),
  include: fc.constantFrom('all', 'configured'),
  localChains: fc.boolean(),
  contractChainIds: fc.array(chainId, { maxLength: 3 }),
});

const render = (sources: RegistryInput): string => renderChains(buildRegistry(sources)).toString();

/** The same sources with lists and maps reversed, including each record's keys. */
function turnRound(sources: RegistryInput): RegistryInput {
  const turned = <T extends object>(value: T): T =>
    Object.fromEntries(Object.entries(value).reverse()) as T;
  const turnedMap = (map: ReadonlyMap<number, ServiceChain>): ReadonlyMap<number, ServiceChain> =>
    new Map([...map].reverse().map(([id, chain]) => [id, turned(chain)]));
  return {
    ...sources,
    list: { ...sources.list, records: [...sources.list.records].reverse().map(turned) },
    defaults: turnedMap(sources.defaults),
    configured: turnedMap(sources.configured),
    contractChainIds: [...sources.contractChainIds].reverse(),
  };
}

describe('Chain registry, for any sources', () => {
  test('merges idempotently: merging its own output changes no byte', () => {
    fc.assert(
      fc.property(input, (sources) => {
        const once = render(sources);
        if (once === '[]') return;
        // A default chain that did not apply must not start to apply because the merged list contains its id.
        const defaults = new Map(
          [...sources.defaults].filter(
            ([id]) =>
              sources.configured.has(id) ||
              sources.list.records.some((record) => record.chainId === id),
          ),
        );
        const again = { ...sources, defaults, list: parseChainList(once, 'merged') };
        expect(render(again)).toBe(once);
      }),
      { numRuns: 300 },
    );
  });

  test('is independent of the order of its sources, including findings', () => {
    fc.assert(
      fc.property(input, (sources) => {
        const turned = turnRound(sources);
        expect(render(turned)).toBe(render(sources));
        expect(buildRegistry(turned).findings).toEqual(buildRegistry(sources).findings);
      }),
      { numRuns: 300 },
    );
  });

  test('publishes no placeholders, no credentials, and private hosts for local chains only', () => {
    fc.assert(
      fc.property(input, (sources) => {
        for (const { record, local } of buildRegistry(sources).chains) {
          for (const endpoint of record.rpc) {
            const parsed = new URL(endpoint);
            expect(containsPlaceholder(endpoint)).toBe(false);
            expect(`${parsed.username}${parsed.password}`).toBe('');
            expect(['http:', 'https:', 'ws:', 'wss:']).toContain(parsed.protocol);
            if (!local) expect(isPrivateHost(parsed.hostname)).toBe(false);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test('never shows a private endpoint', () => {
    fc.assert(
      fc.property(input, (sources) => {
        const registry = buildRegistry(sources);
        const secrets = [...sources.configured.values()].flatMap(({ privateRpc = [] }) =>
          privateRpc.map((secret) => ({ name: 'privateRpc', secret })),
        );
        expect(JSON.stringify(registry)).not.toMatch(/hidden\.example|k7f3a9c2/);
        assertNoSecrets(registry, secrets);
      }),
      { numRuns: 300 },
    );
  });

  test('has unique ascending ids including all contract chains, ordered keys and no empty fields', () => {
    fc.assert(
      fc.property(input, (sources) => {
        const { chains } = buildRegistry(sources);
        const ids = chains.map(({ record }) => record.chainId);
        expect(ids).toEqual([...new Set(ids)].sort((left, right) => left - right));
        expect(ids).toEqual(expect.arrayContaining([...sources.contractChainIds]));
        for (const { record, origins } of chains) {
          const keys = Object.keys(record);
          expect(keys).toEqual(CHAIN_RECORD_FIELDS.filter((field) => field in record));
          expect(Object.keys(origins)).toEqual(keys);
          for (const value of Object.values(record)) expect([null, '']).not.toContain(value);
        }
      }),
      { numRuns: 300 },
    );
  });
});

for (const file of ['public-chain-list.json', 'hard-chains.json']) {
  const sources = sharedData(file) as readonly (ListRecord & Record<string, unknown>)[] | undefined;
  describe.skipIf(sources === undefined)(`${file} (skipped when ${NO_SHARED_DATA})`, () => {
    const merge = (records: readonly unknown[]) =>
      buildRegistry({
        list: parseChainList(JSON.stringify(records), file),
        defaults: new Map(),
        configured: new Map(),
        include: 'all',
        localChains: false,
        contractChainIds: [],
      });

    test('keeps every byte except empty fields and unpublishable endpoints', () => {
      const records = sources ?? [];
      const merged = new Map(merge(records).chains.map(({ record }) => [record.chainId, record]));
      expect(merged.size).toBe(records.length);
      for (const source of records) {
        const { network, supported, monitored, ...record } = merged.get(source.chainId)!;
        expect(['mainnet', 'testnet']).toContain(network);
        expect([supported, monitored]).toEqual([false, false]);
        const kept = Object.entries({
          ...source,
          rpc: source.rpc.filter((endpoint) => judgeRpc(endpoint, { local: false }) === undefined),
        }).filter(([, value]) => value !== '');
        for (const [field, value] of kept) {
          const member = (record as unknown as Record<string, unknown>)[field];
          expect(JSON.stringify(member), `${source.chainId} ${field}`).toBe(JSON.stringify(value));
        }
        expect(Object.keys(record)).toHaveLength(kept.length);
      }
    });

    test('drops every endpoint with braces, angle brackets, credentials or a loopback host', () => {
      const document = renderChains(merge(sources ?? [])).toString('utf8');
      const rpc = (JSON.parse(document) as ListRecord[]).flatMap((record) => record.rpc);
      expect(rpc.filter((text) => /[{}<>]|\/\/[^/]*@|127\.0\.0\.1|localhost/.test(text))).toEqual(
        [],
      );
    });

    test('produces the same bytes from the reversed list', () => {
      const records = sources ?? [];
      const reversed = renderChains(merge([...records].reverse()));
      expect(reversed.equals(renderChains(merge(records)))).toBe(true);
    });
  });
}
