// Contract routes of the API host as the tools in CLIENTS.md read them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type z } from '@hono/zod-openapi';
import { contractListSchema, contractSchema } from '../src/http/api/v2/contract-schema.ts';
import { checksumAddress, hexToBytes, type Hex } from '../src/lib/hex.ts';
import { saveMatch, saveMatches } from '../src/repository/matches/save-matches.ts';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { ALL_CHAINS, bootService, type BootedService } from './support/booted-service.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const CREATION_CODE = hexToBytes('0x6001600260036004');
const RUNTIME_CODE = hexToBytes('0x60036004');
const ARGUMENTS = `0x${'00'.repeat(31)}2a`;
/** Contains letters, so that its case can be wrong. */
const VERIFIED: Hex = '0xabcdefabcdefabcdefabcdefabcdefabcdefabcd';
const IMPORTED = sampleAddress(2);
const ABSENT = sampleAddress(99);

let testDatabase: TestDatabase;
let service: BootedService;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const sample = sampleContract(1, VERIFIED, { runtimeMatch: 'full', creationMatch: 'partial' });
  await saveMatch(testDatabase.database, {
    ...sample,
    origin: 'verified',
    deployment: {
      transactionHash: `0x${'ab'.repeat(32)}`,
      blockNumber: 21_000_000,
      transactionIndex: 0,
      deployer: sampleAddress(7),
      runtimeCode: RUNTIME_CODE,
      creationCode: Buffer.concat([CREATION_CODE, hexToBytes(ARGUMENTS)]),
    },
    compilation: {
      ...sample.compilation,
      artifacts: {
        abi: [{ type: 'function', name: 'v' }],
        userdoc: { version: 1 },
        storageLayout: { storage: [] },
        sources: { 'contracts/Sample.sol': { id: 0 } },
      },
      sources: [
        { path: 'contracts/Sample.sol', content: 'contract Sample {}' },
        { path: '__proto__', content: 'library Proto {}' },
      ],
      creationCode: CREATION_CODE,
      runtimeCode: RUNTIME_CODE,
      creationCodeArtifacts: { sourceMap: '1:2:3', linkReferences: {}, cborAuxdata: {} },
      runtimeCodeArtifacts: { sourceMap: '4:5:6', immutableReferences: {}, linkReferences: {} },
    },
    creation: {
      transformations: [
        { type: 'insert', reason: 'constructorArguments', offset: CREATION_CODE.length },
      ],
      values: { constructorArguments: ARGUMENTS },
    },
    runtime: { transformations: [], values: {} },
  });
  await saveMatches(testDatabase.database, [
    sampleContract(1, IMPORTED, { runtimeMatch: 'partial' }, { variant: 1 }),
    sampleContract(5, VERIFIED, { runtimeMatch: 'partial' }, { variant: 2 }),
    sampleContract(9_007_199_254_740_991, VERIFIED, { runtimeMatch: 'full' }, { variant: 3 }),
  ]);
  service = await bootService({ databaseUrl: testDatabase.url, environment: ALL_CHAINS });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

type Json = Record<string, unknown>;
async function get(
  path: string,
  init?: RequestInit,
): Promise<{ status: number; body: Json; headers: Headers }> {
  const response = await fetch(`${service.apiUrl}${path}`, { redirect: 'manual', ...init });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  const body = (isJson ? JSON.parse(text) : {}) as Json;
  return { status: response.status, body, headers: response.headers };
}
const results = (body: Json): Json[] => body['results'] as Json[];
const fits = (schema: z.ZodType, value: unknown): boolean => schema.safeParse(value).success;

const ERROR = {
  customCode: 'invalid_parameter',
  message: expect.any(String) as string,
  errorId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
};

describe('GET /v2/contract/{chainId}/{address}', () => {
  test('returns the minimal object: chainId as a string, checksummed address, separate matches', async () => {
    const { status, body } = await get(`/v2/contract/1/${VERIFIED}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      match: 'exact_match',
      creationMatch: 'match',
      runtimeMatch: 'exact_match',
      chainId: '1',
      address: checksumAddress(VERIFIED),
      verifiedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
      matchId: expect.stringMatching(/^[1-9]\d*$/) as string,
    });
  });

  test('returns the same below the prefix, with a trailing slash and for any address case', async () => {
    const { body } = await get(`/v2/contract/1/${VERIFIED}`);
    const upper = `0x${VERIFIED.slice(2).toUpperCase()}`;
    for (const path of [
      `/server/v2/contract/1/${VERIFIED}`,
      `/v2/contract/1/${VERIFIED}/`,
      `/v2/contract/1/${upper}`,
      `/v2/contract/1/${checksumAddress(VERIFIED)}`,
    ]) {
      expect(await get(path)).toMatchObject({ status: 200, body });
    }
    // Mixed case is a checksum (EIP-55), and this one is wrong.
    expect(await get(`/v2/contract/1/0xABcdefabcdefabcdefabcdefabcdefabcdefabcd`)).toMatchObject({
      status: 400,
      body: { customCode: 'invalid_parameter' },
    });
  });

  test('returns 404 with the minimal object and no error for an unverified contract', async () => {
    for (const chain of ['1', '10']) {
      const { status, body, headers } = await get(`/server/v2/contract/${chain}/${ABSENT}`);
      expect(status).toBe(404);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(body).toEqual({
        match: null,
        creationMatch: null,
        runtimeMatch: null,
        chainId: chain,
        address: checksumAddress(ABSENT),
      });
    }
  });

  test('returns the fields that Blockscout requests', async () => {
    const { body } = await get(
      `/v2/contract/1/${VERIFIED}?fields=sources,metadata,creationBytecode`,
    );
    expect(body['metadata']).toEqual({ variant: 0 });
    expect(JSON.stringify(body['sources'])).toContain('"__proto__":{"content":"library Proto {}"}');
    expect(body['creationBytecode']).toEqual({
      onchainBytecode: `0x6001600260036004${ARGUMENTS.slice(2)}`,
      recompiledBytecode: '0x6001600260036004',
      sourceMap: '1:2:3',
      linkReferences: {},
      cborAuxdata: {},
      transformations: [{ type: 'insert', reason: 'constructorArguments', offset: 8 }],
      transformationValues: { constructorArguments: ARGUMENTS },
    });
    expect(body).not.toHaveProperty('abi');
  });

  test('returns selected members of fields', async () => {
    const { body } = await get(
      `/v2/contract/1/${VERIFIED}?fields=compilation.name,compilation.language,deployment.blockNumber,abi`,
    );
    expect(body).toMatchObject({
      compilation: { name: 'Sample', language: 'Solidity' },
      deployment: { blockNumber: '21000000' },
      abi: [{ type: 'function', name: 'v' }],
    });
    expect(Object.keys(body['deployment'] as Json)).toEqual(['blockNumber']);
  });

  test('returns every field with fields=all, with null for what an import lacks', async () => {
    const all = (await get(`/v2/contract/1/${VERIFIED}?fields=all`)).body;
    expect(fits(contractSchema, all)).toBe(true);
    expect(all).toMatchObject({
      deployment: {
        transactionHash: `0x${'ab'.repeat(32)}`,
        blockNumber: '21000000',
        transactionIndex: '0',
        deployer: checksumAddress(sampleAddress(7)),
      },
      compilation: {
        compiler: 'solc',
        compilerVersion: '0.8.37+commit.00000000',
        fullyQualifiedName: 'contracts/Sample.sol:Sample',
        compilerSettings: { optimizer: { enabled: true, runs: 200 } },
      },
      sourceIds: { 'contracts/Sample.sol': { id: 0 } },
      devdoc: null,
      stdJsonInput: {
        language: 'Solidity',
        sources: { 'contracts/Sample.sol': { content: 'contract Sample {}' } },
        settings: { optimizer: { enabled: true, runs: 200 } },
      },
      stdJsonOutput: {
        contracts: {
          'contracts/Sample.sol': {
            Sample: {
              metadata: '{"variant":0}',
              evm: { deployedBytecode: { object: '60036004', immutableReferences: {} } },
            },
          },
        },
      },
    });
    const imported = (await get(`/v2/contract/1/${IMPORTED}?fields=all`)).body;
    expect(fits(contractSchema, imported)).toBe(true);
    expect(imported).toMatchObject({
      creationMatch: null,
      creationBytecode: {
        onchainBytecode: null,
        recompiledBytecode: null,
        transformationValues: null,
      },
      deployment: { transactionHash: null, blockNumber: null },
    });
  });

  test('excludes the fields named in omit', async () => {
    const { body } = await get(
      `/v2/contract/1/${VERIFIED}?omit=sources,stdJsonInput,stdJsonOutput,deployment.deployer,verifiedAt`,
    );
    for (const name of ['sources', 'stdJsonInput', 'stdJsonOutput', 'verifiedAt']) {
      expect(body).not.toHaveProperty(name);
    }
    expect(Object.keys(body['deployment'] as Json)).toEqual([
      'transactionHash',
      'blockNumber',
      'transactionIndex',
    ]);
    expect(body).toMatchObject({ match: 'exact_match', abi: [{}], metadata: { variant: 0 } });
  });

  test.each([
    ['an unknown field', `1/${VERIFIED}?fields=abi,nothing`],
    ['a member of a field without members', `1/${VERIFIED}?fields=abi.name`],
    [
      'a member of a member',
      `1/${VERIFIED}?fields=creationBytecode.transformationValues.constructorArguments`,
    ],
    ['an inherited name', `1/${VERIFIED}?fields=__proto__`],
    ['match', `1/${VERIFIED}?fields=match`],
    ['chainId', `1/${VERIFIED}?omit=chainId`],
    ['address', `1/${VERIFIED}?fields=address`],
    ['nothing', `1/${VERIFIED}?fields=`],
    ['both fields and omit', `1/${VERIFIED}?fields=abi&omit=sources`],
    ['a chain in hexadecimal', `0x1/${VERIFIED}`],
    ['a chain beyond 2^53-1', `9007199254740992/${VERIFIED}`],
    ['an address that is too short', `1/0xabc`],
  ])('rejects %s in its own error format', async (_what, path) => {
    for (const prefix of ['', '/server']) {
      const { status, body } = await get(`${prefix}/v2/contract/${path}`);
      expect(status).toBe(400);
      expect(body).toEqual(ERROR);
    }
  });

  test('returns errors in the same format for nonexistent routes', async () => {
    const { status, body } = await get('/server/v2/nothing');
    expect({ status, body }).toEqual({
      status: 404,
      body: { ...ERROR, customCode: 'route_not_found' },
    });
    const wrongMethod = await get(`/v2/contract/1/${VERIFIED}`, { method: 'DELETE' });
    expect(wrongMethod).toMatchObject({ status: 405, body: { customCode: 'method_not_allowed' } });
    expect(wrongMethod.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });
});

describe('GET /v2/contract/all-chains/{address}', () => {
  test('returns the contract on each chain, in ascending order', async () => {
    const { status, body } = await get(`/v2/contract/all-chains/${checksumAddress(VERIFIED)}`);
    expect(status).toBe(200);
    expect(fits(contractListSchema, body)).toBe(true);
    expect(results(body).map(({ chainId, match }) => [chainId, match])).toEqual([
      ['1', 'exact_match'],
      ['5', 'match'],
      ['9007199254740991', 'exact_match'],
    ]);
  });

  test('returns 404 with an empty list for an address without contracts', async () => {
    expect(await get(`/v2/contract/all-chains/${ABSENT}`)).toMatchObject({
      status: 404,
      body: { results: [] },
    });
  });
});

describe('GET /v2/contracts/{chainId}', () => {
  const CHAIN = 77;
  const list = async (query: string): Promise<Json[]> =>
    results((await get(`/v2/contracts/${CHAIN}?${query}`)).body);
  const save = (number: number, match: 'full' | 'partial', variant = number): Promise<unknown> =>
    saveMatch(
      testDatabase.database,
      sampleContract(CHAIN, sampleAddress(number), { runtimeMatch: match }, { variant }),
    );

  beforeAll(async () => {
    for (let number = 1; number <= 7; number += 1) await save(number, 'partial');
  });

  test.each(['asc', 'desc'] as const)(
    'returns every contract once across pages, %s',
    async (sort) => {
      const seen: Json[] = [];
      for (let after = ''; ;) {
        const page = await list(`sort=${sort}&limit=3${after}`);
        if (page.length === 0) break;
        expect(page.length).toBeLessThanOrEqual(3);
        seen.push(...page);
        after = `&afterMatchId=${String(page.at(-1)?.['matchId'])}`;
      }
      const ids = seen.map(({ matchId }) => Number(matchId));
      const ascending = [...ids].sort((left, right) => left - right);
      expect(ids).toEqual(sort === 'asc' ? ascending : ascending.reverse());
      expect(new Set(seen.map(({ address }) => address)).size).toBe(7);
    },
  );

  test('returns the newest first by default, and an upgraded match as the newest', async () => {
    await save(3, 'full', 33);
    const all = await list('');
    expect(all).toHaveLength(7);
    expect(all[0]).toMatchObject({
      match: 'exact_match',
      address: checksumAddress(sampleAddress(3)),
    });
    await save(2, 'partial', 22);
    expect(await list('')).toEqual(all);
  });

  test('excludes withdrawn contracts', async () => {
    await withdrawMatch(testDatabase.database, {
      chainId: CHAIN,
      address: sampleAddress(5),
      reason: 'test',
    });
    expect((await list('')).map(({ address }) => address)).not.toContain(
      checksumAddress(sampleAddress(5)),
    );
  });

  test('is empty for a chain without contracts', async () => {
    expect((await get('/v2/contracts/10')).body).toEqual({ results: [] });
  });

  test.each([
    `/v2/contract/123456789/${ABSENT}`,
    `/v2/contract/123456789/${ABSENT}?fields=all`,
    '/v2/contracts/123456789',
  ])('reports an unknown chain as not supported: %s', async (path) => {
    expect(await get(path)).toMatchObject({
      status: 400,
      body: { customCode: 'unsupported_chain' },
    });
    const joined = await get(`/server${path.slice(1)}`);
    expect(joined).toMatchObject({ status: 400, body: { customCode: 'unsupported_chain' } });
  });

  test('is reachable with prefix and v2 joined without a slash, as forge does', async () => {
    const path = `/contract/1/${VERIFIED}?fields=all`;
    expect((await get(`/serverv2${path}`)).body).toEqual((await get(`/v2${path}`)).body);
    expect((await get('/serverv2/nothing')).body).toMatchObject({ customCode: 'route_not_found' });
  });

  test.each([
    'limit=0',
    'limit=201',
    'limit=x',
    'limit=1e2',
    'sort=up',
    'afterMatchId=-1',
    'afterMatchId=9223372036854775808',
  ])('rejects %s', async (query) => {
    expect(await get(`/v2/contracts/1?${query}`)).toMatchObject({ status: 400, body: ERROR });
  });
});

describe('page URLs opened by tools', () => {
  test('lead to the contract page, below every prefix', async () => {
    for (const path of [`/repo-ui/1/${VERIFIED}`, `/server/repo-ui/1/${VERIFIED}/`]) {
      const response = await fetch(`${service.apiUrl}${path}`);
      expect(response.redirected).toBe(true);
      expect(response.status).toBe(200);
      expect(new URL(response.url).pathname).toBe(
        `${path.startsWith('/server') ? '/server' : ''}/contract/1/${checksumAddress(VERIFIED)}`,
      );
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const text = await response.text();
      expect(text).toContain('<title>Sample on chain 1');
      expect(text).toContain('Full match');
    }
  });

  test.each([
    ['/verify-ui', '/verify'],
    ['/verify-ui/', '/verify'],
    ['/server/verify-ui/etherscan', '/server/verify'],
    ['/verify-ui/a//b/', '/verify'],
    ['/repo-ui', '/contracts'],
    ['/server/repo-ui/', '/server/contracts'],
    ['/api-docs', '/docs'],
    ['/server/api-docs/', '/server/docs'],
    ['/api-docs/swagger.json', '/openapi.json'],
  ])('%s leads to %s', async (path, target) => {
    const response = await fetch(`${service.apiUrl}${path}`, { redirect: 'manual' });
    expect(response.status).toBe(302);
    const location = new URL(response.headers.get('location') ?? '', `${service.apiUrl}${path}`);
    expect(location.pathname).toBe(target);
    expect(location.origin).toBe(new URL(service.apiUrl).origin);
    expect((await fetch(location)).status).toBe(200);
  });

  test('lead to the job page', async () => {
    const id = '3b9b2d1c-7c0f-4d5e-9d6a-0a1b2c3d4e5f';
    const { status, headers } = await get(`/server/verify-ui/jobs/${id}`);
    expect(status).toBe(302);
    const page = new URL(
      headers.get('location') ?? '',
      `${service.apiUrl}/server/verify-ui/jobs/${id}`,
    );
    expect(page.pathname).toBe(`/server/job/${id}`);
    expect((await fetch(page)).status).toBe(404);
  });

  test('report unverified contracts and invalid addresses', async () => {
    const absent = await fetch(`${service.apiUrl}/contract/1/${ABSENT}`);
    expect(absent.status).toBe(404);
    expect(await absent.text()).toContain('Not verified');
    const broken = await fetch(`${service.apiUrl}/contract/1/0x12`);
    expect(broken.status).toBe(400);
  });
});

describe('verification API v1', () => {
  const address = checksumAddress(VERIFIED);

  test('reports on which chains each address is verified, as hardhat-verify 2 requests', async () => {
    const { status, body } = await get(
      `/server/check-all-by-addresses?addresses=${VERIFIED},${ABSENT}&chainIds=1,5,10`,
    );
    expect(status).toBe(200);
    expect(body).toEqual([
      {
        address,
        chainIds: [
          { chainId: '1', status: 'perfect' },
          { chainId: '5', status: 'partial' },
        ],
      },
      { address: checksumAddress(ABSENT), status: 'false' },
    ]);
  });

  test('reports only full matches when those are requested', async () => {
    const { body } = await get(
      `/check-by-addresses?addresses=${VERIFIED},${IMPORTED}&chainIds=1,5`,
    );
    expect(body).toEqual([
      { address, status: 'perfect', chainIds: ['1'] },
      { address: checksumAddress(IMPORTED), status: 'false' },
    ]);
  });

  test('returns files with their contents and with working URLs', async () => {
    const folder = `contracts/full_match/1/${address}`;
    const files = (await get(`/files/any/1/${VERIFIED}`)).body;
    expect(files).toMatchObject({
      status: 'full',
      files: expect.arrayContaining([
        { name: 'metadata.json', path: `${folder}/metadata.json`, content: '{"variant":0}' },
        {
          name: 'Sample.sol',
          path: `${folder}/sources/contracts/Sample.sol`,
          content: 'contract Sample {}',
        },
        {
          name: 'constructor-args.txt',
          path: `${folder}/constructor-args.txt`,
          content: ARGUMENTS,
        },
      ]) as unknown,
    });
    const tree = (await get(`/server/files/tree/any/1/${VERIFIED}`)).body as {
      status: string;
      files: string[];
    };
    expect(tree.status).toBe('full');
    const contents = await Promise.all(tree.files.map(async (url) => (await fetch(url)).text()));
    expect(contents).toEqual(
      (files['files'] as { content: string }[]).map(({ content }) => content),
    );
  });

  test('lists the addresses of a chain', async () => {
    expect((await get('/files/contracts/1')).body).toEqual({
      full: [address],
      partial: [checksumAddress(IMPORTED)],
    });
  });

  test('rejects a list too large for one response and names the paged route', async () => {
    const chainId = 78;
    const many = Array.from({ length: 1001 }, (_, index) =>
      sampleContract(chainId, sampleAddress(index + 1), { runtimeMatch: 'partial' }),
    );
    await saveMatches(testDatabase.database, many.slice(0, 1000));
    expect((await get(`/files/contracts/${chainId}`)).body['partial']).toHaveLength(1000);
    await saveMatches(testDatabase.database, many.slice(1000));
    expect(await get(`/files/contracts/${chainId}`)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('/v2/contracts/78') as string },
    });
  });

  test('returns the addresses of a chain in numbered pages, for all matches or for one kind', async () => {
    const page = async (path: string) => (await get(`/files/contracts/${path}`)).body;
    const any = await page('any/1?limit=1');
    expect(any).toEqual({
      results: [address],
      pagination: {
        currentPage: 0,
        totalPages: 2,
        resultsPerPage: 1,
        resultsCurrentPage: 1,
        totalResults: 2,
        hasNextPage: true,
        hasPreviousPage: false,
      },
    });
    expect(await page('any/1?limit=1&page=1')).toMatchObject({
      results: [checksumAddress(IMPORTED)],
      pagination: { hasNextPage: false, hasPreviousPage: true },
    });
    expect(await page('any/1?order=desc')).toMatchObject({
      results: [checksumAddress(IMPORTED), address],
    });
    expect(await page('full/1')).toMatchObject({
      results: [address],
      pagination: { totalResults: 1, resultsPerPage: 200 },
    });
    expect(await page('partial/1')).toMatchObject({ results: [checksumAddress(IMPORTED)] });
    expect(await page('partial/10')).toMatchObject({ results: [], pagination: { totalPages: 0 } });
  });

  test('serves the legacy route spellings too', async () => {
    for (const [old, path] of [
      ['checkAllByAddresses', 'check-all-by-addresses'],
      ['checkByAddresses', 'check-by-addresses'],
    ]) {
      const query = `?addresses=${VERIFIED},${ABSENT}&chainIds=1,5`;
      expect((await get(`/server/${old}${query}`)).body).toEqual(
        (await get(`/${path}${query}`)).body,
      );
    }
  });

  test.each([
    ['/files/contracts/any/1?limit=201', 400],
    ['/files/contracts/any/1?page=101&limit=200', 400],
    ['/files/contracts/any/1?order=up', 400],
    ['/files/contracts/some/1', 400],
    ['/files/contracts/any/123456789', 400],
    [`/files/123456789/${ABSENT}`, 400],
    ['/checkByAddresses', 400],
    ['/check-all-by-addresses', 400],
    [`/check-all-by-addresses?addresses=0x12&chainIds=1`, 400],
    [`/check-all-by-addresses?addresses=${VERIFIED}&chainIds=mainnet`, 400],
    [
      `/server/check-by-addresses?addresses=${Array.from({ length: 101 }, (_, index) => sampleAddress(index)).join(',')}&chainIds=1`,
      400,
    ],
    [`/files/any/1/${ABSENT}`, 404],
    [`/server/files/tree/any/1/${ABSENT}`, 404],
    ['/files/contracts/x', 400],
    ['/files/nothing', 404],
  ])('returns {error} with the reason at %s', async (path, status) => {
    const answer = await get(path);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error: expect.any(String) as string });
  });
});
