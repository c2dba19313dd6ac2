// Representations of a contract for other sites: badges, link previews, and text for programs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { checksumAddress } from '../src/lib/hex.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const [FULL, PARTIAL] = [sampleAddress(1), sampleAddress(2)];
const [CLAIMED, NONE, FOREIGN] = [sampleAddress(3), sampleAddress(4), sampleAddress(5)];
const WITHDRAWN = sampleAddress(6);

let testDatabase: TestDatabase;
let service: BootedService;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const foreign = sampleContract(1, FOREIGN, { runtimeMatch: 'full' }, { origin: 'verified' });
  await saveMatches(testDatabase.database, [
    sampleContract(1, FULL, { runtimeMatch: 'full' }, { origin: 'verified' }),
    sampleContract(1, PARTIAL, { runtimeMatch: 'partial' }, { origin: 'verified' }),
    sampleContract(1, CLAIMED, { runtimeMatch: 'full' }, { origin: 'imported' }),
    sampleContract(1, WITHDRAWN, { runtimeMatch: 'full' }, { origin: 'verified' }),
    { ...foreign, compilation: { ...foreign.compilation, name: '合約'.repeat(90) } },
  ]);
  await withdrawMatch(testDatabase.database, { chainId: 1, address: WITHDRAWN, reason: 'a test' });
  service = await bootService({ databaseUrl: testDatabase.url, yaml: '' });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.apiUrl}${path}`, { headers });

describe('badges', () => {
  test.each([
    ['a full match', FULL, 'full match'],
    ['a partial match', PARTIAL, 'partial match'],
    ['the claim of another service', CLAIMED, 'claimed full match'],
    ['an unverified contract', NONE, 'not verified'],
    ['a withdrawal', WITHDRAWN, 'withdrawn'],
  ])('say %s in the image and in the accessible text', async (_what, address, words) => {
    const response = await get(`/badge/1/${checksumAddress(address)}.svg`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    const svg = await response.text();
    expect(svg).toContain(`aria-label="contract: ${words}"`);
    expect(svg).toContain(`>${words}</text>`);
    expect(svg).toContain('<circle cx="8" cy="8" r="6.5"');
    expect(svg).not.toMatch(/<script|href|url\(/);
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'");
  });

  test('are revalidated and only sent again after a change', async () => {
    const first = await get(`/badge/1/${FULL}.svg`);
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toBe('no-cache');
    expect((await get(`/badge/1/${FULL}.svg`, { 'if-none-match': etag })).status).toBe(304);
    expect((await get(`/badge/1/${PARTIAL}.svg`, { 'if-none-match': etag })).status).toBe(200);
  });

  test.each([
    ['a chain id that is not a number', `/badge/x/${FULL}.svg`],
    ['an invalid address', '/badge/1/0x12.svg'],
    ['a wrong checksum', `/badge/1/${checksumAddress(FULL).replace(/[a-f]/, 'F')}A.svg`],
    ['another image format', `/badge/1/${FULL}.png`],
  ])('are rejected with 400 for %s', async (_what, path) => {
    const response = await get(path);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_parameter' });
  });
});

describe('preview cards', () => {
  const png = async (path: string, headers?: Record<string, string>) => {
    const response = await get(path, headers);
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  test.each([
    ['a full match', `/card/1/${FULL}.png`],
    ['a partial match', `/card/1/${PARTIAL}.png`],
    ['the claim of another service', `/card/1/${CLAIMED}.png`],
    ['a name whose letters the font lacks', `/card/1/${FOREIGN}.png`],
    ['an unverified contract', `/card/1/${NONE}.png`],
    ['a withdrawal', `/card/1/${WITHDRAWN}.png`],
    ['an unknown chain', `/card/99999999999/${NONE}.png`],
    ['a chain', '/card/1.png'],
    ['the service', '/card/fullmatch.png'],
  ])('for %s are a small PNG of 1200 × 630', async (_what, path) => {
    const { response, bytes } = await png(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(bytes.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a');
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1200, 630]);
    expect(bytes.byteLength).toBeLessThan(40_000);
  });

  test('differ by verdict and are only sent again after a change', async () => {
    const cards = await Promise.all(
      [FULL, PARTIAL, CLAIMED, NONE, WITHDRAWN].map((address) => png(`/card/1/${address}.png`)),
    );
    expect(new Set(cards.map(({ bytes }) => bytes.toString('base64'))).size).toBe(5);
    const etag = cards[0]?.response.headers.get('etag') ?? '';
    const again = await png(`/card/1/${FULL}.png`, { 'if-none-match': etag });
    expect(again.response.status).toBe(304);
    const other = await png(`/card/1/${PARTIAL}.png`, { 'if-none-match': etag });
    expect(other.response.status).toBe(200);
  });

  test.each([
    ['/card/1/0x12.png', 400],
    [`/card/1/${FULL}.svg`, 400],
    ['/card/nothing.png', 400],
    ['/card/99999999999.png', 404],
  ])('are not served at %s (%i)', async (path, status) => {
    expect((await get(path)).status).toBe(status);
  });

  test('are referenced by the page that they preview', async () => {
    const cardOf = async (path: string): Promise<string | undefined> =>
      /<meta property="og:image" content="([^"]*)"/.exec(
        await (await get(path, { accept: 'text/html' })).text(),
      )?.[1];
    const card = await cardOf(`/contract/1/${FULL}`);
    expect(card).toBe(`${service.apiUrl}/card/1/${checksumAddress(FULL)}.png`);
    const withdrawn = `${service.apiUrl}/card/1/${checksumAddress(WITHDRAWN)}.png`;
    expect(await cardOf(`/contract/1/${WITHDRAWN}`)).toBe(withdrawn);
    expect(await cardOf('/registry/1')).toBe(`${service.apiUrl}/card/1.png`);
    expect(await cardOf('/')).toBe(`${service.apiUrl}/card/fullmatch.png`);
    expect((await fetch(card ?? '')).status).toBe(200);
  });
});

describe('link previews', () => {
  const metaOf = (page: string, name: string): string | undefined =>
    new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)"`).exec(page)?.[1];

  test('give the verdict and the compiler of a contract', async () => {
    const page = await (await get(`/contract/1/${FULL}`, { accept: 'text/html' })).text();
    expect(metaOf(page, 'og:description')).toContain('Full match');
    expect(metaOf(page, 'og:description')).toContain(checksumAddress(FULL));
    expect(metaOf(page, 'og:title')).toBe(/<title>([^<]*)/.exec(page)?.[1]);
    const claimed = await (await get(`/contract/1/${CLAIMED}`, { accept: 'text/html' })).text();
    expect(metaOf(claimed, 'og:description')).toContain('Claimed full match');
  });

  test('describe the service on every other page', async () => {
    for (const path of ['/', '/docs', '/verify', '/nothing']) {
      const page = await (await get(path, { accept: 'text/html' })).text();
      expect(metaOf(page, 'description')).toContain('byte for byte');
    }
  });
});

test.each([
  ['/', ''],
  ['/registry', 'Chains'],
  ['/contracts', 'Contracts'],
  ['/statistics', 'Statistics'],
  ['/verify', 'Verify a contract'],
  ['/docs', 'API'],
  ['/counts', 'Methodology'],
  ['/search', 'Search'],
  ['/job/none', 'Verification'],
  ['/nothing', 'Not found'],
])('the title of %s begins with the page and ends with the service', async (path, name) => {
  const page = await (await get(path, { accept: 'text/html' })).text();
  const title = name === '' ? 'Fullmatch' : `${name} · Fullmatch`;
  expect(/<title>([^<]*)/.exec(page)?.[1]).toBe(title);
});

test('llms.txt describes the service, and all its links work', async () => {
  const response = await get('/llms.txt');
  expect(response.headers.get('content-type')).toContain('text/plain');
  const text = await response.text();
  expect(text).toMatch(/^# Fullmatch\n\n> /);
  const links = [...text.matchAll(/\]\((http[^)]+)\)/g)].map(([, url = '']) => url);
  expect(links.length).toBeGreaterThan(6);
  for (const url of links) {
    const { status } = await fetch(url, { headers: { accept: 'application/json' } });
    // The example's contract is not verified here.
    expect([url, [200, 404].includes(status)]).toEqual([url, true]);
    if (!url.includes('/v2/contract/')) expect([url, status]).toEqual([url, 200]);
  }
});
