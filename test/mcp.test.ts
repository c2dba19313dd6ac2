// The Model Context Protocol at /mcp, through the protocol's own client.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bootService, type BootedService } from './support/booted-service.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';

const ADDRESS = sampleAddress(0xac_01);
const NOBODY = sampleAddress(0xac_02);

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const messageOf = (id: number) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call' },
  params: { name: 'find_chain', arguments: { query: `chain ${id}` } },
});

describe('the Model Context Protocol', () => {
  let testDatabase: TestDatabase;
  let service: BootedService;
  let client: Client;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    await saveMatches(testDatabase.database, [
      sampleContract(1, ADDRESS, { runtimeMatch: 'full' }),
    ]);
    service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: 'mcp: { enabled: true }\nverification: { workers: 0 }\n',
    });
    client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${service.apiUrl}/mcp`)));
  });
  afterAll(async () => {
    await client.close();
    await service.close();
    await testDatabase.drop();
  });

  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    const [first] = content as { type: string; text: string }[];
    return { isError: isError === true, text: first?.text ?? '' };
  };
  const read = async (name: string, args?: Record<string, unknown>): Promise<unknown> => {
    const { isError, text } = await call(name, args);
    expect({ isError, text }).toMatchObject({ isError: false });
    return JSON.parse(text);
  };
  const place = { chainId: 1, address: ADDRESS };

  test('lists read-only tools, each with a description', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      ...['find_chain', 'find_contract', 'read_abi', 'read_contract', 'read_sources'],
      ...['read_statistics', 'why_not_verified'],
    ]);
    for (const { description, annotations } of tools) {
      expect(description).toMatch(/\.$/);
      expect(annotations).toMatchObject({ readOnlyHint: true });
    }
  });

  test('finds a contract and reads its match, sources and ABI', async () => {
    const found = (await read('find_contract', { query: ADDRESS })) as { results: object[] };
    expect(found.results).toMatchObject([{ chainId: 1 }]);
    expect(await read('read_contract', place)).toMatchObject({ chainId: '1' });
    const { sources } = (await read('read_sources', place)) as { sources: { path: string }[] };
    const path = sources[0]?.path;
    expect(JSON.stringify(await read('read_sources', { ...place, path }))).toContain('contract');
    expect(Array.isArray(await read('read_abi', place))).toBe(true);
  });

  test('finds chains and returns the counts', async () => {
    const found = (await read('find_chain', { query: 'ethereum' })) as { results: object[] };
    expect(found.results[0]).toMatchObject({ chainId: 1, name: 'Ethereum Mainnet' });
    await expect
      .poll(() => read('read_statistics'))
      .toMatchObject({ totals: { full: 1, partial: 0 } });
  });

  test('returns tool errors with their code for missing data', async () => {
    const absent = await call('read_abi', { ...place, address: NOBODY });
    expect(absent.isError).toBe(true);
    const job = await call('why_not_verified', {
      verificationId: '3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f',
    });
    expect(job.isError).toBe(true);
    expect(JSON.parse(job.text)).toMatchObject({ customCode: 'job_not_found' });
  });

  test.each([
    ['read_contract', { chainId: 0, address: ADDRESS }],
    ['read_contract', { chainId: 1, address: '../../health' }],
    ['why_not_verified', { verificationId: '../../health' }],
    ['find_contract', { query: 'a'.repeat(201) }],
    ['withdraw', {}],
  ])('rejects %s with %j', async (name, args) => {
    const refused = await call(name, args).catch((error: unknown) => ({
      isError: error instanceof Error,
    }));
    expect(refused.isError).toBe(true);
  });

  test('keeps no stream open and rejects large bodies', async () => {
    const asked = await fetch(`${service.apiUrl}/mcp`, {
      headers: { accept: 'text/event-stream' },
    });
    expect(asked.status).toBe(405);
    await asked.text();
    const large = await fetch(`${service.apiUrl}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'ping',
        params: { a: 'a'.repeat(70_000) },
      }),
    });
    expect(large.status).toBe(413);
    await large.text();
  });

  const post = (body: unknown): Promise<Response> =>
    fetch(`${service.apiUrl}/mcp`, {
      method: 'POST',
      headers: HEADERS,
      body: JSON.stringify(body),
    });

  test.each<{ what: string; batch: readonly object[] }>([
    {
      what: 'a call and its own cancellation, which would never be answered',
      batch: [
        messageOf(1),
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      ],
    },
    {
      what: 'many calls in one request',
      batch: Array.from({ length: 100 }, (_, id) => messageOf(id)),
    },
  ])('rejects $what', async ({ batch }) => {
    const answer = await post(batch);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: -32_600 } });
  });
});

test('/mcp returns 404 when disabled', async () => {
  const testDatabase = await createTestDatabase();
  const service = await bootService({ databaseUrl: testDatabase.url });
  const answer = await fetch(`${service.apiUrl}/mcp`, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(404);
  await answer.text();
  await service.close();
  await testDatabase.drop();
});
