import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { sql } from '../src/store/database.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import {
  CHAOS_MODES,
  CHAOS_NEEDS,
  startChaosUpstream,
  type ChaosUpstream,
} from './support/chaos-upstream.ts';
import { listedChain } from './support/made-up-lists.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { waitUntil } from './support/wait-for.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

interface Health {
  status: string;
  ready: boolean;
  reasons: { code: string; detail: string; since?: string }[];
  registry: { sha256: string; stale: boolean };
}

const RECORDS = Array.from({ length: 60 }, (_each, index) => listedChain(index + 1));
const NEWER = [...RECORDS, listedChain(1000)];
const READ_CODE = sql('test failure', 'SELECT failure_code FROM chain_list_sync');

let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
let testDatabase: TestDatabase;
let upstream: ChaosUpstream;
let service: BootedService;

const health = async (): Promise<Health> =>
  (await (await fetch(`${service.apiUrl}/health`)).json()) as Health;
const alarm = async () => (await health()).reasons.find(({ code }) => code === 'list_stale');
const document = async () => {
  const response = await fetch(`${service.apiUrl}/chains`);
  return {
    status: response.status,
    etag: response.headers.get('etag'),
    text: await response.text(),
  };
};

beforeAll(async () => {
  folder = await createTemporaryFolder();
  testDatabase = await createTestDatabase();
  const { contractChain, configuredChain, secret } = CHAOS_NEEDS;
  await saveMatch(
    testDatabase.database,
    sampleContract(contractChain, sampleAddress(1), { runtimeMatch: 'full' }),
  );
  upstream = await startChaosUpstream(NEWER);
  const list = path.join(folder.path, 'list.json');
  await writeFile(list, JSON.stringify(RECORDS));
  service = await bootService({
    databaseUrl: testDatabase.url,
    yaml: `
registry: { list: ${list}, defaults: false, sync: { urls: ['${upstream.url}'] } }
verification: { workers: 0 }
chains:
  ${configuredChain}: { privateRpc: ['https://rpc.example.org/\${RPC_KEY}'] }
`,
    environment: { RPC_KEY: secret },
    overrides: { listSyncTimes: { everyMs: 50, pollMs: 25, deadlineMs: 700 } },
  });
  await waitUntil(async () => (await document()).text.includes('"chainId":1000'));
});
afterAll(async () => {
  await service.close();
  await upstream.close();
  await testDatabase.drop();
  await folder.remove();
});

describe('a failing source of the public list', () => {
  test('is covered in at least 40 modes', () => {
    expect(new Set(CHAOS_MODES.map(({ name }) => name)).size).toBe(CHAOS_MODES.length);
    expect(CHAOS_MODES.length).toBeGreaterThanOrEqual(40);
  });

  test.each(CHAOS_MODES)(
    'leaves the last good list byte-identical, raises the alarm and recovers by itself: $name',
    async (mode) => {
      upstream.serve(NEWER);
      await waitUntil(async () => (await alarm()) === undefined);
      const before = await document();
      const startedAt = Date.now();
      upstream.fail(mode);
      await waitUntil(async () => (await alarm()) !== undefined);
      const reason = await alarm();
      expect(Date.parse(reason?.since ?? '')).toBeGreaterThanOrEqual(startedAt - 1000);
      expect(Date.parse(reason?.since ?? '')).toBeLessThanOrEqual(Date.now() + 1000);
      expect(reason?.detail).toContain('127.0.0.1');
      expect(reason?.detail).not.toContain(CHAOS_NEEDS.secret);
      const [row] = await testDatabase.database.query<{ failure_code: string }>(READ_CODE);
      expect(mode.codes).toContain(row?.failure_code);
      expect(await document()).toEqual(before);
      expect(await health()).toMatchObject({ ready: true, registry: { stale: true } });

      upstream.serve(NEWER);
      await waitUntil(async () => (await alarm()) === undefined);
      expect(await document()).toEqual(before);
      expect((await health()).registry.stale).toBe(false);
      expect(upstream.canaryConnections()).toBe(0);
    },
  );

  test('keeps the start time of the alarm when the fault changes', async () => {
    upstream.fail(CHAOS_MODES[0]!);
    await waitUntil(async () => (await alarm()) !== undefined);
    const first = await alarm();
    upstream.fail(CHAOS_MODES.find(({ name }) => name === 'an empty list')!);
    await waitUntil(async () => (await alarm())?.detail.includes('is empty') === true);
    expect((await alarm())?.since).toBe(first?.since);
    upstream.serve(NEWER);
    await waitUntil(async () => (await alarm()) === undefined);
  });
});

describe('an unusual but valid source of the public list', () => {
  const body = (): string => JSON.stringify([...NEWER, listedChain(2000)]);
  test.each<[string, Record<string, string>, (text: string) => string | Uint8Array]>([
    ['a byte order mark', {}, (text) => `\ufeff${text}`],
    ['a different media type', { 'content-type': 'text/plain' }, (text) => text],
    [
      'a different charset in its header',
      { 'content-type': 'text/html; charset=utf-16' },
      (t) => t,
    ],
    ['whitespace around the list', {}, (text) => `\n${text}\n\n`],
    ['an unknown field', {}, (text) => text.replace('{', '{"surprise":[1],')],
    [
      'one invalid record of a chain that is not in use',
      {},
      (t) => t.replace('[{', '[{"chainId":7e9,"name":5},{'),
    ],
  ])('is accepted: %s', async (_what, headers, turn) => {
    upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.end(turn(body()));
    });
    await waitUntil(async () => (await document()).text.includes('"chainId":2000'));
    expect(await alarm()).toBeUndefined();
    upstream.serve(NEWER);
    await waitUntil(async () => !(await document()).text.includes('"chainId":2000'));
  });
});
