import { readFile } from 'node:fs/promises';
import { type Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { healthReportSchema } from '../src/http/health-schema.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { sql } from '../src/store/database.ts';
import { ALL_CHAINS, bootService, type BootedService } from './support/booted-service.ts';
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
import { fillStatistics } from './support/pages-service.ts';
import { type RpcServer, startRpcServer } from './support/rpc-server.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const FORMULA_CHAIN = { id: 7_000_001, name: '=HYPERLINK("http://x", "y")' };
const LIED_CHAIN = 7_000_002;

describeWith([BROWSER], 'page states', () => {
  let testDatabase: TestDatabase;
  let service: BootedService;
  let liar: RpcServer;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    liar = await startRpcServer({ eth_chainId: () => '0x5' });
    service = await boot();
  });
  afterAll(async () => {
    await service.close();
    await liar.close();
    await testDatabase.drop();
  });

  const boot = (port = '0'): Promise<BootedService> =>
    bootService({
      databaseUrl: testDatabase.url,
      environment: { ...ALL_CHAINS, FULLMATCH_API_PORT: port },
      yaml: `
chains:
  ${FORMULA_CHAIN.id}: { name: '${FORMULA_CHAIN.name}', rpc: [] }
  ${LIED_CHAIN}: { name: Chain of a liar, local: true, rpc: ['${liar.url}'], status: deprecated }
`,
    });
  const urlOf = (at: string): string => `${service.apiUrl}${at}`;
  const open = async (at: string, look = LOOKS[0]): Promise<WatchedPage> => {
    const tab = await openTab(look);
    await visit(tab, urlOf(at));
    return tab;
  };
  const main = ({ page }: WatchedPage): Locator => page.locator('main');
  const statusOf = (tab: WatchedPage): Promise<string> =>
    main(tab).getByRole('status').first().innerText();
  const wordsOf = (tab: WatchedPage): Locator => main(tab).locator('input[name="q"]');
  const keep = ({ page }: WatchedPage, name: string): Promise<void> =>
    takePicture(page, `state-${name}`);
  const execute = (text: string): Promise<unknown> =>
    testDatabase.database.query(sql(`test ${text.slice(0, 40)}`, text));
  const store = (number: number, name: string): Promise<unknown> => {
    const sample = sampleContract(1, sampleAddress(number), { runtimeMatch: 'full' });
    const metadata = JSON.stringify({ name });
    const compilation = { ...sample.compilation, name, metadata };
    return saveMatch(testDatabase.database, { ...sample, origin: 'verified', compilation });
  };

  describe('while the statistics are unavailable', () => {
    beforeAll(() => execute('ALTER TABLE compiler_counts RENAME TO compiler_counts_away'));

    test('lists all chains without counts and calls none of them empty', async () => {
      const tab = await open('/registry');
      await expect.poll(() => statusOf(tab)).toMatch(/^Showing [\d,]+ of/);
      await expect
        .poll(() => main(tab).getByRole('alert').innerText())
        .toContain('The counts could not be read since');
      await expect.poll(() => main(tab).locator('tbody tr').first().innerText()).toContain('?');
      expect(await main(tab).getByRole('link', { name: 'With contracts' }).count()).toBe(0);
      await keep(tab, 'chains-without-counts');
      expect(tab.troubles).toEqual([]);
      await tab.context.close();
    });

    test('keeps scroll position, query and the time of the first failure across a retry', async () => {
      const tab = await open('/registry?sort=name');
      await main(tab).getByRole('button', { name: 'Download CSV' }).waitFor();
      await wordsOf(tab).fill('mainnet');
      await expect.poll(() => tab.page.url()).toContain('q=mainnet');
      const since = await main(tab).getByRole('alert').locator('time').getAttribute('datetime');
      await tab.page.evaluate('scrollTo(0, 150)');
      await Promise.all([
        tab.page.waitForEvent('load'),
        main(tab).getByRole('link', { name: 'Try again' }).click(),
      ]);
      await expect.poll(() => wordsOf(tab).inputValue()).toBe('mainnet');
      const again = main(tab).getByRole('alert').locator('time');
      await expect.poll(() => again.getAttribute('datetime')).toBe(since);
      await expect.poll(() => tab.page.evaluate<number>('scrollY')).toBe(150);
      await tab.context.close();
    });

    test('shows the record of a chain, the history, and the last known counts on the overview', async () => {
      const tab = await open('/registry/1');
      await expect.poll(() => main(tab).getByRole('alert').innerText()).toContain('The counts');
      await expect
        .poll(() => main(tab).locator('table.fields tbody tr').count())
        .toBeGreaterThan(5);
      await visit(tab, urlOf('/statistics'));
      await expect
        .poll(() => main(tab).getByRole('alert').innerText())
        .toContain('The counts by chain');
      await expect.poll(() => main(tab).locator('figure').count()).toBeGreaterThan(0);
      await keep(tab, 'statistics-partly');
      await visit(tab, urlOf('/'));
      await expect.poll(() => main(tab).getByRole('alert').innerText()).toContain('The statistics');
      await expect.poll(() => main(tab).innerText()).toContain('The last known counts');
      await keep(tab, 'overview-without-statistics');
      await tab.context.close();
    });

    afterAll(() => execute('ALTER TABLE compiler_counts_away RENAME TO compiler_counts'));
  });

  describe('without any contract', () => {
    test('the overview shows the first steps and then the first contract', async () => {
      const tab = await open('/');
      await main(tab).getByText('appear here automatically').waitFor();
      await expect
        .poll(() => main(tab).getByRole('link', { name: 'Verify a contract' }).count())
        .toBe(1);
      await keep(tab, 'overview-empty');
      const other = await open('/statistics');
      await expect
        .poll(() => main(other).getByRole('link', { name: 'Verify a contract' }).count())
        .toBe(1);
      await keep(other, 'statistics-empty');
      await other.context.close();
      await store(0xa1, 'Firstling');
      await main(tab).getByText('Firstling').first().waitFor();
      const total = main(tab).locator('.figures dd').first();
      await expect.poll(() => total.innerText()).toBe('1');
      expect(await main(tab).getByText('No contract has been verified').count()).toBe(0);
      expect(tab.troubles).toEqual([]);
      await tab.context.close();
    });

    test('a chain leads to its first verification', async () => {
      const tab = await open('/registry/10');
      await main(tab).getByRole('link', { name: 'Verify a contract' }).click();
      await arrive(tab, /\/verify\?chain=10$/);
      await expect.poll(() => main(tab).getByLabel('Chain').first().inputValue()).toContain('10');
      await tab.context.close();
    });
  });

  describe('without a search result', () => {
    test('the table suggests alternatives and how to widen the search', async () => {
      const tab = await open('/registry?q=sepola&monitored=yes');
      await main(tab).getByRole('link', { name: 'Sepolia', exact: true }).waitFor();
      await keep(tab, 'chains-none-near');
      await main(tab).getByRole('link', { name: 'Search without filters' }).click();
      await arrive(tab, /\?q=sepola$/);
      await main(tab).getByRole('link', { name: 'Clear' }).click();
      await expect.poll(() => statusOf(tab)).toMatch(/^Showing ([\d,]+) of \1/);
      expect(new URL(tab.page.url()).search).toBe('');
      await tab.context.close();
    });

    test('an unknown chain lists similar ones and how to add one', async () => {
      for (const look of [LOOKS[0], LOOKS[2]]) {
        const tab = await open('/registry/84533', look);
        await main(tab).getByRole('link', { name: 'Base Sepolia Testnet' }).waitFor();
        await expect.poll(() => main(tab).innerText()).toContain('84533:');
        expect(await sidewaysScroll(tab)).toBe(0);
        await keep(tab, `chain-unknown-${look?.name ?? ''}`);
        await tab.context.close();
      }
    });
  });

  describe('while the browser is still loading', () => {
    test('keeps what is typed before the scripts run and then searches for it', async () => {
      const tab = await openTab();
      const scripts = held();
      await tab.page.route(/\/assets\/.*\.js$/, async (route) => {
        await scripts.released;
        await route.continue();
      });
      await tab.page.goto(urlOf('/registry'), { waitUntil: 'commit' });
      await wordsOf(tab).pressSequentially('gnosis');
      scripts.release();
      await expect.poll(() => statusOf(tab)).toMatch(/^Showing \d of/);
      await expect.poll(() => wordsOf(tab).inputValue()).toBe('gnosis');
      expect(tab.troubles).toEqual([]);
      await tab.context.close();
    });

    test('announces that more rows will follow, without a layout shift, and then shows them', async () => {
      const tab = await openTab();
      const list = held();
      await tab.page.route(/\/v1\/registry$/, async (route) => {
        await list.released;
        await route.continue();
      });
      await visit(tab, urlOf('/registry'));
      const table = main(tab).locator('table.chains');
      const before = await table.boundingBox();
      await wordsOf(tab).fill('gnosis');
      await expect.poll(() => table.getAttribute('aria-busy')).toBe('true');
      await expect.poll(() => statusOf(tab)).toContain('reading all chains');
      expect((await table.boundingBox())?.y).toBe(before?.y);
      await keep(tab, 'chains-reading');
      list.release();
      await expect.poll(() => statusOf(tab)).toMatch(/^Showing \d of/);
      await expect.poll(() => table.getAttribute('aria-busy')).toBe('false');
      expect((await table.boundingBox())?.y).toBe(before?.y);
      await tab.context.close();
    });
  });

  describe('the table of chains', () => {
    test('finds regardless of accents and case, restores its state, and saves what it shows', async () => {
      const tab = await open('/registry');
      await main(tab).getByRole('button', { name: 'Download CSV' }).waitFor();
      await main(tab).getByRole('link', { name: 'Testnets' }).click();
      await wordsOf(tab).fill('CHIÁDO');
      await expect.poll(() => tab.page.url()).toContain('q=CHI');
      expect(await statusOf(tab)).not.toMatch(/^Showing 0 /);
      await tab.page.goBack();
      await expect.poll(() => wordsOf(tab).inputValue()).toBe('');
      await tab.page.goForward();
      await expect.poll(() => wordsOf(tab).inputValue()).toBe('CHIÁDO');
      const testnets = main(tab).getByRole('link', { name: 'Testnets' });
      await expect.poll(() => testnets.getAttribute('aria-current')).toBe('true');
      // Clicking an active chip again turns it off, and the query stays.
      await testnets.click();
      await expect.poll(() => tab.page.url()).not.toContain('network=');
      expect(tab.page.url()).toContain('q=CHI');
      expect(await testnets.getAttribute('aria-current')).toBe(null);

      await visit(tab, urlOf(`/registry?q=${FORMULA_CHAIN.id}`));
      const button = main(tab).getByRole('button', { name: 'Download CSV' });
      const [download] = await Promise.all([tab.page.waitForEvent('download'), button.click()]);
      const [header, row, end] = (await readFile(await download.path(), 'utf8')).split('\r\n');
      expect(header).toMatch(/^chainId,name,shortName,/);
      expect(row).toContain(`${FORMULA_CHAIN.id},"'=HYPERLINK(""http://x"", ""y"")",`);
      expect(end).toBe('');
      expect(tab.troubles).toEqual([]);
      await tab.context.close();
    });
  });

  describe('a chain whose endpoint serves another chain', () => {
    test('shows a warning with the endpoint, the reason, and the origin of each field', async () => {
      await expect.poll(() => readHealth(LIED_CHAIN)).toBe('wrong_chain');
      const tab = await open(`/registry/${LIED_CHAIN}`);
      const warnings = await main(tab).locator('.caution').innerText();
      expect(warnings).toContain('wrong_chain');
      expect(warnings).toContain('deprecated');
      const endpoint = await main(tab).locator('table.endpoints tbody tr').first().innerText();
      expect(endpoint).toContain(liar.url);
      expect(endpoint).toMatch(/wrong chain/);
      const origins = main(tab).locator('table.fields tbody tr td:last-child');
      for (const origin of await origins.allTextContents()) expect(origin).not.toBe('');
      await keep(tab, 'chain-of-a-liar');
      await tab.context.close();
    });

    test('copies its record and its addresses to the clipboard as served', async () => {
      const tab = await open(`/registry/${LIED_CHAIN}`);
      await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
      const copy = async (name: string): Promise<void> => {
        await main(tab).getByRole('button', { name }).click();
        await main(tab).getByText('Copied').first().waitFor();
      };
      // The copy confirmation may still be that of the previous copy.
      const copied = (): Promise<string> =>
        tab.page.evaluate<string>('navigator.clipboard.readText()');
      await copy('Copy the chain id');
      await expect.poll(copied).toBe(String(LIED_CHAIN));
      await copy('Copy the URL of');
      await expect.poll(copied).toBe(liar.url);
      await main(tab).getByText('The record as JSON').click();
      const served = await (await fetch(urlOf(`/chains/${LIED_CHAIN}`))).json();
      await copy('Copy the record');
      await expect.poll(async () => JSON.parse(await copied()) as unknown).toEqual(served);
      expect(tab.troubles).toEqual([]);
      await tab.context.close();
    });
  });

  describe('while the service is down', () => {
    test('the overview shows since when and catches up once it is back', async () => {
      const tab = await open('/');
      await main(tab).getByText('Live:').waitFor();
      await service.close();
      await main(tab)
        .getByText(/Interrupted since \d{4}-\d\d-\d\d/)
        .waitFor();
      await keep(tab, 'overview-interrupted');
      await store(0xa2, 'Missed');
      service = await boot(new URL(service.apiUrl).port);
      await main(tab).getByText('Live:').waitFor();
      await main(tab).getByText('Missed', { exact: true }).first().waitFor();
      expect(tab.troubles.filter((trouble) => !trouble.includes('ERR_'))).toEqual([]);
      await tab.context.close();
    });

    test('reconnects a rejected event stream', async () => {
      const tab = await openTab();
      await tab.page.clock.install();
      await tab.page.route('**/v1/events', (route) => route.fulfill({ status: 503 }));
      await visit(tab, urlOf('/'));
      await main(tab).getByText('Interrupted since').waitFor();
      await tab.page.unroute('**/v1/events');
      await tab.page.clock.fastForward(15_000);
      await main(tab).getByText('Live:').waitFor();
      await tab.context.close();
    });
  });

  describe('while the database hangs', () => {
    test('renders late parts as unavailable and shows the age of the counts', async () => {
      await fillStatistics(testDatabase.database);
      await store(0xa3, 'Filled');
      const tab = await open('/');
      const age = main(tab).locator('.stale strong');
      await testDatabase.database.transaction(async (transaction) => {
        const tables = await transaction.query<{ tablename: string }>(
          sql('test tables', `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`),
        );
        const names = tables.map(({ tablename }) => tablename).join(', ');
        await transaction.query(sql('test lock', `LOCK TABLE ${names}`));
        const openNarrow = () => openTab(LOOKS[2]);
        // The page that was just opened is cached for a second; under another query it is rendered again.
        const overview = '/?again';
        const late = [
          overview,
          '/registry',
          '/registry/1',
          '/statistics',
          '/statistics?shown=chains',
        ];
        await eachInTabs(late, openNarrow, async (other, at) => {
          const start = performance.now();
          expect.soft(await visit(other, urlOf(at)), at).toBe(200);
          expect.soft(performance.now() - start, at).toBeLessThan(12_000);
          expect.soft(await sidewaysScroll(other), at).toBe(0);
          if (at === overview) {
            const failure = main(other).getByRole('alert').first();
            expect.soft(await failure.innerText()).toContain('took longer than 3 s');
          }
          const name = at.replaceAll(/\W+/g, '-');
          await keep(other, `late-narrow${name}`);
        });

        await age.waitFor();
        await expect.poll(readReasons).toContain('database_unreachable');
        const first = await age.innerText();
        await keep(tab, 'overview-stale');
        await expect.poll(() => age.innerText()).not.toBe(first);
      });
      await age.waitFor({ state: 'detached' });
      await tab.context.close();
    });
  });

  /** Returns the reasons why the service is unhealthy, by the codes of its health report. */
  async function readReasons(): Promise<readonly string[]> {
    const report = healthReportSchema.parse(await (await fetch(urlOf('/health'))).json());
    return report.reasons.map(({ code }) => code);
  }

  /** Returns the state of the first endpoint of a chain. */
  async function readHealth(chainId: number): Promise<string | undefined> {
    const response = await fetch(urlOf(`/v1/chains/${chainId}/health`));
    const { endpoints } = (await response.json()) as {
      readonly endpoints: readonly { readonly state: string }[];
    };
    return endpoints[0]?.state;
  }
});

/** Creates a promise that waits until it is released. */
function held(): { readonly released: Promise<void>; readonly release: () => void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  return { released, release: () => release() };
}
