import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { registryOf } from '../../../test/support/chain-sources.ts';
import { NO_SHARED_DATA, sharedData } from '../../../test/support/shared-data.ts';
import { parseChainList, readEmbeddedList, type ChainList } from '../list/chain-list.ts';
import { chainRecordSchema } from './chain-record-schema.ts';
import { defaultServiceChains } from './default-service-chains.ts';
import { buildRegistry } from './registry.ts';
import { renderChains } from './render-chains.ts';

/** What is wrong with a document of `GET /chains`; empty if it follows the schema. */
const faultsOf = (document: unknown): readonly unknown[] =>
  z.array(chainRecordSchema).safeParse(document).error?.issues ?? [];

function documentOf(list: ChainList): unknown {
  const registry = buildRegistry({
    list,
    defaults: defaultServiceChains,
    configured: new Map(),
    include: 'all',
    localChains: true,
    contractChainIds: [2716446429837000, 5],
  });
  return JSON.parse(renderChains(registry).toString('utf8'));
}

describe('Schema of GET /chains', () => {
  test('accepts an empty registry and a single chain', () => {
    expect(faultsOf([])).toEqual([]);
    const one = registryOf({ contracts: [5] });
    expect(faultsOf(JSON.parse(renderChains(one).toString('utf8')))).toEqual([]);
  });

  test('accepts the embedded list', async () => {
    expect(faultsOf(documentOf(await readEmbeddedList()))).toEqual([]);
  });

  for (const name of ['public-chain-list.json', 'hard-chains.json']) {
    const records = sharedData(name);
    test.skipIf(records === undefined)(`accepts ${name} (skipped when ${NO_SHARED_DATA})`, () => {
      const document = documentOf(parseChainList(JSON.stringify(records), name));
      expect(faultsOf(document)).toEqual([]);
    });
  }

  const smallest = { name: 'A', rpc: [], chainId: 1, supported: false, monitored: false };
  test.each([
    ['an empty text', { ...smallest, infoURL: '' }],
    ['null', { ...smallest, slip44: null }],
    ['a missing field', { name: 'A', rpc: [], chainId: 1, supported: false }],
    ['a text as id', { ...smallest, chainId: '1' }],
    ['an id beyond 2^53-1', { ...smallest, chainId: 2 ** 53 }],
    ['an unknown field', { ...smallest, privateRpc: ['https://a.example.org'] }],
    ['a text as supported', { ...smallest, supported: 'true' }],
  ])('rejects %s', (_title, record) => {
    expect(faultsOf([smallest])).toEqual([]);
    expect(faultsOf([record])).not.toEqual([]);
  });
});
