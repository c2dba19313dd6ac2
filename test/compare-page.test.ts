// Side-by-side comparison of two verified contracts: files, settings and the line diff of one file.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootService, type BootedService } from './support/booted-service.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { type Hex } from '../src/lib/hex.ts';
import { type Source } from '../src/repository/matches/verified-contract.ts';

const [FIRST, SECOND, THIRD, ABSENT] = [1, 2, 3, 4].map(sampleAddress) as [Hex, Hex, Hex, Hex];
const [LONG, LONGER, BARE, ALSO_BARE] = [5, 6, 7, 8].map(sampleAddress) as [Hex, Hex, Hex, Hex];
const lines = (change: string): string =>
  Array.from({ length: 30 }, (_, index) => (index === 14 ? change : `uint x${index};`)).join('\n');
const SHARED = { path: 'a/Shared.sol', content: 'contract Shared {}' };
const BEFORE: readonly Source[] = [
  SHARED,
  { path: 'a/Token.sol', content: lines('address <b>owner</b>;') },
  { path: 'lib/Moved.sol', content: 'library Moved {}' },
  { path: 'a/Old.sol', content: 'contract Old {}' },
];
const AFTER: readonly Source[] = [
  SHARED,
  { path: 'a/Token.sol', content: lines('address payable owner;') },
  { path: 'node_modules/Moved.sol', content: 'library Moved {}' },
  { path: 'a/New.sol', content: 'contract New {}' },
];

const manyFiles = (count: number, folder = 'b'): readonly Source[] =>
  Array.from({ length: count }, (_, index) => ({
    path: `${folder}/${String(index).padStart(4, '0')}.sol`,
    content: `contract C${index} {}`,
  }));

let testDatabase: TestDatabase;
let service: BootedService;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  service = await bootService({ databaseUrl: testDatabase.url });
  const contractOf = (address: Hex, chainId: number, sources: readonly Source[], runs: number) => {
    const contract = sampleContract(chainId, address, { runtimeMatch: 'full' });
    const settings = { optimizer: { enabled: true, runs } };
    const names = { name: 'Token', fullyQualifiedName: 'a/Token.sol:Token' };
    return { ...contract, compilation: { ...contract.compilation, ...names, settings, sources } };
  };
  await saveMatches(testDatabase.database, [
    contractOf(FIRST, 1, BEFORE, 200),
    contractOf(SECOND, 10, AFTER, 999),
    contractOf(THIRD, 1, BEFORE, 200),
    contractOf(LONG, 1, manyFiles(250), 200),
    // More files, so that the first page of its list ends at another file.
    contractOf(LONGER, 1, [...manyFiles(250), ...manyFiles(60, 'a/more')], 200),
    contractOf(BARE, 1, [], 200),
    contractOf(ALSO_BARE, 1, [], 200),
  ]);
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

async function read(query: string): Promise<{ readonly status: number; readonly text: string }> {
  const url = `${service.apiUrl}/compare/1/${FIRST}${query}`;
  const response = await fetch(url, { headers: { accept: 'text/html' } });
  const html = await response.text();
  const main = /<main.*?<\/main>/s.exec(html)?.[0] ?? '';
  return { status: response.status, text: main };
}
/** Returns the text visible to a reader, without markup. */
const plain = (html: string): string => html.replace(/<(?!!)[^>]*>/g, ' ').replace(/\s+/g, ' ');

test('shows files as same, changed, moved, removed or added, and differing settings side by side', async () => {
  const { status, text } = await read(`?with=${SECOND}&on=10`);
  expect(status).toBe(200);
  const seen = plain(text);
  for (const told of [
    'a/Token.sol changed',
    'lib/Moved.sol moved to node_modules/Moved.sol',
    'a/Old.sol only in the first',
    'a/New.sol only in the second',
    '1 identical in both',
    'optimizer {&quot;enabled&quot;:true,&quot;runs&quot;:200} {&quot;enabled&quot;:true,&quot;runs&quot;:999}',
  ]) {
    expect(seen).toContain(told);
  }
  // The first changed file is shown, as text.
  expect(seen).toContain('15 − address &lt;b>owner&lt;/b>; 15 + address payable owner;');
  expect(seen).toContain('11 equal lines');
});

test('reports contracts with identical sources as such', async () => {
  const { text } = await read(`?with=${THIRD}`);
  expect(plain(text)).toContain('All sources are identical');
  expect(plain(text)).toContain('Compiler, contract name and settings are identical.');
});

test('claims nothing about files beyond those that were read', async () => {
  const url = `${service.apiUrl}/compare/1/${LONG}?with=${LONGER}`;
  const text = plain(await (await fetch(url, { headers: { accept: 'text/html' } })).text());
  expect(text).toContain('a/more/0000.sol not compared');
  expect(text).not.toMatch(/only in the (?:first|second)/);
  expect(text).toContain('Only the first files of each contract');
});

test('says that there are no sources to compare', async () => {
  const url = `${service.apiUrl}/compare/1/${BARE}?with=${ALSO_BARE}`;
  const text = plain(await (await fetch(url, { headers: { accept: 'text/html' } })).text());
  expect(text).toContain('Neither contract is stored with sources.');
  expect(text).not.toContain('identical, including their paths');
});

test.each([
  ['', 200, 'Address of another verified contract'],
  [`?with=${ABSENT}`, 404, 'is not verified here'],
  ['?with=nonsense', 400, 'an address is expected'],
  [`?with=${SECOND}&on=x`, 400, 'chain'],
])('names the missing input without two contracts: %s', async (query, status, told) => {
  const read_ = await read(query);
  expect(read_.status).toBe(status);
  expect(plain(read_.text)).toContain(told);
});

test('is linked from the contract page by a plain form', async () => {
  const response = await fetch(`${service.apiUrl}/contract/1/${FIRST}?tab=history`, {
    headers: { accept: 'text/html' },
  });
  expect(await response.text()).toMatch(/<form[^>]*action="[^"]*compare\/1\/0x/);
});
