import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type AxeResults } from 'axe-core';
import { type Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  hasBrowser,
  LOOKS,
  NO_BROWSER,
  openTab,
  sidewaysScroll,
  startBrowser,
  visit,
  type WatchedPage,
} from './support/browser.ts';
import { listViews, startPagesService, type PagesService } from './support/pages-service.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const ARTEFACTS = path.resolve(import.meta.dirname, '../screenshots');
const isAbsent = !hasBrowser();

/** The status of a view whose thing is not there. */
const statusOf = (name: string): number => (name.endsWith('-absent') ? 404 : 200);

describe.skipIf(isAbsent)(`the pages in a browser${isAbsent ? `: ${NO_BROWSER}` : ''}`, () => {
  let testDatabase: TestDatabase;
  let pages: PagesService;
  let browser: Browser;
  let views: Readonly<Record<string, string>>;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    pages = await startPagesService(testDatabase);
    browser = await startBrowser();
    views = listViews(pages);
    await mkdir(ARTEFACTS, { recursive: true });
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await pages.close();
    await testDatabase.drop();
  });

  const urlOf = (name: string): string => `${pages.service.apiUrl}${views[name] ?? ''}`;

  /** Findings of axe that keep somebody from using a view. */
  async function graveFindings({ page }: WatchedPage): Promise<readonly string[]> {
    // The policy of the pages lets no script in but theirs; evaluating is the browser's own way past it.
    await page.evaluate(await readAxe());
    const { violations } = await page.evaluate<AxeResults>('axe.run(document)');
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`);
  }

  it.each(LOOKS)(
    'are whole, within their policy and without grave findings of axe: $name',
    { timeout: 240_000 },
    async (look) => {
      const tab = await openTab(browser, look, { reducedMotion: 'reduce' });
      for (const [name, at] of Object.entries(views)) {
        const status = await visit(tab, urlOf(name));
        expect.soft(status, at).toBe(statusOf(name));
        expect.soft(await tab.page.locator('h1').count(), `${at} has one heading`).toBe(1);
        expect.soft(await graveFindings(tab), at).toEqual([]);
        expect.soft(await sidewaysScroll(tab), `${at} scrolls sideways`).toBe(0);
        const file = path.join(ARTEFACTS, `${name}-${look.name}.png`);
        await tab.page.screenshot({ path: file });
      }
      expect(tab.troubles).toEqual([]);
      expect(tab.foreignRequests).toEqual([]);
      await tab.context.close();
    },
  );

  it(
    'show in forced colours and on paper what they show elsewhere',
    { timeout: 120_000 },
    async () => {
      const tab = await openTab(browser);
      for (const [name, at] of Object.entries(views)) {
        await visit(tab, urlOf(name));
        const heading = await tab.page.locator('h1').innerText();
        await tab.page.emulateMedia({ forcedColors: 'active' });
        expect.soft(await tab.page.locator('h1').isVisible(), at).toBe(true);
        await tab.page.emulateMedia({ forcedColors: 'none', media: 'print' });
        expect.soft(await tab.page.locator('h1').innerText(), at).toBe(heading);
        await tab.page.emulateMedia({ media: 'screen' });
      }
      await tab.context.close();
    },
  );

  it('say without JavaScript what they say with it', { timeout: 120_000 }, async () => {
    const tab = await openTab(browser, LOOKS[0], { javaScriptEnabled: false });
    for (const name of [
      'overview',
      'chains',
      'chains-filtered',
      'contract-full',
      'contract-absent',
    ]) {
      expect(await visitWithoutScripts(tab, urlOf(name))).toBe(statusOf(name));
    }
    await visitWithoutScripts(tab, urlOf('overview'));
    // 12.8 million full and 32.1 million partial matches, or what else the counts are, in digits.
    expect(await tab.page.locator('main').innerText()).toMatch(/\d{1,3}(?:[^\d\s]|\s)\d{3}/);
    await visitWithoutScripts(tab, urlOf('chains'));
    expect(await tab.page.locator('main table tbody tr').count()).toBeGreaterThan(20);
    await visitWithoutScripts(tab, urlOf('contract-full'));
    expect(await tab.page.locator('main').innerText()).toMatch(/metadata/i);
    expect(await tab.page.locator('main').innerText()).toContain('contract Token is Owned');
    await tab.context.close();
  });

  it('are reached by the keyboard alone, the content first', async () => {
    const tab = await openTab(browser);
    await visit(tab, urlOf('overview'));
    await tab.page.keyboard.press('Tab');
    expect(await focused(tab)).toBe('Skip to the content');
    await tab.page.keyboard.press('Enter');
    expect(await tab.page.evaluate('document.activeElement.id')).toBe('main');

    await visit(tab, urlOf('overview'));
    for (let step = 0; step < 10 && (await focused(tab)) !== 'Chains'; step += 1) {
      await tab.page.keyboard.press('Tab');
    }
    await tab.page.keyboard.press('Enter');
    await tab.page.waitForURL('**/registry');
    expect(await tab.page.locator('nav [aria-current="page"]').innerText()).toBe('Chains');
    await tab.context.close();
  });

  it('show where the focus is at every stop', { timeout: 120_000 }, async () => {
    const tab = await openTab(browser);
    for (const [name, at] of Object.entries(views)) {
      await visit(tab, urlOf(name));
      for (let stop = 0; stop < 12; stop += 1) {
        await tab.page.keyboard.press('Tab');
        const shown = await tab.page.evaluate<string | null>(SHOWN_FOCUS);
        expect.soft(shown, `${at}, stop ${stop + 1}`).toBeNull();
      }
    }
    await tab.context.close();
  });
});

/** The outer HTML of the focused element where nothing shows that it is; null where something does. */
const SHOWN_FOCUS = `(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return null;
  const style = getComputedStyle(element);
  const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  return outlined || style.boxShadow !== 'none' ? null : element.outerHTML.slice(0, 200);
})()`;

function focused({ page }: WatchedPage): Promise<string> {
  return page.evaluate<string>('document.activeElement.textContent.trim()');
}

async function visitWithoutScripts({ page }: WatchedPage, url: string): Promise<number> {
  return (await page.goto(url))?.status() ?? 0;
}

function readAxe(): Promise<string> {
  return readFile(AXE, 'utf8');
}
