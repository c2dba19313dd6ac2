import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { arrive, LOOKS, openTab, SEND, visit, type WatchedPage } from './support/browser.ts';
import { BROWSER, describeWith } from './support/needs.ts';
import { startPagesService, type PagesService } from './support/pages-service.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

describeWith([BROWSER], 'page interactions', () => {
  let testDatabase: TestDatabase;
  let pages: PagesService;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    pages = await startPagesService(testDatabase);
  });
  afterAll(async () => {
    await pages.close();
    await testDatabase.drop();
  });

  const open = async (path: string): Promise<WatchedPage> => {
    const tab = await openTab(LOOKS[0]);
    await visit(tab, `${pages.service.apiUrl}${path}`);
    return tab;
  };
  const statusOf = ({ page }: WatchedPage): Promise<string> =>
    page.locator('main [role="status"]').first().innerText();
  const searchOf = ({ page }: WatchedPage) => page.locator('main input[name="q"]');

  test('typing filters the table, the URL keeps the query, and a reload shows the same', async () => {
    const tab = await open('/registry');
    const all = await statusOf(tab);
    await searchOf(tab).pressSequentially('gnosis', { delay: 15 });
    await expect.poll(() => statusOf(tab)).not.toBe(all);
    await expect.poll(() => tab.page.url()).toContain('q=gnosis');
    const narrowed = await statusOf(tab);
    await tab.page.reload();
    await expect.poll(() => statusOf(tab)).toBe(narrowed);
    await expect.poll(() => searchOf(tab).inputValue()).toBe('gnosis');
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('sorting marks one column only, and going back undoes it', async () => {
    const tab = await open('/registry');
    const first = async (): Promise<string> =>
      tab.page.locator('main tbody th').first().innerText();
    const before = await first();
    await tab.page.locator('main thead').getByText('Name', { exact: true }).click();
    await expect.poll(first).not.toBe(before);
    await expect.poll(() => tab.page.locator('main th[aria-sort]').count()).toBe(1);
    await expect.poll(() => tab.page.locator('main th[aria-sort]').innerText()).toMatch(/^Name/);
    await tab.page.goBack();
    await expect.poll(first).toBe(before);
    await tab.context.close();
  });

  test.each(['/', '/registry?q=ethereum+mainnet', '/registry/1'])(
    'the icon of a chain is drawn on %s',
    async (path) => {
      const tab = await open(path);
      const icon = tab.page.locator('main img.chain-icon').first();
      await icon.scrollIntoViewIfNeeded();
      const width = (): Promise<number> =>
        icon.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth);
      await expect.poll(width).toBeGreaterThan(0);
      expect(tab.troubles).toEqual([]);
      await tab.context.close();
    },
  );

  test('a download contains exactly the filtered rows', async () => {
    const tab = await open('/registry?q=sepolia');
    const [, matching = ''] = /^Showing ([\d,]+) of/.exec(await statusOf(tab)) ?? [];
    const button = tab.page.getByRole('button', { name: /JSON/ });
    await button.waitFor();
    const [download] = await Promise.all([tab.page.waitForEvent('download'), button.click()]);
    const rows = JSON.parse(await readFile(await download.path(), 'utf8')) as { name: string }[];
    expect(rows.length).toBe(Number(matching.replaceAll(',', '')));
    expect(rows.length).toBeGreaterThan(10);
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('a new verification appears live, and not while paused', async () => {
    const tab = await open('/');
    const store = (number: number, name: string) => {
      const sample = sampleContract(1, sampleAddress(number), { runtimeMatch: 'full' });
      const metadata = JSON.stringify({ name });
      return saveMatch(testDatabase.database, {
        ...sample,
        compilation: { ...sample.compilation, name, metadata },
      });
    };
    const main = tab.page.locator('main');
    await tab.page.getByRole('button', { name: 'Pause' }).waitFor();
    // The stream is open once the page shows that it is live.
    await main.getByText('Live').waitFor();
    await store(0xaaa1, 'Appearing');
    await main.getByText('Appearing').first().waitFor();

    await tab.page.getByRole('button', { name: 'Pause' }).click();
    await store(0xaaa2, 'Waiting');
    await tab.page.waitForTimeout(1_500);
    expect(await main.getByText('Waiting', { exact: true }).count()).toBe(0);
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('search reports that the full list is unavailable and still works', async () => {
    const tab = await openTab();
    await tab.page.route(/\/v1\/(?:registry|chains)/, (route) => route.abort());
    await visit(tab, `${pages.service.apiUrl}/registry`);
    await tab.page.locator('main .notice').first().waitFor();
    await searchOf(tab).fill('gnosis');
    await searchOf(tab).press('Enter');
    await arrive(tab, /q=gnosis/);
    expect(await statusOf(tab)).not.toMatch(/^Showing 0 /);
    await tab.context.close();
  });

  test('a verification that fails to be sent keeps all input', async () => {
    const tab = await open('/verify');
    const address = sampleAddress(0xabcdef);
    await tab.page.getByLabel('Chain', { exact: false }).first().fill('424242');
    await tab.page.getByLabel('Address').fill(address);
    await tab.page.getByLabel('Contract').fill('contracts/Token.sol:Token');
    await tab.page.route(/\/v2\/verify/, (route) => route.abort());
    await tab.page.getByRole('button', { name: SEND }).click();
    await tab.page.reload();
    // The form restores its input once its script runs, which may be after the page has loaded.
    await expect.poll(() => tab.page.getByLabel('Address').inputValue()).toBe(address);
    await expect
      .poll(() => tab.page.getByLabel('Contract').inputValue())
      .toBe('contracts/Token.sol:Token');
    await tab.context.close();
  });
});
