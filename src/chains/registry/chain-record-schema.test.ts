import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { registryOf } from '../../../test/support/chain-sources.ts';
import { NO_SHARED_DATA, sharedData } from '../../../test/support/shared-data.ts';
import { parseChainList, readEmbeddedList, type ChainList } from '../list/chain-list.ts';
import { CHAIN_RECORD_FIELDS } from './chain-record-fields.ts';
import { chainRecordSchema, chainsJsonSchema } from './chain-record-schema.ts';
import { defaultServiceChains } from './default-service-chains.ts';
import { buildRegistry } from './registry.ts';
import { renderChains } from './render-chains.ts';

const validate = new Ajv2020({ strict: true, allErrors: false }).compile(chainsJsonSchema);

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

describe('Published JSON Schema of GET /chains', () => {
  test('uses draft 2020-12 and lists exactly the fields of a chain record', () => {
    expect(chainsJsonSchema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(Object.keys(chainRecordSchema.shape)).toEqual([...CHAIN_RECORD_FIELDS]);
  });

  test('accepts an empty registry and a single chain', () => {
    expect(validate([]), JSON.stringify(validate.errors)).toBe(true);
    const one = registryOf({ contracts: [5] });
    expect(validate(JSON.parse(renderChains(one).toString('utf8')))).toBe(true);
  });

  test('accepts the embedded list', async () => {
    expect(validate(documentOf(await readEmbeddedList())), JSON.stringify(validate.errors)).toBe(
      true,
    );
  });

  for (const name of ['public-chain-list.json', 'hard-chains.json']) {
    const records = sharedData(name);
    test.skipIf(records === undefined)(`accepts ${name} (skipped when ${NO_SHARED_DATA})`, () => {
      const document = documentOf(parseChainList(JSON.stringify(records), name));
      expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
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
    expect(validate([smallest])).toBe(true);
    expect(validate([record])).toBe(false);
  });
});
