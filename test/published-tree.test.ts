// The contract tree on the repository host, as wallets, explorers and plain HTTP clients read it.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importRepository } from '../src/importer/import-repository.ts';
import { bytesToHex, checksumAddress, type Hex } from '../src/lib/hex.ts';
import { keccak256 } from '../src/lib/keccak.ts';
import { silentLogger } from '../src/log.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { readStatistics, renderStatistics } from '../src/repository/statistics/statistics.ts';
import { type Match, type VerifiedContract } from '../src/repository/matches/verified-contract.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { writeExampleTree } from './support/example-tree.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const LONG_NAME = `${'deep/'.repeat(900)}${'x'.repeat(500)}.sol`;
/** Source names from an attacker, a careless tool and an honest project. */
const NAMES = [
  '../../x',
  '../../../../../../etc/passwd',
  '__proto__',
  'x.html',
  'line\r\nX-Injected: 1',
  'contracts/Token.sol',
  '@openzeppelin/contracts/Token.sol',
  'https://example.org/a//b.sol',
  'project:/src/Grüße an alle.sol',
  'C:\\Windows\\win.ini',
  'file',
  'file/below.sol',
  'Case.sol',
  'case.sol',
  'a@b.sol',
  'a_b.sol',
  '_renamed/taken.sol',
  '100%25.sol',
  '?query#hash.sol',
  LONG_NAME,
];
const HOSTILE = sampleAddress(0xabcdef);
const PARTIAL = sampleAddress(3);
/** Contracts for several pages of a folder. */
const MANY = Array.from({ length: 5 }, (_, index) => sampleAddress(0x7_00 + index));
const contentOf = (name: string): string =>
  `// ${JSON.stringify(name)} <script>alert(1)</script> ü`;

/** A contract whose metadata lists its sources with their hashes, so that an import accepts it. */
function contractWith(
  chainId: number,
  address: Hex,
  match: Match,
  names: readonly string[],
): VerifiedContract {
  const sources = names.map((path) => ({ path, content: contentOf(path) }));
  const [target = ''] = names;
  const metadata = {
    compiler: { version: '0.8.37+commit.00000000' },
    language: 'Solidity',
    output: { abi: [] },
    settings: { compilationTarget: Object.fromEntries([[target, 'Sample']]) },
    sources: Object.fromEntries(
      sources.map(({ path, content }) => [
        path,
        { keccak256: bytesToHex(keccak256(Buffer.from(content, 'utf8'))) },
      ]),
    ),
    version: 1,
  };
  const sample = sampleContract(chainId, address, { runtimeMatch: match });
  return {
    ...sample,
    deployment: { transactionHash: `0x${'cd'.repeat(32)}` },
    compilation: {
      ...sample.compilation,
      fullyQualifiedName: `${target}:Sample`,
      metadata: JSON.stringify(metadata),
      runtimeCodeArtifacts: { immutableReferences: { '7': [{ start: 1, length: 32 }] } },
      sources,
    },
    creation: { transformations: [], values: { constructorArguments: '0x2a' } },
    runtime: {
      transformations: [],
      values: { libraries: { 'contracts/Lib.sol:Lib': sampleAddress(9) } },
    },
  };
}

let testDatabase: TestDatabase;
let service: BootedService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmatch-tree-'));
  testDatabase = await createTestDatabase();
  await saveMatches(testDatabase.database, [
    contractWith(1, HOSTILE, 'full', NAMES),
    contractWith(5_000_000_000, PARTIAL, 'partial', ['a.sol']),
    ...MANY.map((address) => contractWith(77, address, 'full', ['a.sol'])),
  ]);
  service = await bootService({ databaseUrl: testDatabase.url });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
  await rm(folder, { recursive: true, force: true });
});

const FOLDER = `/contracts/full_match/1/${checksumAddress(HOSTILE)}`;
interface Folder {
  match: Match;
  files: { path: string; url: string; bytes?: number }[];
}
const get = (path: string, init?: RequestInit): Promise<Response> =>
  fetch(`${service.repositoryUrl}${path}`, init);
const listFolder = async (path = FOLDER): Promise<Folder> =>
  (await (await get(path)).json()) as Folder;

/** Sends a request with its path unchanged; fetch would resolve `..` segments. */
function getRaw(path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(service.repositoryUrl);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end();
  });
}

describe('a contract folder', () => {
  test('lists its files with working URLs, whatever the sources are named', async () => {
    const { match, files } = await listFolder();
    expect(match).toBe('full');
    const sources = files.filter(({ path }) => path.startsWith('sources/'));
    expect(sources).toHaveLength(NAMES.length);
    const contents = await Promise.all(sources.map(async ({ url }) => (await get(url)).text()));
    expect(contents.sort()).toEqual(NAMES.map(contentOf).sort());
    expect(files.map(({ path }) => path).filter((path) => !path.startsWith('sources/'))).toEqual([
      'constructor-args.txt',
      'creator-tx-hash.txt',
      'immutable-references.json',
      'library-map.json',
      'metadata.json',
      'path-translation.json',
    ]);
  });

  test('gives the size of each file, and the total per page', async () => {
    const { files } = await listFolder();
    const served = await Promise.all(
      files.map(async ({ url }) => (await (await get(url)).arrayBuffer()).byteLength),
    );
    expect(files.map(({ bytes }) => bytes)).toEqual(served);
    const page = await (await get(FOLDER, { headers: { accept: 'text/html' } })).text();
    const total = served.reduce((sum, bytes) => sum + bytes, 0).toLocaleString('en-US');
    expect(page).toContain(`${total} bytes`);
  });

  test('maps each renamed source in path-translation.json', async () => {
    const translation = new Map(
      Object.entries(
        (await (await get(`${FOLDER}/path-translation.json`)).json()) as Record<string, string>,
      ),
    );
    for (const name of NAMES) {
      const path = translation.get(name) ?? name;
      const url = `${FOLDER}/sources/${path.split('/').map(encodeURIComponent).join('/')}`;
      expect(await (await get(url)).text()).toBe(contentOf(name));
    }
    expect(translation.has('contracts/Token.sol')).toBe(false);
    expect(translation.has('__proto__')).toBe(false);
    expect(translation.get('../../x')).toMatch(/^_renamed\/[0-9a-f]{64}$/);
  });

  test('contains the auxiliary files as other tools write them', async () => {
    const text = async (file: string): Promise<string> => (await get(`${FOLDER}/${file}`)).text();
    expect(await text('creator-tx-hash.txt')).toBe(`0x${'cd'.repeat(32)}`);
    expect(await text('constructor-args.txt')).toBe('0x2a');
    expect(JSON.parse(await text('immutable-references.json'))).toEqual({
      '7': [{ start: 1, length: 32 }],
    });
    const placeholder = `__$${bytesToHex(keccak256(Buffer.from('contracts/Lib.sol:Lib'))).slice(2, 36)}$__`;
    expect(JSON.parse(await text('library-map.json'))).toEqual({
      [placeholder]: sampleAddress(9).slice(2),
    });
  });

  test('is served for an address in any case, and only for its own match', async () => {
    const address = HOSTILE.slice(2);
    for (const spelled of [address, address.toUpperCase()]) {
      expect((await get(`/contracts/full_match/1/0x${spelled}/metadata.json`)).status).toBe(200);
    }
    const partial = `/contracts/partial_match/5000000000/${checksumAddress(PARTIAL)}`;
    expect((await get(`${partial}/metadata.json`)).status).toBe(200);
    expect((await get(`${partial}/`)).status).toBe(200);
    for (const path of [
      FOLDER.replace('full', 'partial'),
      `${FOLDER.replace('full', 'partial')}/metadata.json`,
      `${partial.replace('partial', 'full')}/metadata.json`,
      `/contracts/full_match/2/${checksumAddress(HOSTILE)}/metadata.json`,
    ]) {
      const response = await get(path);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: 'contract_not_found' });
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
    }
  });
});

describe('the folders above a contract', () => {
  const read = async (path: string): Promise<unknown> => (await get(path)).json();
  const html = async (path: string): Promise<string> => {
    const response = await get(path, { headers: { accept: 'text/html' } });
    expect(response.headers.get('content-type')).toContain('text/html');
    return response.text();
  };

  test('list the match folders and their chains with the published counts', async () => {
    const root = {
      folders: [
        { match: 'full', contracts: 6, url: '/contracts/full_match/' },
        { match: 'partial', contracts: 1, url: '/contracts/partial_match/' },
      ],
    };
    expect(await read('/contracts/')).toEqual(root);
    expect(await read('/contracts')).toEqual(root);
    expect(await read('/contracts/partial_match/')).toEqual({
      match: 'partial',
      chains: [
        {
          chainId: 5_000_000_000,
          name: expect.any(String) as string,
          contracts: 1,
          url: '/contracts/partial_match/5000000000/',
        },
      ],
    });
    expect((await get('/contracts/other/')).status).toBe(400);
  });

  test('list the contracts of a chain in pages', async () => {
    type Page = { contracts: { address: string; url: string }[]; next: string | null };
    const found: string[] = [];
    let after = '';
    do {
      const page = (await read(`/contracts/full_match/77/?limit=2${after}`)) as Page;
      expect(page.contracts.length).toBeLessThanOrEqual(2);
      for (const { address, url } of page.contracts) {
        found.push(address);
        expect((await get(url)).status).toBe(200);
      }
      after = page.next === null ? '' : `&after=${page.next}`;
    } while (after !== '');
    expect(found.sort()).toEqual(MANY.map((address) => checksumAddress(address)).sort());
    expect(await read('/contracts/full_match/78/')).toMatchObject({ contracts: [], next: null });
    for (const path of ['full_match/0x1/', 'full_match/77/?limit=0', 'full_match/77/?after=x']) {
      expect((await get(`/contracts/${path}`)).status, path).toBe(400);
    }
  });

  test('are pages in a browser, linked from the folder of a contract', async () => {
    expect(await html('/contracts/')).toContain('href="../contracts/full_match/"');
    expect(await html('/contracts/full_match/')).toMatch(/href="[./]*contracts\/full_match\/1\/"/);
    const page = await html('/contracts/full_match/1/');
    expect(page).toContain(checksumAddress(HOSTILE));
    const ofContract = await html(`${FOLDER}/`);
    for (const above of ['contracts/', 'contracts/full_match/', 'contracts/full_match/1/']) {
      expect(ofContract).toMatch(new RegExp(`href="[./]*${above}"`));
    }
    expect(
      (await get('/contracts/', { headers: { accept: '*/*' } })).headers.get('vary'),
    ).toContain('Accept');
  });
});

describe('a file in the tree', () => {
  test('cannot execute in a browser, whatever its name', async () => {
    for (const [file, type] of [
      ['sources/x.html', 'text/plain; charset=utf-8'],
      ['sources/contracts/Token.sol', 'text/plain; charset=utf-8'],
      ['creator-tx-hash.txt', 'text/plain; charset=utf-8'],
      ['metadata.json', 'application/json; charset=utf-8'],
    ]) {
      const { headers, status } = await get(`${FOLDER}/${file}`);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe(type);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
      expect(headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  test('returns 304 for a known ETag and supports HEAD', async () => {
    const url = `${FOLDER}/sources/contracts/Token.sol`;
    const first = await get(url);
    const etag = first.headers.get('etag') ?? '';
    const again = await get(url, { headers: { 'if-none-match': etag } });
    expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
    expect((await get(url, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    const head = await get(url, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(
      String(Buffer.byteLength(contentOf('contracts/Token.sol'))),
    );
    expect(await head.text()).toBe('');
  });

  test.each([
    ['with _ for @', '_openzeppelin/contracts/Token.sol', '@openzeppelin/contracts/Token.sol'],
    [
      'with its original name',
      '@openzeppelin/contracts/Token.sol',
      '@openzeppelin/contracts/Token.sol',
    ],
    ['with _ for : in a URL', 'https_//example.org/a//b.sol', 'https://example.org/a//b.sol'],
    ['as the original URL', 'https://example.org/a//b.sol', 'https://example.org/a//b.sol'],
    [
      'with _ for : and non-ASCII letters',
      'project_/src/Gr%C3%BC%C3%9Fe%20an%20alle.sol',
      'project:/src/Grüße an alle.sol',
    ],
    ['with a percent sign', '100%2525.sol', '100%25.sol'],
    ['with line breaks', 'line%0D%0AX-Injected:%201', 'line\r\nX-Injected: 1'],
    ['with another source that differs in case', 'Case.sol', 'Case.sol'],
  ])('is found in each spelling of its path, %s', async (_how, spelled, name) => {
    expect(await (await get(`${FOLDER}/sources/${spelled}`)).text()).toBe(contentOf(name));
  });

  test.each([
    'sources',
    'sources/',
    'sources/contracts',
    'sources/nothing.sol',
    'sources/CASE.SOL',
    'sources/a_b.sol',
    'sources/constructor',
    'constructor',
    '__proto__',
    'stats.json',
    'sources/..%2Fmetadata.json',
    '%00',
  ])('is not found at %s', async (path) => {
    const response = await get(`${FOLDER}/${path}`);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      404,
      'file_not_found',
    ]);
  });

  test('is rejected if its path is invalid UTF-8', async () => {
    const response = await get(`${FOLDER}/sources/%ff%fe`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'malformed_request' });
  });

  test.each([
    '/sources/../../../../../../../../etc/passwd',
    '/sources/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
    '/sources/..%5c..%5cetc%5cpasswd',
    '//etc/passwd',
  ])('exposes no file of the disk at %s', async (path) => {
    // Some resolve to a folder above the tree.
    expect([400, 404]).toContain(await getRaw(`${FOLDER}${path}`));
  });

  test.each(['/contracts/full_match/0x1', '/contracts/other/1', '/contracts/full_match/01'])(
    'is not found below %s',
    async (path) => {
      expect((await get(`${path}/${HOSTILE}/metadata.json`)).status).toBe(400);
    },
  );
});

describe('a tree downloaded over HTTP', () => {
  test('yields the same statistics and files when another service imports it', async () => {
    const origin = join(folder, 'origin');
    const copy = join(folder, 'copy');
    await writeExampleTree(origin, {
      layout: 'v1',
      contracts: Array.from({ length: 14 }, (_, index) => ({
        chainId: index % 3 === 0 ? 4_294_967_299 : 10,
        match: index % 4 === 0 ? ('partial' as const) : ('full' as const),
      })),
    });
    const { database } = testDatabase;
    await importRepository({ path: origin, database, dryRun: false, log: silentLogger });
    const folders = await findFolders([1, 10, 77, 4_294_967_299, 5_000_000_000]);
    expect(folders).toHaveLength(21);
    const published = new Map<string, string>();
    for (const path of folders) {
      for (const file of (await listFolder(path)).files) {
        const content = await (await get(file.url)).text();
        const target = `${path}/${file.path}`;
        published.set(target, content);
        await mkdir(dirname(join(copy, target)), { recursive: true });
        await writeFile(join(copy, target), content);
      }
    }
    const other = await createTestDatabase();
    const second = await bootService({ databaseUrl: other.url });
    try {
      const summary = await importRepository({
        path: copy,
        database: other.database,
        dryRun: false,
        log: silentLogger,
      });
      expect(summary.refused).toEqual([]);
      expect(renderStatistics(await readStatistics(other.database))).toEqual(
        renderStatistics(await readStatistics(database)),
      );
      for (const [path, content] of published) {
        const url = `${second.repositoryUrl}${path.split('/').map(encodeURIComponent).join('/')}`;
        expect([path, await (await fetch(url)).text()]).toEqual([path, content]);
      }
    } finally {
      await second.close();
      await other.drop();
    }
  });

  async function findFolders(chainIds: readonly number[]): Promise<string[]> {
    const folders: string[] = [];
    for (const chainId of chainIds) {
      const response = await fetch(`${service.apiUrl}/v2/contracts/${chainId}`);
      const { results } = (await response.json()) as {
        results: { match: string; address: string }[];
      };
      for (const { match, address } of results) {
        const tree = match === 'exact_match' ? 'full_match' : 'partial_match';
        folders.push(`/contracts/${tree}/${chainId}/${address}`);
      }
    }
    return folders;
  }
});
