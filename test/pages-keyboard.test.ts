import { readFile } from 'node:fs/promises';
import { type Browser, type Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAnvil } from './support/anvil.ts';
import {
  eachInTabs,
  hasBrowser,
  LOOKS,
  NO_BROWSER,
  openTab,
  startBrowser,
  visit,
  type WatchedPage,
} from './support/browser.ts';
import { findUnreachable, tabTo, walkThrough } from './support/keyboard.ts';
import { listViews, startPagesService, type PagesService } from './support/pages-service.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const isAbsent = !hasBrowser();

/** Whether what scrolls shows the whole of something in it. */
async function isInside(inner: Locator, outer: Locator): Promise<boolean> {
  const [part, whole] = await Promise.all([inner.boundingBox(), outer.boundingBox()]);
  return (
    part !== null &&
    whole !== null &&
    part.y >= whole.y &&
    part.y + part.height <= whole.y + whole.height + 1
  );
}

describe.skipIf(isAbsent)(`the pages by keyboard${isAbsent ? `: ${NO_BROWSER}` : ''}`, () => {
  let testDatabase: TestDatabase;
  let pages: PagesService;
  let browser: Browser;
  let views: Readonly<Record<string, string>>;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    pages = await startPagesService(testDatabase);
    browser = await startBrowser();
    views = listViews(pages);
  });
  afterAll(async () => {
    await browser.close();
    await pages.close();
    await testDatabase.drop();
  });

  const open = async (name: string, look = LOOKS[0]): Promise<WatchedPage> => {
    const tab = await openTab(browser, look);
    await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await visit(tab, views[name] ?? '');
    return tab;
  };
  const press = ({ page }: WatchedPage, ...keys: readonly string[]): Promise<void> =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
  const statusOf = ({ page }: WatchedPage): Promise<string> =>
    page.locator('main [role="status"]').first().innerText();
  const copiedIn = ({ page }: WatchedPage): Promise<string> =>
    page.evaluate<string>('navigator.clipboard.readText()');

  test(
    'show each stop, in the order of the page, and let the focus go',
    { timeout: 240_000 },
    async () => {
      const openNarrow = () => openTab(browser, LOOKS[2]);
      await eachInTabs(Object.entries(views), openNarrow, async (tab, [name, url]) => {
        await visit(tab, url);
        expect.soft(await findUnreachable(tab), name).toEqual([]);
        const stops = await walkThrough(tab);
        expect.soft(stops[0]?.name, name).toBe('Skip to the content');
        expect
          .soft(
            stops.filter(({ isShown }) => !isShown),
            `unseen, ${name}`,
          )
          .toEqual([]);
        expect
          .soft(
            stops.filter(({ isOnward }) => !isOnward),
            `out of order, ${name}`,
          )
          .toEqual([]);
      });
    },
  );

  test('skip to the content, pause what is live, and open the figures of a chart', async () => {
    const tab = await open('overview');
    await tab.page.getByText('Live').waitFor();
    await tabTo(tab, 'Skip to the content');
    await press(tab, 'Enter');
    expect(await tab.page.evaluate('document.activeElement.id')).toBe('main');

    await tabTo(tab, 'The same figures as a table');
    await press(tab, 'Enter');
    await tabTo(tab, /^Table: Counts by day/);

    await tabTo(tab, 'Pause');
    await press(tab, 'Space');
    expect(await statusOf(tab)).toMatch(/^Paused/);
    await press(tab, 'Space');
    expect(await statusOf(tab)).toMatch(/^Live/);
    await tab.context.close();
  });

  test('find, narrow, sort and save chains, and open one', async () => {
    const tab = await open('chains');
    await tab.page.getByRole('button', { name: 'Download CSV' }).waitFor();
    const all = await statusOf(tab);
    await tabTo(tab, /^Search by name/);
    await tab.page.keyboard.type('gno');
    await expect.poll(() => statusOf(tab)).not.toBe(all);
    const found = await statusOf(tab);

    await tabTo(tab, 'Network');
    await press(tab, 'ArrowDown');
    await expect.poll(() => statusOf(tab)).not.toBe(found);

    await tabTo(tab, 'Download CSV');
    const [download] = await Promise.all([tab.page.waitForEvent('download'), press(tab, 'Enter')]);
    expect(await readFile(await download.path(), 'utf8')).toContain('Gnosis');

    await tabTo(tab, 'Name');
    await press(tab, 'Enter');
    await expect.poll(() => tab.page.locator('th[aria-sort]').innerText()).toMatch(/^Name/);
    await tabTo(tab, 'Gnosis');
    await press(tab, 'Enter');
    await tab.page.waitForURL('**/registry/100');
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('turn the pages of the table of chains', async () => {
    const tab = await open('chains');
    await tab.page.getByRole('button', { name: 'Download CSV' }).waitFor();
    await tabTo(tab, 'Next');
    await press(tab, 'Enter');
    await expect.poll(() => statusOf(tab)).toMatch(/page 2 of/);
    await tab.context.close();
  });

  test('copy the id of a chain, and read its record', async () => {
    const tab = await open('chain');
    await tab.page.getByRole('button', { name: 'Copy the chain id' }).waitFor();
    await tabTo(tab, 'Copy the chain id');
    await press(tab, 'Enter');
    await expect.poll(() => copiedIn(tab)).toBe('1');
    await tabTo(tab, 'The record as JSON');
    await press(tab, 'Enter');
    await tabTo(tab, 'Copy the record');
    await press(tab, 'Space');
    await expect.poll(() => copiedIn(tab)).toContain('"chainId": 1');
    await tabTo(tab, 'The record as JSON');
    await press(tab, 'End');
    await tab.context.close();
  });

  test('walk through the days of a chart, and draw it otherwise', async () => {
    const tab = await open('statistics');
    const reading = tab.page.locator('output').first();
    await tabTo(tab, /^Drawn as/);
    await press(tab, 'ArrowDown');
    await tabTo(tab, 'Show');
    await press(tab, 'Enter');
    await tab.page.waitForURL('**scale=log*');
    await tab.page.getByRole('slider').first().waitFor();
    await tabTo(tab, 'Day of the chart');
    await press(tab, 'Home');
    const first = await reading.innerText();
    expect(first).toMatch(/^\d{4}-\d\d-\d\d: /);
    await press(tab, 'ArrowRight');
    expect(await reading.innerText()).not.toBe(first);
    await tab.context.close();
  });

  test('walk through the sources of a contract, and read what hides in them', async () => {
    const tab = await open('contract-full');
    await tabTo(tab, 'Owned.sol');
    await press(tab, 'Enter');
    await tab.page.waitForURL('**source=contracts%2FOwned.sol*');
    expect(await tab.page.locator('pre.source').innerText()).toContain('Has an owner');

    await visit(tab, views['contract-deceiving'] ?? '');
    expect(await tab.page.getByRole('note').innerText()).toMatch(/^Characters that nobody sees/);
    await tabTo(tab, 'The source contracts/Token.sol');
    await tabTo(tab, /^The ABI as JSON/);
    await press(tab, 'Enter');
    await tabTo(tab, 'The ABI as JSON');
    await tabTo(tab, 'Standard JSON input');
    await tab.context.close();
  });

  test('choose a chain by the arrows, and say what is missing where it is', async () => {
    const tab = await open('verify');
    const field = tab.page.getByRole('combobox', { name: 'Chain' });
    const list = tab.page.getByRole('listbox', { name: 'Chain' });
    await tabTo(tab, 'Chain');
    await tab.page.keyboard.type('gno');
    await list.waitFor();
    await press(tab, 'Escape');
    expect(await list.isVisible()).toBe(false);
    expect(await field.inputValue()).toBe('gno');

    await press(tab, 'Control+A');
    await tab.page.keyboard.type('1');
    // One that did not fit before, so that the list is the new one.
    await list.getByText('Ethereum Mainnet').waitFor();
    await press(tab, 'ArrowUp');
    const last = list.getByRole('option', { selected: true });
    expect(await isInside(last, list)).toBe(true);
    await press(tab, 'ArrowDown', 'Enter');
    expect(await field.inputValue()).toBe('Ethereum Mainnet (1)');

    await tabTo(tab, 'Verify');
    await press(tab, 'Enter');
    expect(await tab.page.evaluate('document.activeElement.id')).toBe('files');
    await tab.context.close();
  });

  test.skipIf(findAnvil() === undefined)('go back from a failed job to the form', async () => {
    const tab = await open('job-different');
    await tabTo(tab, /^Table: Runtime code/);
    await visit(tab, views['job-different'] ?? '');
    await tabTo(tab, 'Back to the form');
    await press(tab, 'Enter');
    await tab.page.waitForURL('**/verify?*');
    await expect
      .poll(() => tab.page.getByLabel('Address').inputValue())
      .toBe(pages.jobs?.different.contract.address);
    await tab.context.close();
  });
});
