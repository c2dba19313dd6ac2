import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checksumAddress, type Hex } from '../src/lib/hex.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { type Match, type Origin } from '../src/repository/matches/verified-contract.ts';
import { ALL_CHAINS, bootService, type BootedService } from './support/booted-service.ts';
import {
  arrive,
  LOOKS,
  openTab,
  sidewaysScroll,
  visit,
  type WatchedPage,
} from './support/browser.ts';
import { BROWSER, describeWith } from './support/needs.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { administer, createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { followed } from './support/followed.ts';

const FAR_CHAIN_ID = Number.MAX_SAFE_INTEGER;
const LONG_NAME = `Wrapped${'Interchain'.repeat(9)}Token`;
const HOSTILE_NAME = '<img src=x onerror=alert(1)>\u202Enekot';
/** The same address on two chains, and one on one. */
const TWICE: Hex = `0xbeefbeef${'00'.repeat(16)}`;
const ONCE: Hex = `0xcafecafe${'00'.repeat(16)}`;
const ABSENT: Hex = `0xdeaddead${'00'.repeat(16)}`;

const YAML = `
registry: { include: configured, defaults: false }
chains:
  1: { name: Ethereum Mainnet, shortName: eth, supported: false }
  5: { name: Görli, shortName: gor, supported: false }
  ${FAR_CHAIN_ID}: { name: Far, supported: false }
`;

function contract(
  chainId: number,
  address: Hex,
  name: string,
  match: Match = 'full',
  origin: Origin = 'imported',
) {
  const sample = sampleContract(chainId, address, { runtimeMatch: match }, { origin });
  const metadata = JSON.stringify({ chainId, address });
  return { ...sample, compilation: { ...sample.compilation, name, metadata } };
}

const CONTRACTS = [
  contract(1, TWICE, 'Vault'),
  contract(5, TWICE, 'Vault', 'partial'),
  contract(1, ONCE, 'Once', 'partial', 'verified'),
  contract(FAR_CHAIN_ID, sampleAddress(0xfa), LONG_NAME),
  contract(1, sampleAddress(0xbad), HOSTILE_NAME),
  ...Array.from({ length: 60 }, (_, index) => contract(1, sampleAddress(0xaa00 + index), 'Coin')),
];

const NEWEST = contract(1, sampleAddress(0xbb), 'Newest');

describeWith([BROWSER], 'the contract list', () => {
  let testDatabase: TestDatabase;
  let service: BootedService;
  let tab: WatchedPage;
  /** A tab with scripts disabled. */
  let plain: WatchedPage;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    await saveMatches(testDatabase.database, CONTRACTS);
    await saveMatches(testDatabase.database, [NEWEST]);
    service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: YAML,
      environment: ALL_CHAINS,
    });
    await followed(service, testDatabase.database);
    tab = await openTab();
    plain = await openTab(LOOKS[2], { javaScriptEnabled: false });
  });
  afterAll(async () => {
    await service.close();
    await testDatabase.drop();
  });

  const open = (path: string): Promise<number> => visit(tab, `${service.apiUrl}${path}`);
  const openPlain = async (path: string): Promise<number> =>
    (await plain.page.goto(`${service.apiUrl}${path}`))?.status() ?? 0;
  const main = ({ page }: WatchedPage) => page.locator('main');
  const rows = (of: WatchedPage): Promise<string[]> => main(of).locator('tbody tr').allInnerTexts();

  test('starts with the newest, with older ones behind plain links', async () => {
    expect(await openPlain('/contracts')).toBe(200);
    const first = await rows(plain);
    expect(first).toHaveLength(50);
    expect(first[0]).toContain('Newest');
    await plain.page.getByRole('link', { name: 'Older' }).click();
    await expect.poll(() => rows(plain)).toHaveLength(CONTRACTS.length + 1 - 50);
    expect(first).not.toContain((await rows(plain))[0]);
    expect(await plain.page.getByRole('link', { name: 'Older' }).count()).toBe(0);
    await plain.page.getByRole('link', { name: 'Newest' }).click();
    await expect.poll(async () => (await rows(plain))[0]).toContain('Newest');
  });

  test('is searched and filtered by a plain form, with the choices in the URL', async () => {
    await openPlain('/contracts');
    await main(plain).getByLabel('Search by').fill('vault');
    await main(plain).getByLabel('Match', { exact: true }).selectOption('partial');
    await main(plain).getByRole('button', { name: 'Search' }).click();
    await expect.poll(() => rows(plain)).toHaveLength(1);
    await expect.poll(async () => (await rows(plain))[0]).toContain('Görli');
    await expect
      .poll(() => main(plain).getByRole('status').innerText())
      .toBe('Showing 1 matching contract');
    await plain.page.reload();
    await expect.poll(() => main(plain).getByLabel('Search by').inputValue()).toBe('vault');
    await expect
      .poll(() => main(plain).getByLabel('Match', { exact: true }).inputValue())
      .toBe('partial');
    await plain.page.getByRole('link', { name: 'Clear' }).click();
    await expect.poll(() => rows(plain)).toHaveLength(50);
  });

  test('distinguishes contracts hidden by filters from contracts that do not exist', async () => {
    await openPlain('/contracts?q=once&match=full');
    expect(await rows(plain)).toEqual([]);
    await main(plain).getByRole('link', { name: 'Remove all filters' }).click();
    await expect.poll(() => rows(plain)).toHaveLength(1);
    await openPlain('/contracts?q=zzzz&match=full');
    await expect
      .poll(() => main(plain).locator('.notice').innerText())
      .toContain('No verified contract');
  });

  test.each([
    ['eth', 50],
    ['eip155:5', 1],
    ['Görli', 1],
    [String(FAR_CHAIN_ID), 1],
    ['77', 0],
  ])('accepts %s as a chain', async (chain, count) => {
    expect(await openPlain(`/contracts?chain=${encodeURIComponent(chain)}`)).toBe(200);
    await expect.poll(() => rows(plain)).toHaveLength(count);
  });

  test('reports an unknown chain and links to the chain search', async () => {
    expect(await openPlain('/contracts?chain=<b>nowhere')).toBe(404);
    const alert = main(plain).getByRole('alert');
    await expect
      .poll(() => alert.innerText())
      .toContain("No chain '<b>nowhere' is in the registry");
    await alert.getByRole('link').click();
    await expect.poll(() => main(plain).getByRole('searchbox').inputValue()).toBe('<b>nowhere');
  });

  test('leads from a full address on one chain to the contract, from any page', async () => {
    await open('/verify');
    const field = tab.page.getByRole('combobox', { name: 'Search' });
    await field.fill(` ${ONCE.toUpperCase().replace('0X', '0x')} `);
    await field.press('Enter');
    await arrive(tab, `**/contract/1/${checksumAddress(ONCE)}`);
    await expect.poll(() => tab.page.locator('h1').innerText()).toBe('Once');
    const answer = await fetch(`${service.apiUrl}/server/contracts?q=${ONCE}`, {
      redirect: 'manual',
    });
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe(`./contract/1/${checksumAddress(ONCE)}`);
  });

  test('lists an address that exists on several chains', async () => {
    await open(`/contracts?q=${TWICE}`);
    await expect.poll(() => rows(tab)).toHaveLength(2);
  });

  test('reports an unverified address and links to Verify with the address filled in', async () => {
    expect(await open(`/contracts?q=${ABSENT}&chain=eth`)).toBe(200);
    await expect.poll(() => main(tab).innerText()).toContain('not verified here');
    await main(tab).getByRole('link', { name: 'Verify it' }).click();
    await expect.poll(() => tab.page.getByLabel('Address').inputValue()).toBe(ABSENT);
    await expect.poll(() => tab.page.getByLabel('Chain').first().inputValue()).toBe('1');
  });

  test('asks for more characters when an address prefix is too short', async () => {
    await open('/contracts?q=0xbee');
    const field = main(tab).getByLabel('Search by');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    const fault = await field.getAttribute('aria-describedby');
    await expect
      .poll(() => tab.page.locator(`#${fault ?? ''}`).innerText())
      .toContain('4 to 40 hexadecimal digits');
    await field.fill('0xbeefbeef');
    await field.press('Enter');
    await arrive(tab, /beefbeef/);
    await expect.poll(() => rows(tab)).toHaveLength(2);
  });

  test.each(['q=zzzz', 'q=0x00000001', `q=0x${'1'.repeat(64)}`, 'chain=5&match=full', 'after=1'])(
    'explains the empty result at ?%s',
    async (query) => {
      expect(await open(`/contracts?${query}`)).toBe(200);
      expect(await rows(tab)).toEqual([]);
      await expect.poll(() => main(tab).locator('.notice').count()).toBe(1);
    },
  );

  test('rejects an invalid page cursor and links back', async () => {
    expect(await open('/contracts?q=vault&after=x')).toBe(400);
    await main(tab).getByRole('link', { name: 'Start over' }).click();
    await expect.poll(() => rows(tab)).toHaveLength(2);
  });

  test('downloads exactly the rows that are shown', async () => {
    await open('/contracts?q=vault&chain=5');
    const button = tab.page.getByRole('button', { name: /JSON/ });
    const [download] = await Promise.all([tab.page.waitForEvent('download'), button.click()]);
    const saved = JSON.parse(await readFile(await download.path(), 'utf8')) as object[];
    expect(saved).toHaveLength(1);
    expect(saved[0]).toMatchObject({
      chainId: 5,
      chainName: 'Görli',
      address: checksumAddress(TWICE),
      name: 'Vault',
    });
  });

  test('shows long and hostile names and the longest chain id unchanged and within the page', async () => {
    await openPlain('/contracts?q=wrapped');
    await expect.poll(() => rows(plain)).toEqual([expect.stringContaining(LONG_NAME)]);
    expect(await sidewaysScroll(plain)).toBe(0);
    await open(`/contracts?q=${encodeURIComponent('<img')}`);
    await expect
      .poll(async () => (await rows(tab))[0])
      .toContain('<img src=x onerror=alert(1)>U+202E');
    expect(await main(tab).locator('img').count()).toBe(0);
  });

  test('is counted on the overview, with the share of claims', async () => {
    await open('/');
    const claims = CONTRACTS.filter(({ origin }) => origin === 'imported').length + 1;
    const figure = (name: string): Promise<string> =>
      main(tab).locator('.figures > div', { hasText: name }).innerText();
    expect(await figure('Claims')).toMatch(
      new RegExp(`^\\s*Claims\n${claims}\nreported by another service, not checked here`),
    );
    expect(await figure('Claims')).toContain(', 1 partial');
    const verified = CONTRACTS.filter(({ origin }) => origin !== 'imported').length;
    expect(await figure('Partial matches')).toContain(`\n${verified}\nverified here`);
  });

  test('is linked from the overview, and from a chain with that chain selected', async () => {
    await open('/');
    await main(tab).getByRole('link', { name: 'All contracts' }).click();
    await expect.poll(() => rows(tab)).toHaveLength(50);
    await open('/registry/5');
    await main(tab).getByRole('link', { name: 'All contracts of this chain' }).click();
    await expect.poll(() => rows(tab)).toHaveLength(1);
  });

  test('continues past a page without results', async () => {
    // A page examines a thousand contracts. Names are in alphabetical order.
    await saveMatches(
      testDatabase.database,
      Array.from({ length: 1000 }, (_, index) =>
        contract(1, sampleAddress(0xcc0000 + index), 'ShardA'),
      ),
    );
    await saveMatches(testDatabase.database, [contract(5, sampleAddress(0xdd), 'ShardB')]);
    await followed(service, testDatabase.database);
    await openPlain('/contracts?q=shard&chain=5');
    expect(await rows(plain)).toEqual([]);
    await main(plain).getByRole('link', { name: 'Check more' }).click();
    await expect.poll(() => rows(plain)).toEqual([expect.stringContaining('ShardB')]);
    expect(await plain.page.getByRole('link', { name: 'More' }).count()).toBe(0);
  });

  test('shows since when the contracts are unavailable and keeps the search', async () => {
    const [name = ''] = /test_[0-9a-f]+/.exec(testDatabase.url) ?? [];
    await administer((client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
    expect(await open('/contracts?q=vault')).toBe(503);
    await expect
      .poll(() => main(tab).getByRole('alert').innerText())
      .toMatch(/could not be read since 20/);
    await expect.poll(() => main(tab).getByLabel('Search by').inputValue()).toBe('vault');
    expect(tab.troubles).toEqual([]);
    expect(tab.foreignRequests).toEqual([]);
  });
});
