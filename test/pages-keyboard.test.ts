import { readFile } from 'node:fs/promises';
import { type Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findAnvil } from './support/anvil.ts';
import { arrive, LOOKS, openTab, SEND, visit, type WatchedPage } from './support/browser.ts';
import { BROWSER, describeWith } from './support/needs.ts';
import { tabTo } from './support/keyboard.ts';
import { listViews, startPagesService, type PagesService } from './support/pages-service.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { IS_SLOW_SUITE } from './support/suite.ts';

/** Returns whether a scroll container shows an element completely. */
async function isInside(inner: Locator, outer: Locator): Promise<boolean> {
  const [part, whole] = await Promise.all([inner.boundingBox(), outer.boundingBox()]);
  return (
    part !== null &&
    whole !== null &&
    part.y >= whole.y &&
    part.y + part.height <= whole.y + whole.height + 1
  );
}

describeWith([BROWSER], 'keyboard navigation', () => {
  let testDatabase: TestDatabase;
  let pages: PagesService;
  let views: Readonly<Record<string, string>>;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    pages = await startPagesService(testDatabase);
    views = listViews(pages);
  });
  afterAll(async () => {
    await pages.close();
    await testDatabase.drop();
  });

  const open = async (name: string, look = LOOKS[0]): Promise<WatchedPage> => {
    const tab = await openTab(look);
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

  test.skipIf(IS_SLOW_SUITE)(
    'skips to the content, pauses live updates, and opens the figures of a chart',
    async () => {
      const tab = await open('overview');
      await tab.page.getByText('Live').waitFor();
      await tabTo(tab, 'Skip to the content');
      await press(tab, 'Enter');
      await expect.poll(() => tab.page.evaluate('document.activeElement.id')).toBe('main');

      await tabTo(tab, 'The same figures as a table');
      await press(tab, 'Enter');
      await tabTo(tab, /^Table: Counts by day/);

      await tabTo(tab, 'Pause');
      await press(tab, 'Space');
      await expect.poll(() => statusOf(tab)).toMatch(/^Paused/);
      await press(tab, 'Space');
      await expect.poll(() => statusOf(tab)).toMatch(/^Live/);
      await tab.context.close();
    },
  );

  test.skipIf(IS_SLOW_SUITE)('finds, filters, sorts and saves chains, and opens one', async () => {
    const tab = await open('chains');
    await tab.page.getByRole('button', { name: 'Download CSV' }).waitFor();
    const all = await statusOf(tab);
    await tabTo(tab, /^Search by name/);
    await tab.page.keyboard.type('gno');
    await expect.poll(() => statusOf(tab)).not.toBe(all);
    const found = await statusOf(tab);

    await tabTo(tab, 'Mainnets');
    await press(tab, 'Enter');
    await expect.poll(() => statusOf(tab)).not.toBe(found);

    await tabTo(tab, 'Download CSV');
    const [download] = await Promise.all([tab.page.waitForEvent('download'), press(tab, 'Enter')]);
    expect(await readFile(await download.path(), 'utf8')).toContain('Gnosis');

    await tabTo(tab, 'Name');
    await press(tab, 'Enter');
    await expect.poll(() => tab.page.locator('th[aria-sort]').innerText()).toMatch(/^Name/);
    await tabTo(tab, 'Gnosis');
    await press(tab, 'Enter');
    await arrive(tab, '**/registry/100');
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test.runIf(IS_SLOW_SUITE)('pages through the table of chains', async () => {
    const tab = await open('chains');
    await tab.page.getByRole('button', { name: 'Download CSV' }).waitFor();
    await tabTo(tab, 'Next');
    await press(tab, 'Enter');
    await expect.poll(() => statusOf(tab)).toMatch(/page 2 of/);
    await tab.context.close();
  });

  test.runIf(IS_SLOW_SUITE)('copies a chain id and reads the record', async () => {
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

  test.runIf(IS_SLOW_SUITE)('moves through the days of a chart and changes its type', async () => {
    const tab = await open('statistics');
    const reading = tab.page.locator('output').first();
    await tabTo(tab, /^Scale/);
    await press(tab, 'ArrowDown');
    await tabTo(tab, 'Show');
    await press(tab, 'Enter');
    await arrive(tab, '**scale=log*');
    await tab.page.getByRole('slider').first().waitFor();
    await tabTo(tab, 'Day of the chart');
    await press(tab, 'Home');
    await expect.poll(() => reading.innerText()).toMatch(/^\d{4}-\d\d-\d\d: /);
    const first = await reading.innerText();
    await press(tab, 'ArrowRight');
    await expect.poll(() => reading.innerText()).not.toBe(first);
    await tab.context.close();
  });

  test.runIf(IS_SLOW_SUITE)(
    'moves through the sources of a contract and reads hidden characters',
    async () => {
      const tab = await open('contract-full');
      await tabTo(tab, 'Owned.sol');
      await press(tab, 'Enter');
      await arrive(tab, '**source=contracts%2FOwned.sol*');
      await expect.poll(() => tab.page.locator('pre.source').innerText()).toContain('Has an owner');

      await visit(tab, views['contract-deceiving'] ?? '');
      await expect
        .poll(() => tab.page.getByRole('note').innerText())
        .toMatch(/^Invisible characters/);
      await tabTo(tab, 'The source contracts/Token.sol');
      await tab.context.close();
    },
  );

  test.skipIf(IS_SLOW_SUITE)(
    'moves from a contract to its selectors and downloads, and links to lines',
    async () => {
      const tab = await open('contract-full');
      await tabTo(tab, 'Go to line');
      await tab.page.keyboard.type('11-7');
      await press(tab, 'Enter');
      await arrive(tab, '**#Token.sol:L7-L11');
      await expect.poll(() => tab.page.locator('.line.marked').count()).toBe(5);
      // The link refers to a file other than the current one and leads to it.
      await tab.page.goto('about:blank');
      await tab.page.goto(`${views['contract-full'] ?? ''}#Owned.sol:L2`);
      await arrive(tab, '**source=contracts%2FOwned.sol#Owned.sol:L2');
      await expect.poll(() => tab.page.locator('.line.marked').count()).toBe(1);

      await visit(tab, views['contract-full'] ?? '');
      await tabTo(tab, 'ABI');
      await press(tab, 'Enter');
      await arrive(tab, '**tab=abi*');
      await tabTo(tab, 'Copy the selector of transfer');
      await tabTo(tab, /^The ABI as JSON/);
      await press(tab, 'Enter');
      await tabTo(tab, 'The ABI as JSON');
      await visit(tab, views['contract-abi'] ?? '');
      await tabTo(tab, 'Downloads');
      await press(tab, 'Enter');
      await arrive(tab, '**tab=downloads*');
      await tabTo(tab, 'standard-input.json');
      await tab.context.close();
    },
  );

  test.runIf(findAnvil() !== undefined && !IS_SLOW_SUITE)(
    'gets from an address on the overview to a copied selector in three clicks',
    async () => {
      const tab = await open('overview');
      const { page } = tab;
      const contract = new URL(views['contract-verified'] ?? '').pathname;
      await page.locator(`main a[href$="${contract}"]`).first().click();
      await page.getByRole('link', { name: 'ABI', exact: true }).click();
      await page.getByRole('button', { name: 'Copy the selector of transfer' }).first().click();
      await expect.poll(() => copiedIn(tab)).toBe('0xa9059cbb');
      await tab.context.close();
    },
  );

  test.skipIf(IS_SLOW_SUITE)(
    'selects a chain with the arrow keys and announces missing input at its field',
    async () => {
      const tab = await open('verify');
      const field = tab.page.getByRole('combobox', { name: 'Chain' });
      const list = tab.page.getByRole('listbox', { name: 'Chain' });
      await tabTo(tab, 'Chain');
      await tab.page.keyboard.type('gno');
      await list.waitFor();
      await press(tab, 'Escape');
      await expect.poll(() => list.isVisible()).toBe(false);
      await expect.poll(() => field.inputValue()).toBe('gno');

      await press(tab, 'Control+A');
      await tab.page.keyboard.type('1');
      // A suggestion that did not match before, so the list is the new one.
      await list.getByText('Ethereum Mainnet').waitFor();
      await press(tab, 'ArrowUp');
      const last = list.getByRole('option', { selected: true });
      await expect.poll(() => isInside(last, list)).toBe(true);
      await press(tab, 'ArrowDown', 'Enter');
      await expect.poll(() => field.inputValue()).toBe('Ethereum Mainnet (1)');
      await tab.page.getByText('Ethereum Mainnet: supported.').waitFor();
      await press(tab, 'Control+A');
      await tab.page.keyboard.type('24');
      await tab.page.locator('#chain-fault', { hasText: 'supported here' }).waitFor();
      await press(tab, 'Control+A');
      await tab.page.keyboard.type('99999999999');
      await tab.page
        .locator('#chain-fault', { hasText: 'No chain with this id is known here' })
        .waitFor();
      await press(tab, 'Control+A');
      await tab.page.keyboard.type('1');
      await tab.page.locator('#chain-fault').waitFor({ state: 'detached' });

      await tabTo(tab, SEND);
      await press(tab, 'Enter');
      await expect.poll(() => tab.page.evaluate('document.activeElement.id')).toBe('address');
      await tab.context.close();
    },
  );

  test.runIf(IS_SLOW_SUITE)(
    'switches the source tabs with the arrow keys and leaves them with one key',
    async () => {
      const tab = await open('verify');
      await visit(tab, `${views['verify'] ?? ''}?chain=1&address=0x${'12'.repeat(20)}`);
      const shown = (): Promise<string> =>
        tab.page.locator('[role="tabpanel"]:not([hidden])').getAttribute('aria-label') as never;
      const focused = (property: 'id' | 'textContent'): Promise<string> =>
        tab.page.evaluate(`document.activeElement.${property}`);
      await tabTo(tab, 'Files');
      expect(await shown()).toBe('Files');
      await press(tab, 'ArrowRight');
      await expect.poll(shown).toBe('Paste');
      await tabTo(tab, 'Text of a source, or a standard JSON input');
      await tab.page.keyboard.type('contract A {}');
      await press(tab, 'Shift+Tab');
      await expect.poll(() => focused('id')).toBe('chosen-input');
      await press(tab, 'ArrowLeft');
      await expect.poll(shown).toBe('Files');
      await press(tab, 'ArrowLeft');
      await expect.poll(shown).toBe('Project or JSON');
      await press(tab, 'Home', 'ArrowRight');
      await expect.poll(shown).toBe('Paste');
      await expect.poll(() => tab.page.locator('#pasted').inputValue()).toBe('contract A {}');
      // Text that was not added counts, so the field must be empty to be missing.
      await tab.page.locator('#pasted').fill('');
      // The file input is visually hidden.
      await tabTo(tab, SEND);
      await press(tab, 'Enter');
      await expect.poll(() => focused('textContent')).toBe('Paste');
      await tab.context.close();
    },
  );

  test.runIf(findAnvil() !== undefined && IS_SLOW_SUITE)(
    'returns from a failed job to the form',
    async () => {
      const tab = await open('job-different');
      await tabTo(tab, /^Table: Runtime code/);
      await visit(tab, views['job-different'] ?? '');
      // Its input was sent elsewhere.
      await tabTo(tab, 'Open the form');
      await press(tab, 'Enter');
      await arrive(tab, '**/verify?*');
      await expect
        .poll(() => tab.page.getByLabel('Address').inputValue())
        .toBe(pages.jobs?.different.contract.address);
      await tab.context.close();
    },
  );
});
