// The global search in the header of every page, and regressions in usability details.
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { toFunctionSelector } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { arrive, LOOKS, openTab, visit } from './support/browser.ts';
import { findWithAxe } from './support/in-page.ts';
import { BROWSER, describeWith } from './support/needs.ts';
import { findAnvil, NO_ANVIL, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { listViews, startPagesService, type PagesService } from './support/pages-service.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

let testDatabase: TestDatabase;
let pages: PagesService;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  pages = await startPagesService(
    testDatabase,
    `  7654321: { name: Exported, supported: false, rpc: ['https://rpc.example.com/public'], privateRpc: ['https://rpc.example.com/SECRETKEY'] }`,
  );
});
afterAll(async () => {
  await pages.close();
  await testDatabase.drop();
});

const get = (path: string): Promise<Response> =>
  fetch(`${pages.service.apiUrl}${path}`, {
    headers: { accept: 'text/html' },
    redirect: 'manual',
  });
const textOf = async (path: string): Promise<string> =>
  (await (await get(path)).text())
    .replaceAll(/<script.*?<\/script>|<[^>]+>/gs, ' ')
    .replaceAll(/\s+/g, ' ');
const targetOf = async (words: string): Promise<string | null> => {
  const response = await get(`/search?q=${encodeURIComponent(words)}`);
  const location = response.headers.get('location');
  return location === null ? null : new URL(location, response.url).pathname;
};

describe('search', () => {
  test.each([
    ['a chain id', '8453', '/registry/8453'],
    ['a CAIP-2 chain id', 'eip155:8453', '/registry/8453'],
  ])('leads to the target of %s', async (_what, words, path) => {
    expect(await targetOf(words)).toBe(path);
  });

  test('leads to the contract of an address and to the page of a job', async () => {
    const full = new URL(listViews(pages)['contract-full'] ?? '').pathname;
    expect((await targetOf(full.split('/')[3] ?? ''))?.toLowerCase()).toBe(full.toLowerCase());
    const id = pages.jobs?.verified.verificationId;
    if (id !== undefined) expect(await targetOf(id.toUpperCase())).toBe(`/job/${id}`);
  });

  test.skipIf(findAnvil() === undefined)(
    `finds a contract by its creation transaction${findAnvil() === undefined ? ` (${NO_ANVIL})` : ''}`,
    async () => {
      const { address = '' } = pages.jobs?.verified.contract ?? {};
      const url = `${pages.service.apiUrl}/v2/contract/${VERIFIED_CHAIN_ID}/${address}?fields=deployment`;
      const { deployment } = (await (await fetch(url)).json()) as {
        deployment: { transactionHash: string };
      };
      const found = await fetch(`${pages.service.apiUrl}/search?q=${deployment.transactionHash}`, {
        headers: { accept: 'text/html' },
      });
      expect(await found.text()).toContain(`contract/${VERIFIED_CHAIN_ID}/${address}"`);
      expect(await textOf(`/search?q=0x${'ab'.repeat(32)}`)).toContain('No results');
    },
  );

  const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

  test.each([
    ['a selector', '0xA9059CBB', 'transfer(address,uint256)'],
    ['a signature', 'transfer(address,uint256)', '0xa9059cbb'],
    ['a declaration', 'function transfer(address to, uint value) external', '0xa9059cbb'],
    ['an event topic', TRANSFER_TOPIC, 'Transfer(address,address,uint256)'],
    ['an event', 'Transfer(address,address,uint256)', TRANSFER_TOPIC],
  ])('finds the known signatures of %s without scripts', async (_what, words, found) => {
    const text = await textOf(`/search?q=${encodeURIComponent(words)}`);
    expect(text).toContain('Signatures');
    expect(text).toContain(found);
    expect(text).toContain('in verified contracts');
  });

  test('computes the selector of a signature that no contract has', async () => {
    const text = await textOf('/search?q=neverDeclared(uint256)');
    expect(text).toContain(toFunctionSelector('neverDeclared(uint256)'));
    expect(text).toContain('No verified contract here');
    expect(await textOf('/search?q=0x12345678')).toContain('No results');
  });

  test('reports in one sentence that an id belongs to no job', async () => {
    const text = await textOf('/search?q=00000000-0000-4000-8000-000000000000');
    expect(text).toContain('There is no verification job with this id');
    expect(text).not.toContain('No results');
  });

  test('ranks exact names first and supported chains before the rest', async () => {
    const text = await textOf('/search?q=base');
    const places = ['Base 8453', 'Base Sepolia Testnet', 'Base Goerli Testnet', 'Moonbase'];
    const found = places.map((each) => text.indexOf(each));
    expect(found.every((at) => at > 0)).toBe(true);
    expect(found).toEqual([...found].sort((left, right) => left - right));
    const contracts = await textOf('/search?q=token');
    expect(contracts.indexOf('Contracts matching')).toBeLessThan(contracts.indexOf('All '));
  });

  test('suggests alternatives and search tips without a result', async () => {
    const text = await textOf('/search?q=sepola');
    expect(text).toContain('No results for “ sepola ”');
    expect(text).toMatch(/Did you mean.*Sepolia/);
    expect(await textOf('/search?q=0xz12')).toContain('An address has 40 hexadecimal digits');
    expect((await get('/search')).status).toBe(200);
  });
});

describe('usability regressions', () => {
  test('a chain that is not supported does not offer verification and says what is missing', async () => {
    const text = await textOf('/registry/713');
    expect(text).not.toContain('Verify a contract');
    expect(text).toContain('Contracts of this chain cannot be verified here');
  });

  test('an unknown chain is printed once next to its contract', async () => {
    const text = await textOf(`/contract/99999999999/0x${'12'.repeat(20)}`);
    expect(text).not.toMatch(/chain 99999999999 chain 99999999999/);
  });

  test('no column marks two thousand chains as not monitored', async () => {
    const page = await (await get('/registry')).text();
    expect(page).not.toMatch(/<th[^>]*>Monitored/);
  });

  test('the embedded list shows its own date, not that of the start', async () => {
    expect(await textOf('/')).toMatch(/Public list embedded, [0-9a-f]{12} , published on 20\d\d-/);
  });

  test('the API description names no host of another machine', async () => {
    const at = async (path: string) =>
      (await (await get(path)).json()) as {
        servers: unknown;
        paths: Record<string, { get: { servers: { url: string }[] } }>;
      };
    for (const path of ['/openapi.json', '/server/openapi.json']) {
      const { servers, paths } = await at(path);
      expect(servers).toEqual([{ url: './', description: 'The API host' }]);
      expect(paths['/stats.json']?.get.servers[0]?.url).toBe(pages.service.repositoryUrl);
    }
  });

  test('links for remote clients use the host name of their request', async () => {
    const { port } = new URL(pages.service.apiUrl);
    const body = await new Promise<string>((resolve, reject) => {
      const headers = { host: `box.lan:${port}`, accept: 'text/html' };
      request({ host: '127.0.0.1', port, path: '/', headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve(text));
      })
        .on('error', reject)
        .end();
    });
    const repository = `http://box.lan:${new URL(pages.service.repositoryUrl).port}/`;
    expect(body).toContain(`href="${repository}"`);
    expect(body).not.toMatch(/href="http:\/\/127\.0\.0\.1/);
  });
});

describeWith([BROWSER], 'the export of chains', () => {
  test('contains the public RPC URLs and no private one', async () => {
    const tab = await openTab(LOOKS[0]);
    await visit(tab, `${pages.service.apiUrl}/registry?q=7654321`);
    for (const name of [/CSV/, /JSON/]) {
      const button = tab.page.getByRole('button', { name });
      await button.waitFor();
      const [download] = await Promise.all([tab.page.waitForEvent('download'), button.click()]);
      const saved = await readFile(await download.path(), 'utf8');
      expect(saved).toContain('Exported');
      expect(saved).toContain('https://rpc.example.com/public');
      expect(saved).not.toContain('SECRETKEY');
    }
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });
});

describeWith([BROWSER], 'search suggestions on every page', () => {
  test('suggest chains and contracts while typing, by keyboard alone', async () => {
    const tab = await openTab(LOOKS[0]);
    await visit(tab, `${pages.service.apiUrl}/contracts`);
    const field = tab.page.getByRole('combobox', { name: 'Search' });
    await field.pressSequentially('base');
    await tab.page.getByRole('option', { name: 'Base chain 8453' }).waitFor();
    await field.press('ArrowDown');
    await field.press('Enter');
    await arrive(tab, '**/registry/8453');
    await tab.page.getByRole('combobox', { name: 'Search' }).pressSequentially('token');
    await tab.page
      .getByRole('option', { name: /^Token 0x.* on chain \d+$/ })
      .first()
      .waitFor();
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('are in groups that screen readers announce, with exact matches first', async () => {
    const tab = await openTab(LOOKS[0]);
    await visit(tab, `${pages.service.apiUrl}/contracts`);
    const field = tab.page.getByRole('combobox', { name: 'Search' });
    const list = tab.page.getByRole('listbox', { name: 'Search' });
    const options = list.getByRole('option');
    for (const [words, first] of [
      ['base', /^Base chain 8453$/],
      ['eth', /^Ethereum.* chain 1$/],
    ] as const) {
      await field.fill(words);
      const chains = list.getByRole('group', { name: 'Chains' });
      await chains.getByRole('option', { name: first }).waitFor();
      expect(await options.first().textContent()).toMatch(first);
    }
    await field.fill('to');
    await list.getByRole('group', { name: 'Contracts' }).getByRole('option').first().waitFor();
    await list.getByRole('group', { name: 'Chains' }).getByRole('option').first().waitFor();
    const groups = await list.getByRole('group').count();
    const reached = new Set<string>();
    const shown = await options.count();
    for (let step = 0; step < shown; step += 1) {
      await field.press('ArrowDown');
      const group = list
        .getByRole('group')
        .filter({ has: tab.page.locator('[aria-selected=true]') });
      reached.add((await group.getAttribute('aria-labelledby')) ?? '');
    }
    expect(await options.last().getAttribute('aria-selected')).toBe('true');
    expect(reached.size).toBe(groups);
    expect(groups).toBeGreaterThan(1);
    expect(await findWithAxe(tab)).toEqual([]);
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('recognise a selector, a signature and a job id', async () => {
    const tab = await openTab(LOOKS[0]);
    await visit(tab, `${pages.service.apiUrl}/contracts`);
    const field = tab.page.getByRole('combobox', { name: 'Search' });
    const group = (name: string) => tab.page.getByRole('group', { name });
    for (const words of ['0xa9059cbb', 'transfer(address to, uint value)']) {
      await field.fill(words);
      await group('Signatures')
        .getByRole('option', { name: /^transfer\(address,uint256\) 0xa9059cbb/ })
        .waitFor();
    }
    await field.fill('00000000-0000-4000-8000-000000000000');
    await tab.page.getByText('There is no verification job with this id').first().waitFor();
    const id = pages.jobs?.verified.verificationId;
    if (id !== undefined) {
      await field.fill(id);
      await group('Jobs').getByRole('option').waitFor();
      await field.press('ArrowDown');
      await field.press('Enter');
      await arrive(tab, `**/job/${id}`);
    }
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('lead to all results without a selection and keep the query', async () => {
    const tab = await openTab(LOOKS[0]);
    await visit(tab, `${pages.service.apiUrl}/`);
    const field = tab.page.getByRole('combobox', { name: 'Search' });
    await field.fill('sepolia');
    await field.press('Enter');
    await arrive(tab, '**/search?q=sepolia');
    await expect
      .poll(() => tab.page.getByRole('combobox', { name: 'Search' }).inputValue())
      .toBe('sepolia');
    await tab.page.getByRole('heading', { name: 'Chains' }).waitFor();
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });

  test('lead to the same results from the other host', async () => {
    const tab = await openTab(LOOKS[0]);
    await visit(tab, `${pages.service.repositoryUrl}/`);
    const field = tab.page.getByRole('combobox', { name: 'Search' });
    await field.fill('sepolia');
    await field.press('Enter');
    await arrive(tab, `${pages.service.apiUrl}/search?q=sepolia`);
    expect(tab.troubles).toEqual([]);
    await tab.context.close();
  });
});
