// A withdrawn contract on the booted service: its page without scripts, its badge, and what the APIs still serve.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checksumAddress } from '../src/lib/hex.ts';
import { saveMatch, saveMatches } from '../src/repository/matches/save-matches.ts';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { ALL_CHAINS, bootService, type BootedService } from './support/booted-service.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const [WITHDRAWN, AGAIN, CLAIMED] = [sampleAddress(1), sampleAddress(2), sampleAddress(3)];
const ABSENT = sampleAddress(4);
const [HIDDEN, HIDDEN_LATER] = [sampleAddress(5), sampleAddress(6)];
const REASON = 'The sources belong to somebody else.';
const SOURCES = [
  { path: 'src/Vault.sol', content: 'contract Vault { uint256 total; }' },
  { path: 'src/Owned.sol', content: 'contract Owned { address owner; }' },
];

const vault = (address: `0x${string}`, origin: 'verified' | 'imported' = 'verified') => {
  const sample = sampleContract(1, address, { runtimeMatch: 'full' }, { origin });
  const metadata = JSON.stringify({ address });
  return {
    ...sample,
    compilation: {
      ...{ ...sample.compilation, name: 'Vault', fullyQualifiedName: 'src/Vault.sol:Vault' },
      ...{ metadata, sources: SOURCES },
    },
  };
};

let testDatabase: TestDatabase;
let service: BootedService;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  await saveMatches(database, [
    ...[vault(WITHDRAWN), vault(AGAIN), vault(CLAIMED, 'imported')],
    ...[vault(HIDDEN), vault(HIDDEN_LATER)],
  ]);
  const [first, second] = [REASON, 'code_replaced'];
  await withdrawMatch(database, { chainId: 1, address: WITHDRAWN, reason: first });
  await withdrawMatch(database, { chainId: 1, address: AGAIN, reason: second });
  await withdrawMatch(database, { chainId: 1, address: CLAIMED, reason: 'claim_disproved' });
  await saveMatch(database, vault(AGAIN));
  service = await bootService({
    databaseUrl: testDatabase.url,
    yaml: 'chains:\n  5: { name: Quiet, shortName: quiet, supported: false }\n',
    environment: ALL_CHAINS,
  });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

const get = (path: string, accept = 'application/json'): Promise<Response> =>
  fetch(`${service.apiUrl}${path}`, { headers: { accept } });
/** The page without the data that scripts read. */
const pageAt = async (path: string): Promise<string> =>
  (await (await get(path, 'text/html')).text()).split('id="state"')[0] ?? '';

describe('the page of a withdrawn contract', () => {
  test('has its name, the reason with its time, and a link to verify again', async () => {
    const response = await get(`/contract/1/${WITHDRAWN}`, 'text/html');
    expect(response.status).toBe(404);
    const page = await pageAt(`/contract/1/${WITHDRAWN}`);
    expect(page).toMatch(/<h1><bdi>Vault<\/bdi><\/h1>/);
    expect(page).toMatch(/class="match withdrawn"><svg/);
    expect(page).toMatch(/The full match was withdrawn.*<time [^>]*dateTime="20/is);
    expect(page).toContain(REASON);
    expect(page).toContain('This contract is not verified.');
    const again = `verify?chain=1&amp;address=${checksumAddress(WITHDRAWN)}`;
    expect(page).toContain(`../../${again}">Verify again</a>`);
    expect(page).not.toMatch(/Full match|match full|Badge|>Raw</);
  });

  test('shows each source through a plain link and finds text in them', async () => {
    const page = await pageAt(`/contract/1/${WITHDRAWN}`);
    expect(page).toContain('contract Vault { uint256 total; }');
    const [, query = ''] = /href="(\?source=[^"#]*Owned[^"#]*)#sources"/.exec(page) ?? [];
    expect(await pageAt(`/contract/1/${WITHDRAWN}${query}`)).toContain(
      'contract Owned { address owner; }',
    );
    expect(await pageAt(`/contract/1/${WITHDRAWN}?find=owner`)).toContain('1 line contains');
  });

  test('has two tabs, the second with the history', async () => {
    const page = await pageAt(`/contract/1/${WITHDRAWN}`);
    const tabs = [...page.matchAll(/href="(\?(?:tab=\w+)?)#parts"/g)].map(([, query]) => query);
    expect(tabs).toEqual(['?', '?tab=history']);
    const history = await pageAt(`/contract/1/${WITHDRAWN}?tab=history`);
    expect(history).toMatch(
      /data-label="What"[^>]*><span>withdrawn<\/span><\/td><td[^>]*><span><span class="match withdrawn">/,
    );
    expect(history).not.toContain('contract Vault {');
    // A link to a tab that withdrawn contracts do not have.
    expect(await pageAt(`/contract/1/${WITHDRAWN}?tab=abi`)).toContain('contract Vault {');
  });

  test('names a withdrawn claim as a claim, and the reason in words', async () => {
    const page = await pageAt(`/contract/1/${CLAIMED}`);
    expect(page).toContain('The claim of a full match was withdrawn');
    expect(page).toContain('the imported claim of a full match is false');
  });

  test('is an ordinary page once the contract is verified again', async () => {
    const page = await pageAt(`/contract/1/${AGAIN}`);
    expect(page).toContain('Full match');
    expect(page).not.toContain('Verify again');
  });
});

describe('sources that the operator hides', () => {
  const withdraw = (address: string, ...more: string[]) =>
    runInProcess(['withdraw', '1', address, '--reason', REASON, '--json', ...more], {
      environment: { ...ALL_CHAINS, DATABASE_URL: testDatabase.url },
    });
  const sourcesOf = async (address: string): Promise<unknown> => {
    const { sources, compilation, reason } = (await (
      await get(`/v1/contracts/1/${address}/withdrawn`)
    ).json()) as Readonly<Record<string, unknown>>;
    return { sources, compilation, reason };
  };

  test('are shown neither on the page nor by the API', async () => {
    const { exitCode } = await withdraw(HIDDEN, '--hide-sources');
    expect(exitCode).toBe(0);
    expect(await sourcesOf(HIDDEN)).toEqual({ sources: null, compilation: null, reason: REASON });
    const page = await pageAt(`/contract/1/${HIDDEN}`);
    expect(page).toContain(REASON);
    expect(page).not.toContain('contract Vault {');
    expect(page).not.toContain('can still be read');
  });

  test('may belong to a match that was withdrawn earlier', async () => {
    await withdraw(HIDDEN_LATER);
    expect(await sourcesOf(HIDDEN_LATER)).toMatchObject({ sources: { total: 2 } });
    const { exitCode, stdout } = await withdraw(HIDDEN_LATER, '--hide-sources');
    expect([exitCode, JSON.parse(stdout)]).toEqual([
      0,
      { chainId: 1, address: checksumAddress(HIDDEN_LATER), hidesSources: true },
    ]);
    expect(await sourcesOf(HIDDEN_LATER)).toMatchObject({ sources: null });
  });

  test('are shown again with a new match', async () => {
    await saveMatch(testDatabase.database, vault(HIDDEN));
    expect(await pageAt(`/contract/1/${HIDDEN}`)).toContain('contract Vault {');
  });
});

describe('the APIs', () => {
  const place = `/v1/contracts/1/${WITHDRAWN}`;

  test('serve a withdrawn match at one route and as verified at none', async () => {
    expect(await (await get(`${place}/withdrawn?path=src/Owned.sol`)).json()).toMatchObject({
      ...{ chainId: 1, address: checksumAddress(WITHDRAWN), match: 'full', origin: 'verified' },
      reason: REASON,
      compilation: { name: 'Vault', language: 'Solidity' },
      sources: { total: 2, next: null, shown: { path: 'src/Owned.sol' } },
    });
    const refused = await Promise.all(
      [
        `/v2/contract/1/${WITHDRAWN}?fields=sources`,
        ...['', '/sources', '/files/standard-input.json'].map((part) => `${place}${part}`),
        `/files/any/1/${WITHDRAWN}`,
        `/repository/contracts/full_match/1/${WITHDRAWN}/sources/src/Vault.sol`,
      ].map(async (path) => [path, (await get(path)).status]),
    );
    expect(refused.filter(([, status]) => status !== 404)).toEqual([]);
    const published = `${service.repositoryUrl}/contracts/full_match/1/${WITHDRAWN}/metadata.json`;
    expect((await fetch(published)).status).toBe(404);
  });

  test.each([
    ['a contract that is verified again', AGAIN],
    ['one that never was verified', ABSENT],
  ])('return no withdrawn match for %s', async (_what, address) => {
    const response = await get(`/v1/contracts/1/${address}/withdrawn`);
    expect([response.status, await response.json()]).toMatchObject([
      404,
      { code: 'contract_not_found' },
    ]);
  });

  test('draw the badge with a crossed-out ring', async () => {
    const badge = async (address: string) => (await get(`/badge/1/${address}.svg`)).text();
    expect(await badge(WITHDRAWN)).toContain('aria-label="contract: withdrawn"');
    expect(await badge(WITHDRAWN)).toContain('M3.6 12.4L12.4 3.6');
    expect(await badge(AGAIN)).toContain('aria-label="contract: full match"');
    expect(await badge(ABSENT)).toContain('aria-label="contract: not verified"');
  });
});

describe('the page of a contract without a match', () => {
  test('names an unknown chain and links to the search for chains', async () => {
    const response = await get(`/contract/99999999999/${ABSENT}`, 'text/html');
    expect(response.status).toBe(404);
    const page = await response.text();
    expect(page).toContain('Unknown chain');
    expect(page).toContain('registry?q=99999999999"');
    expect(page).not.toContain('registry/99999999999');
  });

  test('says that a known chain is not supported', async () => {
    const page = await pageAt(`/contract/5/${ABSENT}`);
    expect(page).toContain('Not verified, and the chain is not supported');
    expect(page).toMatch(/Contracts on <bdi>Quiet<\/bdi> can’t be verified here/);
    expect(page).not.toMatch(/class="button" href="[^"]*verify\?/);
  });

  test('offers to verify it on any other chain', async () => {
    const page = await pageAt(`/contract/1/${ABSENT}`);
    expect(page).toContain('Not verified yet');
    expect(page).toContain('That does not make it unsafe.');
    expect(page).toContain(`verify?chain=1&amp;address=${ABSENT}">Verify</a>`);
  });
});
