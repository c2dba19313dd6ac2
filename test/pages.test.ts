import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  arrive,
  eachInTabs,
  LOOKS,
  openTab,
  sidewaysScroll,
  takePicture,
  visit,
  type WatchedPage,
} from './support/browser.ts';
import { BROWSER, describeWith } from './support/needs.ts';
import {
  countAnimations,
  countRows,
  findBareBoxes,
  findFaintShapes,
  findFaintTexts,
  findFaultsOnPaper,
  findWithAxe,
} from './support/in-page.ts';
import { findUnreachable, walkThrough } from './support/keyboard.ts';
import { listViews, startPagesService, type PagesService } from './support/pages-service.ts';
import { isRepeated, viewsOfSuite } from './support/views-of-suite.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { IS_SLOW_SUITE } from './support/suite.ts';

/** A4 without margins, in CSS pixels. */
const PAPER = { width: 680, height: 1000 };
const SCHEMES = ['light', 'dark'] as const;
/** The looks at each width. The fast suite opens one view per page, in one look. */
const WIDTHS = IS_SLOW_SUITE
  ? [
      { names: 'light and dark', looks: LOOKS.slice(0, 2), isNarrow: false },
      { names: 'narrow and narrow-dark', looks: LOOKS.slice(2), isNarrow: true },
    ]
  : [{ names: 'narrow', looks: LOOKS.slice(2, 3), isNarrow: true }];

/** The status of a view whose subject does not exist, or does not exist any more. */
const statusOf = (name: string): number => (/-(?:absent|withdrawn)(?:-|$)/.test(name) ? 404 : 200);

describeWith([BROWSER], 'pages in a browser', () => {
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

  const urlOf = (name: string): string => views[name] ?? '';

  // One visit serves every check at its width: a scheme only changes colours.
  test.each(WIDTHS)(
    IS_SLOW_SUITE
      ? 'render completely, comply with the policy, pass axe, and work by keyboard, in forced colours and on paper: $names'
      : 'render completely, comply with the policy and pass axe: $names',
    { timeout: 240_000 },
    async ({ looks, isNarrow }) => {
      const open = () => openTab(looks[0], { reducedMotion: 'reduce' });
      await eachInTabs(viewsOfSuite(views), open, async (tab, [name, at]) => {
        const status = await visit(tab, urlOf(name));
        expect.soft(status, at).toBe(statusOf(name));
        expect.soft(await tab.page.locator('h1').count(), `${at} has one heading`).toBe(1);
        for (const [index, look] of looks.entries()) {
          const seen = `${at}, ${look.name}`;
          await tab.page.emulateMedia({ colorScheme: look.colorScheme });
          const rules = index === 0 ? undefined : ['color-contrast'];
          expect.soft(await findWithAxe(tab, rules), seen).toEqual([]);
          expect.soft(await findFaintShapes(tab), `${seen} has faint shapes`).toEqual([]);
          expect.soft(await sidewaysScroll(tab), `${seen} scrolls sideways`).toBe(0);
          await takePicture(tab.page, `${name}-${look.name}`);
        }
        if (IS_SLOW_SUITE && !isRepeated(name)) {
          await (isNarrow ? expectFocusInOrder : expectSameInOtherMedia)(tab, at);
        }
        expect.soft(tab.troubles, at).toEqual([]);
        expect.soft(tab.foreignRequests, at).toEqual([]);
      });
    },
  );

  /** Every focus stop is shown, in page order, and the focus leaves the page. */
  async function expectFocusInOrder(tab: WatchedPage, at: string): Promise<void> {
    expect.soft(await findUnreachable(tab), at).toEqual([]);
    const stops = await walkThrough(tab);
    expect.soft(stops[0]?.name, at).toBe('Skip to the content');
    const notShown = stops.filter(({ isShown }) => !isShown);
    expect.soft(notShown, `not shown, ${at}`).toEqual([]);
    const notInOrder = stops.filter(({ isOnward }) => !isOnward);
    expect.soft(notInOrder, `out of order, ${at}`).toEqual([]);
  }

  /** The page is the same in forced colours, with more contrast and on paper, and respects reduced motion. */
  async function expectSameInOtherMedia(tab: WatchedPage, at: string): Promise<void> {
    await tab.page.keyboard.press('Tab');
    await tab.page.locator(':is(a, summary, button):visible').last().hover();
    expect.soft(await countAnimations(tab), at).toBe(0);
    for (const colorScheme of SCHEMES) {
      await tab.page.emulateMedia({ forcedColors: 'active', colorScheme });
      expect.soft(await findFaintTexts(tab, 4.5), `texts, ${at}`).toEqual([]);
      expect.soft(await findFaintShapes(tab), `shapes, ${at}`).toEqual([]);
      expect.soft(await findBareBoxes(tab), `boxes, ${at}`).toEqual([]);
      await tab.page.emulateMedia({ forcedColors: 'none', contrast: 'more', colorScheme });
      expect.soft(await findFaintTexts(tab, 7), `more contrast, ${at}`).toEqual([]);
      await tab.page.emulateMedia({ contrast: 'no-preference' });
    }
    await expectCompleteOnPaper(tab, at);
  }

  /** Paper shows light colours even if the screen is dark, no controls, and every row. */
  async function expectCompleteOnPaper(tab: WatchedPage, at: string): Promise<void> {
    const rows = await countRows(tab);
    const onScreen = tab.page.viewportSize() ?? PAPER;
    await tab.page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await tab.page.setViewportSize(PAPER);
    expect.soft(await findFaultsOnPaper(tab), at).toEqual([]);
    expect.soft(await findFaintTexts(tab, 4.5), at).toEqual([]);
    expect.soft(await findFaintShapes(tab), at).toEqual([]);
    expect.soft(await countRows(tab), at).toBeGreaterThanOrEqual(rows);
    await tab.page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    await tab.page.setViewportSize(onScreen);
  }

  test.runIf(IS_SLOW_SUITE)('print the figures of a chart and what a filter shows', async () => {
    const tab = await openTab(LOOKS[1]);
    await tab.page.setViewportSize(PAPER);
    // A chart's figures are printed without opening their table: 90 days, and more.
    await visit(tab, urlOf('overview'));
    await tab.page.emulateMedia({ media: 'print' });
    expect(await countRows(tab)).toBeGreaterThan(90);
    await tab.page.emulateMedia({ media: 'screen' });

    // The URL identifies what is shown, including filters.
    await visit(tab, urlOf('chains'));
    await tab.page.getByRole('button', { name: 'Download CSV' }).waitFor();
    await tab.page.locator('main input[name="q"]').fill('sepolia');
    await arrive(tab, '**q=sepolia');
    await tab.page.pdf();
    await tab.page.emulateMedia({ media: 'print' });
    await expect
      .poll(() => tab.page.locator('header.site').innerText())
      .toContain(urlOf('chains-filtered'));
    await tab.context.close();
  });

  test.runIf(IS_SLOW_SUITE)('respect reduced motion while a job runs', async () => {
    const tab = await openTab(LOOKS[0], { reducedMotion: 'reduce' });
    await visit(tab, urlOf('job-absent'));
    await tab.page.evaluate(STEP_UNDER_WAY);
    expect(await countAnimations(tab)).toBe(0);
    await tab.page.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await countAnimations(tab)).toBe(1);
    await tab.context.close();
  });

  test.skipIf(IS_SLOW_SUITE)('show the same content without JavaScript', async () => {
    const tab = await openTab(LOOKS[0], { javaScriptEnabled: false });
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
    // Formats 12.8 million full and 32.1 million partial matches, or the actual counts, in digits.
    await expect
      .poll(() => tab.page.locator('main').innerText())
      .toMatch(/\d{1,3}(?:[^\d\s]|\s)\d{3}/);
    await visitWithoutScripts(tab, urlOf('chains'));
    await expect.poll(() => tab.page.locator('main table tbody tr').count()).toBeGreaterThan(20);
    await visitWithoutScripts(tab, urlOf('contract-full'));
    await expect.poll(() => tab.page.locator('main').innerText()).toMatch(/full match/i);
    await expect
      .poll(() => tab.page.locator('main').innerText())
      .toContain('contract Token is Owned');
    await tab.context.close();
  });
});

/** Adds a progress step to the page as it looks during a job. */
const STEP_UNDER_WAY = `document.querySelector('main').innerHTML =
  '<ol class="steps"><li class="now"><svg viewBox="0 0 16 16"></svg></li></ol>'`;

async function visitWithoutScripts({ page }: WatchedPage, url: string): Promise<number> {
  return (await page.goto(url))?.status() ?? 0;
}
