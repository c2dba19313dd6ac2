import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sql } from '../src/store/database.ts';
import {
  arrive,
  LOOKS,
  openTab,
  sidewaysScroll,
  visit,
  type WatchedPage,
} from './support/browser.ts';
import { BROWSER, describeWith } from './support/needs.ts';
import { startPagesService, type PagesService } from './support/pages-service.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

/** Three withdrawals close together, including that of the filled service, and a single one. */
const WITHDRAWALS = sql(
  'test fill withdrawals',
  `INSERT INTO daily_falls (chain_id, day, reason, full_match, partial_match)
   SELECT chain_id, (now() AT TIME ZONE 'UTC')::date - ago, reason, full_match, partial_match FROM (VALUES
     (1, 75, 'A node had answered for another chain', -900, 0), (1, 41, 'Its metadata was of another contract', -1, 0),
     (10, 40, 'A batch of imports named the wrong chain', -12, -345), (1, 39, '<b>Withdrawn</b> by its author', 0, -2)
   ) AS withdrawal (chain_id, ago, reason, full_match, partial_match)`,
);

describeWith([BROWSER], 'the statistics page', () => {
  let testDatabase: TestDatabase;
  let pages: PagesService;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    await testDatabase.database.query(WITHDRAWALS, []);
    pages = await startPagesService(testDatabase);
  });
  afterAll(async () => {
    await pages.close();
    await testDatabase.drop();
  });

  const open = async (
    query = '',
    options: Parameters<typeof openTab>[1] & { readonly look?: number } = {},
  ): Promise<WatchedPage & { readonly status: number }> => {
    const { look = 0, ...rest } = options;
    const tab = await openTab(LOOKS[look], rest);
    const url = `${pages.service.apiUrl}/statistics${query}`;
    if (rest.javaScriptEnabled !== false) return { ...tab, status: await visit(tab, url) };
    const response = await tab.page.goto(url);
    return { ...tab, status: response?.status() ?? 0 };
  };
  const chartOf = ({ page }: WatchedPage) => page.locator('figure.history');
  const textsOf = (tab: WatchedPage, selector: string): Promise<string[]> =>
    chartOf(tab).locator(selector).allTextContents();
  /** Returns the figures of the chart's table by day. */
  const tableOf = async (tab: WatchedPage): Promise<Map<string, string[]>> => {
    const [days, cells] = [await textsOf(tab, 'tbody th'), await textsOf(tab, 'tbody td')];
    const width = cells.length / days.length;
    return new Map(days.map((day, row) => [day, cells.slice(row * width, (row + 1) * width)]));
  };
  /** Evaluates an expression over `path` for each line and bar of the chart. */
  const readPaths = ({ page }: WatchedPage, expression: string): Promise<string[]> =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll('figure.history .chart-field svg path')].map((path) => ${expression})`,
    );

  test('selects chains by keyboard and draws each with its name and latest value', async () => {
    const tab = await open();
    const field = tab.page.getByRole('combobox', { name: /chains/i });
    for (const [typed, name] of [
      ['100', 'Gnosis'],
      ['eth', 'Ethereum Mainnet'],
    ] as const) {
      await field.pressSequentially(typed);
      const choice = tab.page.getByRole('option', { name }).first();
      await choice.waitFor();
      await field.press('ArrowDown');
      await expect.poll(() => choice.getAttribute('aria-selected')).toBe('true');
      await field.press('Enter');
      await tab.page.getByRole('checkbox', { name }).waitFor();
      expect(await field.inputValue()).toBe('');
    }
    await tab.page.locator('select[name="show"]').selectOption('chains');
    await field.press('Enter');
    await arrive(tab, /chain=100&chain=1&.*show=chains/);
    await expect.poll(() => textsOf(tab, '.chart-end bdi')).toEqual(['Ethereum Mainnet', 'Gnosis']);
    const [today = []] = (await tableOf(tab)).values();
    await expect.poll(() => textsOf(tab, '.chart-end strong')).toEqual(today);
    // An unchecked chain is left out of the next query.
    await tab.page.getByRole('checkbox', { name: 'Gnosis' }).uncheck();
    await tab.page.getByRole('button', { name: 'Show' }).click();
    await arrive(tab, (url) => url.searchParams.getAll('chain').join() === '1');
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('shows the values of a day by pointer and keyboard, equal to its table and CSV', async () => {
    const tab = await open();
    const table = await tableOf(tab);
    const days = [...table.keys()];
    expect(days).toHaveLength(90);
    const said = chartOf(tab).locator('output');
    const expectDay = async (day: string | undefined): Promise<void> => {
      const [full, partial, claimed] = table.get(day ?? '') ?? [];
      await expect
        .poll(() => said.textContent())
        .toBe(`${day}: full ${full} · partial ${partial} · claimed ${claimed}`);
    };
    const slider = tab.page.getByRole('slider', { name: 'Day of the chart' });
    await slider.focus();
    await expectDay(days[0]);
    await slider.press('ArrowLeft');
    await slider.press('ArrowLeft');
    await expectDay(days[2]);
    await slider.press('Home');
    await expectDay(days[89]);
    const field = await chartOf(tab).locator('.chart-ground').boundingBox();
    await tab.page.mouse.move((field?.x ?? 0) + (field?.width ?? 0) - 1, (field?.y ?? 0) + 9);
    await expectDay(days[0]);

    const button = chartOf(tab).getByRole('button', { name: 'Download CSV' });
    const [download] = await Promise.all([tab.page.waitForEvent('download'), button.click()]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    const expected = [...table].map(([day, figures]) =>
      [day, ...figures.map((figure) => figure.replaceAll(',', ''))].join(','),
    );
    expect(lines).toEqual(['date,full,partial,claimed', ...expected.reverse()]);
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('marks drops in counts with numbers from the list of reasons', async () => {
    const tab = await open();
    await expect.poll(() => textsOf(tab, '.withdrawal-mark text')).toEqual(['1', '2', '3']);
    const [alone, joined] = await textsOf(tab, 'ol.withdrawals > li');
    expect(alone).toMatch(
      /, Ethereum Mainnet: −900 full, ±0 partial – A node had answered for another chain$/,
    );
    expect(joined).toMatch(/^360 withdrawals, .*: −13 full, −347 partial/);
    expect(joined).toContain('Ethereum Mainnet: −1 full, ±0 partial – Its metadata was');
    expect(joined).toContain('<b>Withdrawn</b> by its author');
    const link = chartOf(tab).getByRole('link', { name: 'Ethereum Mainnet' }).first();
    await expect.poll(() => link.getAttribute('href')).toBe('./registry/1');
    await tab.context.close();
  });

  test.each([
    ['', /^0$/, 3],
    ['?scale=log', /^1\d* ?[kM]?$/, 3],
    ['?scale=share', /^0%$/, 1],
    ['?show=growth', /^0$/, 3],
    ['?show=chains&top=5', /^0$/, 6],
    ['?show=chains&top=100&scale=log&interval=week', /^1/, 9],
  ])('draws %s on its scale, at 320 px too', async (query, first, lines) => {
    const tab = await open(query, { look: 2 });
    // Day labels have an x position; value labels are at the edge.
    const ticks = await textsOf(tab, '.chart-axes text:not([x])');
    expect(ticks[0]?.replace('\u00A0', ' ')).toMatch(first);
    await expect.poll(() => textsOf(tab, '.chart-end')).toHaveLength(lines);
    const paths = await readPaths(tab, 'path.getAttribute("d")');
    expect(paths).toHaveLength(lines);
    for (const path of paths) expect(path).toMatch(/^M[\d.]/);
    expect(await sidewaysScroll(tab)).toBe(0);
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('says what a scale cannot show', async () => {
    const tab = await open('?show=growth&scale=log');
    await expect
      .poll(() => chartOf(tab).locator('figcaption').textContent())
      .toContain('no logarithm');
    await tab.context.close();
  });

  test('renders the chart without scripts, accepts short names and keeps unknown parameters', async () => {
    const tab = await open('', { javaScriptEnabled: false });
    await expect.poll(() => textsOf(tab, '.chart-end bdi')).toEqual(['full', 'partial', 'claimed']);
    await expect.poll(() => chartOf(tab).locator('path.line.full').first().isVisible()).toBe(true);
    const field = tab.page.locator('input[name="chains"]');
    await field.fill('gno, zzzz');
    await tab.page.getByRole('button', { name: 'Show' }).click();
    await expect.poll(() => tab.page.getByRole('alert').textContent()).toContain("'zzzz'");
    await expect.poll(() => field.inputValue()).toBe('zzzz');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('');
    await tab.page.getByRole('button', { name: 'Show' }).click();
    await expect
      .poll(() => tab.page.getByRole('checkbox', { name: 'Gnosis' }).isChecked())
      .toBe(true);
    await expect.poll(() => chartOf(tab).count()).toBe(1);
    await tab.page.getByRole('link', { name: '30 days' }).click();
    await expect
      .poll(() => tab.page.getByRole('link', { name: '30 days' }).getAttribute('aria-current'))
      .toBe('true');
    expect((await tableOf(tab)).size).toBe(30);
    await tab.context.close();
  });

  test('shows the API error for a range that ends before it begins and keeps the form', async () => {
    const tab = await open('?from=2026-03-01&to=2026-02-01&scale=log');
    expect(tab.status).toBe(400);
    await expect
      .poll(() => tab.page.getByRole('alert').textContent())
      .toContain('a day up to 2026-02-01');
    await expect.poll(() => tab.page.getByLabel('From').inputValue()).toBe('2026-03-01');
    await expect.poll(() => tab.page.getByLabel('Scale').inputValue()).toBe('log');
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('loads no more chains than it can show, says so and keeps the selection', async () => {
    const refs = Array.from({ length: 1500 }, (_, index) => String(index + 1));
    const tab = await open(`?${refs.map((ref) => `chain=${ref}`).join('&')}&scale=log`);
    expect(tab.status).toBe(400);
    const field = tab.page.locator('input[name="chains"]');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => field.inputValue()).toBe(refs.join(', '));
    await expect
      .poll(() => tab.page.getByRole('alert').first().textContent())
      .toContain('At most 50 chains');
    await expect.poll(() => tab.page.getByLabel('Scale').inputValue()).toBe('log');
    await field.fill('gno');
    await field.press('Escape');
    await tab.page.getByRole('button', { name: 'Show' }).click();
    await tab.page.getByRole('checkbox', { name: 'Gnosis' }).waitFor();
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('draws in forced colours and distinguishes lines by pattern', async () => {
    const tab = await open('?show=chains');
    await tab.page.emulateMedia({ forcedColors: 'active' });
    const strokes = await readPaths(tab, 'getComputedStyle(path).stroke');
    expect(new Set(strokes)).toEqual(new Set(['rgb(0, 0, 0)']));
    const patterns = await readPaths(tab, 'getComputedStyle(path).strokeDasharray');
    expect(patterns).toHaveLength(9);
    expect(new Set(patterns).size).toBe(patterns.length);
    await tab.context.close();
  });
});
