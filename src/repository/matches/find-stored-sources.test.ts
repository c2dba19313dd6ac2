import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleAddress, sampleContract } from '../../../test/support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts';
import { bytesToHex, type Hex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';
import { findStoredSources } from './find-stored-sources.ts';
import { saveMatch } from './save-matches.ts';

const keccakOf = (text: string): Hex => bytesToHex(keccak256(Buffer.from(text)));
const UNKNOWN = keccakOf('unknown');

let testDatabase: TestDatabase;
const texts: string[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  for (const variant of [0, 1]) {
    const contract = sampleContract(
      1,
      sampleAddress(variant),
      { runtimeMatch: 'partial' },
      { variant },
    );
    const content = `contract é${variant} {}`;
    const { compilation } = contract;
    const sources = [...compilation.sources, { path: 'é.sol', content }];
    texts.push(...sources.map((source) => source.content));
    await saveMatch(testDatabase.database, {
      ...contract,
      compilation: { ...compilation, sources },
    });
  }
});
afterAll(() => testDatabase.drop());

test('finds stored sources by the keccak256 of their text and omits unknown ones', async () => {
  const hashes = [...texts.map(keccakOf), UNKNOWN];
  const { bytes, contents } = await findStoredSources(testDatabase.database, hashes, 2 ** 20);
  const distinct = new Map(texts.map((text) => [keccakOf(text), text]));
  expect(contents).toEqual(distinct);
  expect(bytes).toBe(Buffer.byteLength([...distinct.values()].join('')));
});

test('reports the total size without reading any text if it exceeds the limit', async () => {
  const hashes = texts.map(keccakOf);
  const { bytes } = await findStoredSources(testDatabase.database, hashes, 2 ** 20);
  const exact = await findStoredSources(testDatabase.database, hashes, bytes);
  expect(exact.contents.size).toBeGreaterThan(0);
  expect(await findStoredSources(testDatabase.database, hashes, bytes - 1)).toEqual({
    bytes,
    contents: new Map(),
  });
});

test('finds nothing for an empty list of hashes', async () => {
  expect(await findStoredSources(testDatabase.database, [], 1)).toEqual({
    bytes: 0,
    contents: new Map(),
  });
  expect((await findStoredSources(testDatabase.database, [UNKNOWN], 1)).bytes).toBe(0);
});
