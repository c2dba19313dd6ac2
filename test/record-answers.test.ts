// Contract records: serialized once, cached by clients, and never stale.
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hexToBytes, type Hex } from '../src/lib/hex.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { type Match, type VerifiedContract } from '../src/repository/matches/verified-contract.ts';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { sql } from '../src/store/database.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const LARGE_BYTES = 4_800_000;
const TRANSFORMED = { transformations: [], values: {} };

let testDatabase: TestDatabase;
let service: BootedService;
let nextNumber = 1;
const newAddress = (): Hex => sampleAddress((nextNumber += 1));

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  service = await bootService({ databaseUrl: testDatabase.url });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

/** A record in which each part contains something with several possible serializations. */
function richContract(address: Hex, runtimeMatch: Match, variant: number): VerifiedContract {
  const sample = sampleContract(1, address, { runtimeMatch }, { variant });
  return {
    ...sample,
    origin: 'verified',
    deployment: { runtimeCode: hexToBytes('0x6003'), blockNumber: 7 },
    runtime: TRANSFORMED,
    compilation: {
      ...sample.compilation,
      metadata: JSON.stringify({ variant, 2: 'é', '\u2028': '"\\', 10: 1e21, 1: null }),
      artifacts: {
        abi: [{ name: 'é\u2028', type: 'function' }],
        devdoc: null,
        sources: { b: { id: 1 }, 2: { id: 2 } },
        methodIdentifiers: { 10: '', 9: '' },
      },
      runtimeCode: hexToBytes('0x6003'),
      runtimeCodeArtifacts: { sourceMap: '1:2', linkReferences: {} },
      sources: [
        { path: '10', content: 'ten \ud83d\ude00' },
        { path: '9', content: 'nine' },
        { path: '__proto__', content: 'proto' },
        { path: 'contracts/Sample.sol', content: `contract Sample { /* \u0001 ${variant} */ }` },
      ],
    },
  };
}

function largeContract(address: Hex, mark: string): VerifiedContract {
  const sample = sampleContract(1, address, { runtimeMatch: 'partial' });
  const content = mark.padEnd(LARGE_BYTES, `// ${mark} is a large source\n`);
  return {
    ...sample,
    compilation: { ...sample.compilation, sources: [{ path: 'large.sol', content }] },
  };
}

const pathOf = (address: Hex, query = 'fields=all'): string => `/v2/contract/1/${address}?${query}`;
const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.apiUrl}${path}`, { headers: { 'accept-encoding': 'identity', ...headers } });
const textOf = async (path: string): Promise<string> => (await get(path)).text();

describe('a record response', () => {
  test('equals JSON.stringify of its members, whatever they are named', async () => {
    const address = newAddress();
    await saveMatch(testDatabase.database, richContract(address, 'full', 1));
    const text = await textOf(pathOf(address));
    const parsed = JSON.parse(text) as Record<string, unknown>;
    expect(JSON.stringify(parsed)).toBe(text);
    const sources =
      '{"9":{"content":"nine"},"10":{"content":"ten 😀"},"__proto__":{"content":"proto"},"contracts/Sample.sol":{"content":"contract Sample { /* \\u0001 1 */ }"}}';
    expect(text).toContain(`"sources":${sources},"compilation"`);
    expect(text).toContain(`"stdJsonInput":{"language":"Solidity","sources":${sources},"settings"`);
    expect(text).toContain(
      '"stdJsonOutput":{"sources":{"2":{"id":2},"b":{"id":1}},"contracts":{"contracts/Sample.sol":{"Sample":{"abi":',
    );
    expect(parsed['stdJsonOutput']).toEqual({
      sources: { b: { id: 1 }, 2: { id: 2 } },
      contracts: {
        'contracts/Sample.sol': {
          Sample: {
            abi: [{ name: 'é\u2028', type: 'function' }],
            devdoc: null,
            methodIdentifiers: { 10: '', 9: '' },
            metadata: JSON.stringify({ variant: 1, 2: 'é', '\u2028': '"\\', 10: 1e21, 1: null }),
            evm: {
              bytecode: {},
              deployedBytecode: { object: '6003', sourceMap: '1:2', linkReferences: {} },
            },
          },
        },
      },
    });
  });

  test('has a strong ETag per encoding and returns 304 to a client that holds any', async () => {
    const address = newAddress();
    await saveMatch(testDatabase.database, richContract(address, 'full', 2));
    for (const path of [
      pathOf(address),
      pathOf(address, 'fields=abi'),
      pathOf(address, 'fields=metadata,abi'),
      `/files/any/1/${address}`,
      `/files/tree/any/1/${address}`,
    ]) {
      const plain = await get(path);
      const body = Buffer.from(await plain.arrayBuffer());
      const tag = plain.headers.get('etag') ?? '';
      expect(tag).toMatch(/^"[\w-]{22}"$/);
      expect(plain.headers.get('vary')).toBe('Accept-Encoding');
      for (const held of [tag, `W/${tag}`, `"other", ${tag}`, `${tag.slice(0, -1)}-gzip"`, '*']) {
        const again = await get(path, { 'if-none-match': held });
        expect([again.status, await again.text()], held).toEqual([304, '']);
      }
      expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
      const head = await fetch(`${service.apiUrl}${path}`, {
        method: 'HEAD',
        headers: { 'accept-encoding': 'identity' },
      });
      expect(head.headers.get('content-length')).toBe(String(body.byteLength));
    }
    const packed = await readRaw(pathOf(address), 'Accept-Encoding: gzip\r\n');
    expect(packed.head).toMatch(/content-encoding: gzip/i);
    expect(packed.head).toMatch(/etag: "[\w-]{22}-gzip"/i);
    expect(gunzipSync(packed.body).toString()).toBe(await textOf(pathOf(address)));
  });

  test('is identical whatever the order and repetition of its fields', async () => {
    const address = newAddress();
    await saveMatch(testDatabase.database, richContract(address, 'full', 7));
    const answers = [
      'fields=abi,metadata,compilation.name,compilation.language,matchId',
      'fields=compilation.language,metadata,compilation.name,abi,metadata,compilation.name',
    ].map(async (query) => {
      const response = await get(pathOf(address, query));
      return [response.headers.get('etag'), await response.text()];
    });
    const [one, other] = await Promise.all(answers);
    expect(one).toEqual(other);
    expect(Object.keys(JSON.parse(one?.[1] ?? '') as object).slice(-3)).toEqual([
      'compilation',
      'abi',
      'metadata',
    ]);
  });

  test('changes as soon as a better match, a withdrawal or new evidence is committed', async () => {
    const { database } = testDatabase;
    const address = newAddress();
    const paths = [pathOf(address), `/files/any/1/${address}`, `/files/tree/any/1/${address}`];
    const ask = (): Promise<string[]> => Promise.all(paths.map(textOf));
    await saveMatch(database, richContract(address, 'partial', 3));
    const partial = await ask();
    const { headers } = await get(pathOf(address));
    const held = { 'if-none-match': headers.get('etag') ?? '' };
    await saveMatch(database, richContract(address, 'full', 4));
    const full = await ask();
    expect(full.every((text, index) => text !== partial[index])).toBe(true);
    expect((await get(pathOf(address), held)).status).toBe(200);
    expect(full[0]).toContain('/* \\u0001 4 */');
    const forged = 'UPDATE verified_contracts SET runtime_values = $1::jsonb WHERE id = $2';
    const { matchId } = JSON.parse(full[0] ?? '') as { matchId: string };
    await database.query(sql('change evidence', forged), ['{"immutables":{"3":"0x01"}}', matchId]);
    expect(await textOf(pathOf(address))).toContain('"unprovenValues":["immutables"]');
    await withdrawMatch(database, { chainId: 1, address, reason: 'test' });
    expect((await Promise.all(paths.map((path) => get(path)))).map(({ status }) => status)).toEqual(
      [404, 404, 404],
    );
    expect((await get(pathOf(address), held)).status).toBe(404);
    await saveMatch(database, richContract(address, 'partial', 3));
    expect(JSON.parse(await textOf(pathOf(address)))).toMatchObject({ match: 'match' });
  });

  test('is never older than the last commit before the request, during upgrades', async () => {
    const address = newAddress();
    const { database } = testDatabase;
    await saveMatch(database, richContract(address, 'partial', 5));
    let isDone = false;
    const seen: string[] = [];
    const reader = async (): Promise<void> => {
      while (!isDone)
        seen.push((JSON.parse(await textOf(pathOf(address))) as { match: string }).match);
    };
    const readers = [reader(), reader(), reader()];
    for (let round = 0; round < 4; round += 1) {
      await saveMatch(database, richContract(address, 'full', 6));
      expect(JSON.parse(await textOf(pathOf(address)))).toMatchObject({ match: 'exact_match' });
      await withdrawMatch(database, { chainId: 1, address, reason: 'test' });
      await saveMatch(database, richContract(address, 'partial', 5));
      expect(JSON.parse(await textOf(pathOf(address)))).toMatchObject({ match: 'match' });
    }
    isDone = true;
    await Promise.all(readers);
    expect(seen.length).toBeGreaterThan(0);
  });
});

describe('the published tree', () => {
  test('serves files of the current match only, and ETags change with it', async () => {
    const { database } = testDatabase;
    const address = newAddress();
    const file = `/${address}/sources/contracts/Sample.sol`;
    const ask = (folder: string, headers = {}): Promise<Response> =>
      fetch(`${service.repositoryUrl}/contracts/${folder}/1${file}`, { headers });
    await saveMatch(database, richContract(address, 'partial', 8));
    const first = await ask('partial_match');
    const tag = first.headers.get('etag') ?? '';
    expect((await ask('partial_match', { 'if-none-match': tag })).status).toBe(304);
    const missing = `${service.repositoryUrl}/contracts/partial_match/1/${address}/sources/none.sol`;
    expect((await fetch(missing, { headers: { 'if-none-match': '*' } })).status).toBe(404);
    await saveMatch(database, richContract(address, 'full', 9));
    expect((await ask('partial_match', { 'if-none-match': tag })).status).toBe(404);
    const second = await ask('full_match', { 'if-none-match': tag });
    expect([second.status, await second.text()]).toEqual([
      200,
      'contract Sample { /* \u0001 9 */ }',
    ]);
  });
});

test('a large response is complete, and concurrent requests get the same bytes', async () => {
  const address = newAddress();
  await saveMatch(testDatabase.database, largeContract(address, 'large'));
  const path = pathOf(address, 'fields=sources');
  const texts = await Promise.all(Array.from({ length: 4 }, () => textOf(path)));
  expect(new Set(texts).size).toBe(1);
  const { sources } = JSON.parse(texts[0] ?? '') as {
    sources: Record<string, { content: string }>;
  };
  expect(sources['large.sol']?.content).toHaveLength(LARGE_BYTES);
});

/** Returns the raw response: fetch decompresses it. */
async function readRaw(path: string, fields: string): Promise<{ head: string; body: Buffer }> {
  const { hostname, port } = new URL(service.apiUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${fields}\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const all = Buffer.concat(chunks);
  const end = all.indexOf('\r\n\r\n');
  return { head: all.subarray(0, end).toString(), body: all.subarray(end + 4) };
}
