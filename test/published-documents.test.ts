import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { chainRecordSchema } from '../src/chains/registry/chain-record-schema.ts';
import { statisticsJsonSchema } from '../src/http/repository/statistics-schema.ts';
import { saveMatch, saveMatches } from '../src/repository/matches/save-matches.ts';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import {
  ALL_CHAINS,
  bootService,
  prepareService,
  startProgram,
  type BootedService,
} from './support/booted-service.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { sharedData } from './support/shared-data.ts';
import { sql } from '../src/store/database.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { waitUntil } from './support/wait-for.ts';

interface ChainElement {
  name: string;
  chainId: number;
  supported: boolean;
  monitored: boolean;
  rpc: string[];
}
type Counts = Record<string, { full_match: number; partial_match: number }>;

const readJson = async <T>(url: string): Promise<T> => {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return (await response.json()) as T;
};
const isValid = (schema: object, value: unknown): boolean =>
  new Ajv2020({ strict: false, validateFormats: false }).validate(schema, value);

let testDatabase: TestDatabase;
let service: BootedService;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  service = await bootService({ databaseUrl: testDatabase.url, environment: ALL_CHAINS });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

const chains = (): Promise<ChainElement[]> => readJson(`${service.apiUrl}/chains`);
const counts = (): Promise<Counts> => readJson(`${service.repositoryUrl}/stats.json`);

describe('GET /chains', () => {
  test('lists at least 1,900 chains in ascending order, supported or not, as its schema defines', async () => {
    const list = await chains();
    expect(list.length).toBeGreaterThanOrEqual(1900);
    expect(list.map(({ chainId }) => chainId)).toEqual(
      list.map(({ chainId }) => chainId).sort((left, right) => left - right),
    );
    expect(new Set(list.map(({ chainId }) => chainId)).size).toBe(list.length);
    expect(new Set(list.map(({ supported }) => supported))).toEqual(new Set([true, false]));
    expect(list.every(({ monitored }) => !monitored)).toBe(true);
    expect(z.array(chainRecordSchema).safeParse(list).error).toBeUndefined();
  });

  test('returns the same bytes and headers below the prefix', async () => {
    const [plain, prefixed] = await Promise.all(
      ['/chains', '/server/chains'].map((path) => fetch(`${service.apiUrl}${path}`)),
    );
    expect(prefixed!.headers.get('etag')).toBe(plain!.headers.get('etag'));
    expect(await prefixed!.text()).toBe(await plain!.text());
  });

  test('adds a record for an unlisted chain with its first contract and keeps it after a withdrawal', async () => {
    const chainId = 9_007_199_254_740_000;
    const address = sampleAddress(1);
    await saveMatch(
      testDatabase.database,
      sampleContract(chainId, address, { runtimeMatch: 'partial' }),
    );
    await waitUntil(async () => `${chainId}` in (await counts()));
    const record = {
      name: `Unknown chain ${chainId}`,
      chainId,
      rpc: [],
      supported: false,
      monitored: false,
    };
    expect((await chains()).find((chain) => chain.chainId === chainId)).toEqual(record);
    await withdrawMatch(testDatabase.database, { chainId, address, reason: 'test' });
    await waitUntil(async () => (await counts())[chainId]?.partial_match === 0);
    expect((await chains()).find((chain) => chain.chainId === chainId)).toEqual(record);
  });
});

describe('GET /stats.json', () => {
  test('shows a stored match on both processes of one database, with one ETag', async () => {
    const other = await startProgram({ environment: { DATABASE_URL: testDatabase.url } });
    try {
      for (let number = 1; number <= 5; number += 1) {
        const shown = async (url: string): Promise<boolean> =>
          (await readJson<Counts>(`${url}/stats.json`))['777']?.full_match === number;
        await saveMatch(
          testDatabase.database,
          sampleContract(777, sampleAddress(number), { runtimeMatch: 'full' }),
        );
        await waitUntil(() => shown(service.repositoryUrl));
        await waitUntil(() => shown(other.repositoryUrl));
      }
      const tags = await Promise.all(
        [service, other].map(async ({ repositoryUrl }) =>
          (await fetch(`${repositoryUrl}/stats.json`)).headers.get('etag'),
        ),
      );
      expect(tags[0]).toBe(tags[1]);
    } finally {
      other.child.kill('SIGTERM');
      expect(await other.ended).toBe(0);
    }
  });

  test('lists a chain with only partial matches, with keys in numeric order even beyond 2^32', async () => {
    await saveMatches(testDatabase.database, [
      sampleContract(4_294_967_297, sampleAddress(1), { runtimeMatch: 'partial' }),
      sampleContract(99, sampleAddress(1), { runtimeMatch: 'full' }),
    ]);
    await waitUntil(async () => '99' in (await counts()));
    const text = await (await fetch(`${service.repositoryUrl}/stats.json`)).text();
    const keys = [...text.matchAll(/"(\d+)":/g)].map(([, key]) => Number(key));
    expect(keys).toEqual([...keys].sort((left, right) => left - right));
    expect((JSON.parse(text) as Counts)['4294967297']).toEqual({ full_match: 0, partial_match: 1 });
    expect(isValid(statisticsJsonSchema, JSON.parse(text))).toBe(true);
  });

  test.skipIf(sharedData('stats-2026-08-22.json') === undefined)(
    'serves the real distribution of 374 chains, if ../shared/data exists',
    async () => {
      const real = sharedData('stats-2026-08-22.json') as Counts;
      const large = await createTestDatabase();
      try {
        const ids = Object.keys(real);
        await large.database.query(
          {
            label: 'test fill counts',
            text: 'INSERT INTO chain_counts (chain_id, full_match, partial_match) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])',
          },
          [ids, ids.map((id) => real[id]!.full_match), ids.map((id) => real[id]!.partial_match)],
        );
        const booted = await bootService({ databaseUrl: large.url });
        try {
          const served = await readJson<Counts>(`${booted.repositoryUrl}/stats.json`);
          expect(served).toEqual(real);
          expect(isValid(statisticsJsonSchema, served)).toBe(true);
          const known = new Set(
            (await readJson<ChainElement[]>(`${booted.apiUrl}/chains`)).map(
              ({ chainId }) => `${chainId}`,
            ),
          );
          expect(ids.filter((id) => !known.has(id))).toEqual([]);
        } finally {
          await booted.close();
        }
      } finally {
        await large.drop();
      }
    },
  );
});

describe('existing readers', () => {
  test('a plugin that looks up a supported chain by id finds it', async () => {
    const supported = (await chains()).filter((chain) => chain.supported);
    const chain = supported.find(({ chainId }) => chainId === 1);
    expect(chain?.name).toBe('Ethereum Mainnet');
  });

  test('a page that sums both counts and names each chain gets numbers and names', async () => {
    const names = new Map((await chains()).map(({ chainId, name }) => [`${chainId}`, name]));
    let full = 0;
    let partial = 0;
    for (const [chainId, chain] of Object.entries(await counts())) {
      expect(names.get(chainId)).toBeTypeOf('string');
      full += chain.full_match;
      partial += chain.partial_match;
    }
    expect(full).toBeGreaterThan(0);
    expect(Number.isSafeInteger(full + partial)).toBe(true);
  });
});

describe('configuration', () => {
  const boot = async <T>(
    options: { yaml: string; environment?: Record<string, string> },
    look: (booted: BootedService) => Promise<T>,
  ): Promise<T> => {
    const booted = await bootService({ databaseUrl: testDatabase.url, ...options });
    try {
      return await look(booted);
    } finally {
      await booted.close();
    }
  };

  test('a configured chain shows both values of supported and monitored and overrides the list', async () => {
    const yaml = `
chains:
  424242: { name: My chain, monitor: true, rpc: ['https://rpc.example.org'] }
  5: { supported: false, monitored: true }
monitor: { enabled: false }
`;
    // Watched by another process of the database.
    await testDatabase.database.query(
      sql(
        'test cursor',
        `INSERT INTO monitor_cursors (chain_id, start_block, number) VALUES (424242, 0, 7), (5, 0, 7)`,
      ),
    );
    const list = await boot({ yaml }, ({ apiUrl }) => readJson<ChainElement[]>(`${apiUrl}/chains`));
    expect(list.find(({ chainId }) => chainId === 424242)).toMatchObject({
      name: 'My chain',
      supported: true,
      monitored: true,
      rpc: ['https://rpc.example.org'],
    });
    expect(list.find(({ chainId }) => chainId === 5)).toMatchObject({
      supported: false,
      monitored: false,
    });
    expect(new Set(list.map(({ monitored }) => monitored))).toEqual(new Set([true, false]));
  });

  test('a disabled host does not listen, and the other prefix is the configured one', async () => {
    const yaml = 'api: { prefix: /verify }\nrepository: { enabled: false }\n';
    await boot({ yaml }, async ({ apiUrl, repositoryUrl }) => {
      expect(repositoryUrl).toBe('');
      expect((await fetch(`${apiUrl}/verify/chains`)).status).toBe(200);
      expect((await fetch(`${apiUrl}/server/chains`)).status).toBe(404);
    });
  });

  test('private endpoint keys and the database password appear in no response and no log line', async () => {
    const canary = 'canary-4f1b9c';
    const yaml = `
chains:
  1: { privateRpc: ['https://rpc.example.org/v3/\${EXAMPLE_KEY}'] }
  424242: { name: Mine, privateRpc: ['https://user:${canary}@10.0.0.1:8545/'] }
`;
    const environment = { EXAMPLE_KEY: `${canary}-key` };
    await boot({ yaml, environment }, async ({ apiUrl, repositoryUrl, logText }) => {
      const paths = [
        '/',
        '/chains',
        '/chains/1',
        '/chains/424242',
        '/v1/registry',
        '/registry',
        '/registry/424242',
        '/counts',
        '/health',
        '/readyz',
        '/version',
        '/docs',
        '/openapi.json',
        '/nothing',
      ];
      const answers = await Promise.all(
        [
          ...paths.map((path) => `${apiUrl}${path}`),
          `${repositoryUrl}/`,
          `${repositoryUrl}/stats.json`,
        ].map(async (url) => {
          const response = await fetch(url);
          return `${JSON.stringify([...response.headers])}${await response.text()}`;
        }),
      );
      for (const text of [...answers, logText()]) expect(text).not.toContain(canary);
    });
  });

  test('publishing a secret fails the start with an error that names chain and field, not the secret', async () => {
    const { service: leaking, logText } = prepareService({
      databaseUrl: testDatabase.url,
      environment: { EXAMPLE_KEY: 'canary-77aa12' },
      yaml: `
chains:
  424242: { name: Mine, rpc: ['https://rpc.example.org/v3/canary-77aa12'], privateRpc: ['https://rpc.example.org/v3/\${EXAMPLE_KEY}'] }
`,
    });
    const error: unknown = await leaking.start().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'secret_in_document',
      message: expect.stringMatching(/424242.*rpc/) as string,
    });
    expect(JSON.stringify(error) + String(error) + logText()).not.toContain('canary-77aa12');
  });
});
