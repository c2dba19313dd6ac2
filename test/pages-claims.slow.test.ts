// Claims of other services on the pages: separate from verified contracts, and not mentioned without any.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { type Match, type Origin } from '../src/repository/matches/verified-contract.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import {
  LOOKS,
  openTab,
  sidewaysScroll,
  takePicture,
  visit,
  type WatchedPage,
} from './support/browser.ts';
import { followed } from './support/followed.ts';
import { BROWSER, describeWith } from './support/needs.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const YAML = `
chains:
  7000001: { name: Mixed chain, rpc: [] }
  7000002: { name: Claimed chain, rpc: [] }
  7000003: { name: Verified chain, rpc: [] }
`;
const [MIXED, CLAIMED, VERIFIED] = [7_000_001, 7_000_002, 7_000_003];

/** Contracts by chain, origin and match. */
const VERIFIED_ONLY = [
  [MIXED, 'verified', 'full', 3],
  [MIXED, 'monitored', 'partial', 2],
  [VERIFIED, 'verified', 'full', 1],
] as const;
const CLAIMS = [
  [MIXED, 'imported', 'full', 4],
  [CLAIMED, 'imported', 'full', 20],
  [CLAIMED, 'imported', 'partial', 30],
] as const;
type Contracts = readonly (readonly [number, Origin, Match, number])[];

async function store({ database }: TestDatabase, contracts: Contracts): Promise<void> {
  const matches = contracts.flatMap(([chainId, origin, match, count], index) =>
    Array.from({ length: count }, (_, number) =>
      sampleContract(
        chainId,
        sampleAddress(100 * index + number + 1),
        { runtimeMatch: match },
        { origin },
      ),
    ),
  );
  await saveMatches(database, matches);
}

describeWith([BROWSER], 'claims on the pages', () => {
  let testDatabase: TestDatabase;
  let service: BootedService;
  let tab: WatchedPage;

  const boot = async (contracts: Contracts): Promise<void> => {
    testDatabase = await createTestDatabase();
    await store(testDatabase, contracts);
    service = await bootService({ databaseUrl: testDatabase.url, yaml: YAML });
    await followed(service, testDatabase.database);
    tab = await openTab();
  };
  const close = async (): Promise<void> => {
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
    await service.close();
    await testDatabase.drop();
  };
  const open = async (at: string): Promise<void> => {
    await visit(tab, `${service.apiUrl}${at}`);
  };
  const main = () => tab.page.locator('main');
  const figures = async (): Promise<Record<string, string>> => {
    const rows = await main().locator('.figures > div').allInnerTexts();
    return Object.fromEntries(
      rows.map((text) => text.trim().split('\n').slice(0, 2) as [string, string]),
    );
  };
  /** The rows of a table, each as the texts of its cells. */
  const rowsOf = async (selector: string): Promise<string[][]> => {
    const rows = await main().locator(`${selector} tbody tr`).all();
    return Promise.all(
      rows.map(async (row) => {
        const texts = await row.locator('th, td').allInnerTexts();
        return texts.map((text) => text.trim());
      }),
    );
  };
  const headsOf = (selector: string): Promise<string[]> =>
    main().locator(`${selector} thead th`).allInnerTexts();
  const endsOf = (selector: string): Promise<string[]> =>
    main().locator(`${selector} .chart-end`).allInnerTexts();
  const saved = async (name: RegExp | string, inside = 'main'): Promise<string> => {
    const button = tab.page.locator(inside).getByRole('button', { name }).first();
    const [download] = await Promise.all([tab.page.waitForEvent('download'), button.click()]);
    return readFile(await download.path(), 'utf8');
  };

  describe('if there are any', () => {
    beforeAll(() => boot([...VERIFIED_ONLY, ...CLAIMS]));
    afterAll(close);

    test('have a separate figure on the overview and count in no other', async () => {
      await open('/');
      await expect.poll(figures).toEqual({
        'Verified contracts': '6',
        'Full matches': '4',
        'Partial matches': '2',
        Claims: '54',
      });
      expect(await main().locator('.figures .change').innerText()).toContain('+6 in 24 h');
      await takePicture(tab.page, 'claims-overview');
    });

    test('have a separate line in the chart of the overview', async () => {
      await open('/');
      await expect.poll(() => endsOf('.trend')).toEqual(['full\n4', 'partial\n2', 'claimed\n54']);
      expect(await main().locator('.trend figcaption').innerText()).toMatch(
        /^Full matches rose by 4, partial matches rose by 2, claims rose by 54 since /,
      );
      const header = (await saved('Download CSV', '.trend')).split('\r\n')[0];
      expect(header).toBe('date,full,partial,claimed');
    });

    test('never rank a chain above one with verified contracts', async () => {
      await open('/');
      await expect
        .poll(() => rowsOf('table.largest'))
        .toEqual([
          ['Mixed chain', '5', '4'],
          ['Verified chain', '1', ''],
          ['Claimed chain', '0', '50'],
        ]);
      // Claims are hatched, and nothing else is.
      expect(await main().locator('.largest path.claimed').count()).toBe(2);
    });

    test('have a column in the chains table, its CSV, and its order', async () => {
      await open('/registry?contracts=yes');
      await expect
        .poll(() => headsOf('table.chains'))
        .toEqual([
          ...[
            'Name',
            'Id',
            'Verification',
            'Full',
            'Partial',
            'Claims',
            'Contracts',
            'Share of full',
          ],
          'Last verified',
        ]);
      const rows = await rowsOf('table.chains');
      // Tags follow the name.
      const nameOf = (cell = ''): string => cell.replace(/ chain.*/s, ' chain');
      expect(rows.map((row) => [nameOf(row[0]), ...row.slice(3, 6), row[7]])).toEqual([
        ['Mixed chain', '3', '2', '4', '60%'],
        ['Verified chain', '1', '0', '0', '100%'],
        ['Claimed chain', '0', '0', '50', '–'],
      ]);
      expect(rows[2]?.[8]).toBe('–');
      await takePicture(tab.page, 'claims-chains');
      const [header = '', ...lines] = (await saved('Download CSV')).trim().split('\r\n');
      const at = header.split(',').indexOf('claimed');
      expect(
        lines.map((line) =>
          line
            .split(',')
            .slice(at - 2, at + 1)
            .join(),
        ),
      ).toEqual([...['3,2,4', '1,0,0', '0,0,50']]);
      await open('/registry?contracts=yes&sort=-claimed');
      await expect
        .poll(async () => nameOf((await rowsOf('table.chains'))[0]?.[0]))
        .toBe('Claimed chain');
    });

    test('are separate on the page of a chain', async () => {
      await open(`/registry/${MIXED}`);
      await expect
        .poll(() => main().locator('.lead').innerText())
        .toContain('5 verified contracts. 4 claims of other services.');
      expect(await figures()).toMatchObject({
        ...{ 'Full matches': '3', 'Partial matches': '2', Claims: '4', 'Share of full': '60%' },
      });
      expect(await endsOf('.trend')).toEqual(['full\n3', 'partial\n2', 'claimed\n4']);
      await takePicture(tab.page, 'claims-chain');
      await open(`/registry/${CLAIMED}`);
      await expect
        .poll(() => main().locator('.lead').innerText())
        .toMatch(/^50 claims of other services\. /);
      expect(await figures()).not.toHaveProperty('Last verified');
    });

    test('are separate in the chart and rankings of the statistics, and in their CSV', async () => {
      await open('/statistics');
      await expect
        .poll(() => main().locator('.lead').innerText())
        .toContain('4 full and 2 partial matches verified here, and 54 claims of other services');
      expect(await endsOf('.history')).toEqual(['full\n4', 'partial\n2', 'claimed\n54']);
      const byChain = main().locator('figure.ranking').first();
      expect(await byChain.locator('figcaption').innerText()).toContain(
        'Mixed chain (7000001): 5 of 6 verified contracts.',
      );
      const rows = await rowsOf('figure.ranking');
      expect(rows.map((row) => [...row.slice(0, 4), row[5]])).toEqual([
        ['Mixed chain', '3', '2', '4', '60%'],
        ['Verified chain', '1', '0', '0', '100%'],
        ['Claimed chain', '0', '0', '50', '–'],
        ['solidity 0.8.37+commit.00000000', '4', '2', '54', '67%'],
        ['verified', '4', '0', '0', '100%'],
        ['monitored', '0', '2', '0', '0%'],
        ['imported', '0', '0', '54', '–'],
      ]);
      expect(await saved('Download all as CSV', 'figure.ranking')).toContain(
        'chain,full,partial,claimed\r\nMixed chain (7000001),3,2,4\r\n',
      );
      await takePicture(tab.page, 'claims-statistics');
    });

    test('are the only hatched bars in the growth chart', async () => {
      await open('/statistics?show=growth');
      const fills = main().locator('.chart-field path.bar');
      await expect.poll(() => fills.count()).toBe(3);
      const bars = await fills.all();
      const hatched = await Promise.all(
        bars.map(async (bar) => [
          await bar.getAttribute('class'),
          (await bar.getAttribute('fill')) === 'currentColor',
        ]),
      );
      expect(hatched).toEqual([
        ['bar full', true],
        ['bar partial', true],
        ['bar claimed', false],
      ]);
      await takePicture(tab.page, 'claims-growth');
    });

    test('are excluded from the lines of chains', async () => {
      await open('/statistics?show=chains');
      await expect
        .poll(() => endsOf('.history'))
        .toEqual([...['Mixed chain\n5', 'Verified chain\n1', 'Claimed chain\n0']]);
      expect(await main().locator('.history figcaption').innerText()).toContain(
        'Claims of other services are not included.',
      );
    });

    test('are separate in the methodology', async () => {
      await open('/counts');
      await expect
        .poll(() => main().innerText())
        .toContain('4 full and 2 partial matches verified here, and 54 claims of other services');
    });

    test('fit at 320 px', async () => {
      const narrow = await openTab(LOOKS[2]);
      for (const at of ['/', '/registry?contracts=yes', `/registry/${MIXED}`, '/statistics']) {
        await visit(narrow, `${service.apiUrl}${at}`);
        expect(await sidewaysScroll(narrow), at).toBe(0);
        const name = at.replace(/\W+/g, '-');
        await takePicture(narrow.page, `claims-narrow${name}`);
      }
      expect(narrow.troubles).toEqual([]);
      await narrow.context.close();
    });
  });

  describe('if there are none', () => {
    beforeAll(() => boot(VERIFIED_ONLY));
    afterAll(close);

    test('are not mentioned', async () => {
      await open('/');
      await expect
        .poll(async () => Object.keys(await figures()))
        .toEqual([...['Verified contracts', 'Full matches', 'Partial matches']]);
      expect(await endsOf('.trend')).toEqual(['full\n4', 'partial\n2']);
      expect((await rowsOf('table.largest'))[0]).toEqual(['Mixed chain', '5']);
      await open('/registry?contracts=yes');
      expect(await headsOf('table.chains')).not.toContain('Claims');
      await open(`/registry/${MIXED}`);
      expect(await figures()).not.toHaveProperty('Claims');
      await open('/statistics');
      expect(await headsOf('figure.ranking')).not.toContain('Claims');
      expect(await saved('Download all as CSV', 'figure.ranking')).toMatch(/^chain,full,partial\r/);
      expect(await main().innerText()).not.toMatch(/claim/i);
    });
  });
});
