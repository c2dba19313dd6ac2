// The page of a contract in the browser: what it reads from the chain, the values of the contract, its badge, and
// comparisons with others.
import { encodeAbiParameters, parseAbiParameters } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checksumAddress, type Hex } from '../src/lib/hex.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { openTab, visit, type WatchedPage } from './support/browser.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { ANVIL, BROWSER, describeWith } from './support/needs.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { verifyOverV2 } from './support/verification-client.ts';

const [EMPTY, PLAIN, PROXY] = [sampleAddress(0xe1), sampleAddress(0xe2), sampleAddress(0xe3)];
const IMPLEMENTATION: Hex = `0x${'ab'.repeat(20)}`;
const [UPGRADEABLE, FORMER] = [sampleAddress(0xe4), sampleAddress(0xe5)];
const UPGRADED = 'bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b';
const OTHER: Hex = `0x${'cd'.repeat(20)}`;
/** Keccak-256 of eip1967.proxy.implementation, minus one. */
const SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
const [ONE, CHANGED] = [sampleAddress(0xe6), sampleAddress(0xe7)];
const SALE_PATH = 'src/Sale.sol';
const SALE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

contract Sale {
    struct Price { uint256 amount; string unit; }
    address public immutable seller;
    uint256 public cap;
    Price public price;

    constructor(address seller_, uint256 cap_, Price memory price_) {
        (seller, cap, price) = (seller_, cap_, price_);
    }
}
`;

describeWith([ANVIL, BROWSER], 'the page of a contract', () => {
  let anvil: Anvil;
  let testDatabase: TestDatabase;
  let service: BootedService;
  let tab: WatchedPage;

  beforeAll(async () => {
    [testDatabase, anvil] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
    ]);
    const contract = (address: Hex, origin: 'verified' | 'imported') =>
      sampleContract(VERIFIED_CHAIN_ID, address, { runtimeMatch: 'full' }, { origin });
    await saveMatches(testDatabase.database, [
      contract(PROXY, 'verified'),
      contract(IMPLEMENTATION, 'verified'),
      contract(UPGRADEABLE, 'verified'),
      contract(FORMER, 'verified'),
      contract(ONE, 'verified'),
      sampleContract(VERIFIED_CHAIN_ID, CHANGED, { runtimeMatch: 'full' }, { variant: 7 }),
    ]);
    await anvil.request('anvil_setCode', [PLAIN, '0x60f400']);
    // Delegates to another contract.
    await anvil.request('anvil_setCode', [PROXY, '0x5f5f5f5f5f5af400']);
    await pointTo(IMPLEMENTATION);
    service = await bootService({ databaseUrl: testDatabase.url, yaml: configOf(anvil) });
    tab = await openTab();
  });
  afterAll(async () => {
    await service.close();
    await anvil.stop();
    await testDatabase.drop();
  });

  const pointTo = async (implementation: Hex, proxy = PROXY): Promise<void> => {
    const word = `0x${implementation.slice(2).padStart(64, '0')}`;
    await anvil.request('anvil_setStorageAt', [proxy, SLOT, word]);
    await anvil.request('evm_mine', []);
  };
  const open = (address: string): Promise<number> =>
    visit(tab, `${service.apiUrl}/contract/${VERIFIED_CHAIN_ID}/${address}`);
  const verdict = (): Promise<string> => tab.page.locator('.verdict').innerText();

  test('says that there is no code at an address', async () => {
    expect(await open(EMPTY)).toBe(404);
    await expect.poll(verdict).toContain('No code at this address');
    const search = tab.page.getByRole('link', { name: 'Search this address on other chains' });
    expect(await search.getAttribute('href')).toContain(`contracts?q=${EMPTY}`);
  });

  test('stays “not verified” where there is code, and leads to the form', async () => {
    const read = tab.page.waitForResponse((response) => response.url().includes('/proposal/'));
    expect(await open(PLAIN)).toBe(404);
    expect((await read).status()).toBe(200);
    expect(await verdict()).toMatch(/Not verified yet\s+That does not make it unsafe\./);
    await tab.page.getByRole('link', { name: 'Verify', exact: true }).last().click();
    await expect.poll(() => tab.page.getByLabel('Address').inputValue()).toBe(PLAIN);
  });

  test('names the implementation of a proxy and shows its verdict', async () => {
    expect(await open(PROXY)).toBe(200);
    const line = tab.page.locator('.proxy');
    await expect.poll(() => line.innerText()).toContain('EIP-1967 proxy');
    const link = line.getByRole('link');
    expect(await link.getAttribute('href')).toContain(checksumAddress(IMPLEMENTATION));
    expect(await link.innerText()).toContain('Sample');
    expect(await line.locator('.match.full').count()).toBe(1);
    // The reading is cached for half a minute; another service reads the chain again.
    const other = await bootService({ databaseUrl: testDatabase.url, yaml: configOf(anvil) });
    try {
      await pointTo(OTHER);
      await visit(tab, `${other.apiUrl}/contract/${VERIFIED_CHAIN_ID}/${PROXY}`);
      await expect.poll(() => line.innerText()).toContain('not verified here');
      expect(await line.locator('.match.none').count()).toBe(1);
    } finally {
      await other.close();
    }
  });

  test('lists the implementations of a proxy over time, and compares them', async () => {
    // Emits Upgraded with the word of its call data, and can delegate.
    const emitter = `0x5f357f${UPGRADED}5f5fa200f4`;
    await anvil.request('anvil_setCode', [UPGRADEABLE, emitter]);
    await pointTo(IMPLEMENTATION, UPGRADEABLE);
    for (const implementation of [FORMER, IMPLEMENTATION]) {
      const data: Hex = `0x${implementation.slice(2).padStart(64, '0')}`;
      await anvil.send({ to: UPGRADEABLE, data });
    }
    const place = `${VERIFIED_CHAIN_ID}/${UPGRADEABLE}`;
    expect(await visit(tab, `${service.apiUrl}/contract/${place}?tab=history`)).toBe(200);
    const rows = tab.page
      .getByRole('table', { name: 'Implementations over time' })
      .locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(2);
    expect(await rows.first().innerText()).toContain('Sample');
    await rows.first().getByRole('link', { name: 'Compare with the one before' }).click();
    await tab.page.getByText('All sources are identical').waitFor();
    expect(tab.page.url()).toContain(`/compare/${VERIFIED_CHAIN_ID}/${checksumAddress(FORMER)}`);
    expect(tab.troubles).toEqual([]);
  });

  test('decodes constructor arguments with their names and types', async () => {
    const input = inputOf({ [SALE_PATH]: SALE });
    const { creationCode } = await compileAsDeveloper('0.8.37', input, SALE_PATH, 'Sale');
    const values = encodeAbiParameters(parseAbiParameters('address, uint256, (uint256, string)'), [
      checksumAddress(OTHER),
      1_000_000n,
      [25n, 'ether'],
    ]);
    const { address, transactionHash } = await deploy(anvil, creationCode, values.slice(2));
    const job = await verifyOverV2(service.apiUrl, address, {
      ...{ stdJsonInput: input, compilerVersion: '0.8.37' },
      contractIdentifier: `${SALE_PATH}:Sale`,
      creationTransactionHash: transactionHash,
    });
    expect(job.contract.creationMatch).toBe('exact_match');

    await open(address);
    await tab.page.getByRole('link', { name: 'ABI', exact: true }).click();
    const rows = tab.page.getByRole('table', { name: 'Constructor arguments' }).locator('tbody tr');
    await rows.first().waitFor();
    expect(await rows.allInnerTexts()).toEqual([
      `seller_\taddress\t${checksumAddress(OTHER)}`,
      'cap_\tuint256\t1000000',
      'price_.amount\tuint256\t25',
      'price_.unit\tstring\tether',
    ]);
    const immutables = tab.page.getByRole('table', { name: 'Immutables' }).locator('tbody tr');
    expect(await immutables.allInnerTexts()).toEqual([
      `seller\taddress\t${checksumAddress(OTHER)}`,
    ]);
    expect(tab.troubles).toEqual([]);
  });

  test('copies a badge that shows the verdict on another page', async () => {
    await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await open(ONE);
    await tab.page.getByRole('button', { name: 'Copy the badge, as Markdown' }).click();
    const copied = (): Promise<string> =>
      tab.page.evaluate<string>('navigator.clipboard.readText()');
    const page = `${service.apiUrl}/contract/${VERIFIED_CHAIN_ID}/${checksumAddress(ONE)}`;
    await expect.poll(copied).toMatch(/^\[!\[verified\]\(.*\.svg\)\]\(.*\)$/);
    const [, image = '', link] = /\]\((.*?)\)\]\((.*)\)$/.exec(await copied()) ?? [];
    expect(link).toBe(page);
    await tab.page.goto(image);
    expect(await tab.page.getByRole('img', { name: 'contract: full match' }).count()).toBe(1);
  });

  test('compares with another contract, line by line', async () => {
    await open(ONE);
    await tab.page.getByRole('link', { name: 'History', exact: true }).click();
    await tab.page.getByLabel('Address of another verified contract').fill(CHANGED);
    await tab.page.getByRole('button', { name: 'Compare' }).click();
    await tab.page.getByRole('heading', { name: 'Compare two contracts' }).waitFor();
    await tab.page.getByRole('link', { name: 'contracts/Sample.sol' }).click();
    const difference = tab.page.getByRole('table', { name: 'The file in both contracts' });
    await difference.waitFor();
    const text = await difference.innerText();
    expect(text).toContain('uint v = 0;');
    expect(text).toContain('uint v = 7;');
    expect(tab.troubles).toEqual([]);
  });
});
