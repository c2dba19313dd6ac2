/**
 * Pages: the time of the chain filter in a browser, the size of the first view, and the service's rendering
 * time of each page: `npm run build && npx tsx bench/pages.ts`.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Secret } from '../src/lib/secret.ts';
import { silentLogger } from '../src/log.ts';
import { connectClient, targetOfUrl } from '../src/store/connection-target.ts';
import { saveMatches } from '../src/repository/matches/save-matches.ts';
import { openStore } from '../src/store/open-store.ts';
import { bootService, type BootedService } from '../test/support/booted-service.ts';
import { closeBrowser, openTab, visit, type WatchedPage } from '../test/support/browser.ts';
import { startTestServer, testDatabaseUrl } from '../test/support/global-setup.ts';
import { fillStatistics } from '../test/support/pages-service.ts';
import { sampleAddress } from '../test/support/sample-contracts.ts';
import { createTemporaryFolder } from '../test/support/temporary-folder.ts';
import { compileContracts } from './records.ts';
import { syntheticChains } from './synthetic-chains.ts';
import { median } from './median.ts';

const DATABASE = 'bench_pages';
const ROUNDS = 7;
/** Typed letter by letter, like a user. */
const TYPED = ['chain 24', 'testnet', '1999', 'coin', 'zzzz'];
/** Each has 480 kB of `fields=all`. */
const CONTRACTS = 60;
const PATHS = [
  '/',
  '/registry',
  '/registry?q=chain+24',
  '/registry/1',
  '/v1/registry',
  '/statistics',
  '/verify',
  '/counts',
  '/contracts',
  `/contract/1/${sampleAddress(1)}`,
];

/** Milliseconds from a letter's input event to the frame that shows its rows. */
const TYPE = `(text) => new Promise((done) => {
  const input = document.querySelector('main input[type="search"], main input[name="q"]');
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, text);
  const start = performance.now();
  input.dispatchEvent(new Event('input', { bubbles: true }));
  const channel = new MessageChannel();
  // The message is handled when the frame has been laid out and painted.
  channel.port1.onmessage = () => done(performance.now() - start);
  requestAnimationFrame(() => requestAnimationFrame(() => channel.port2.postMessage(0)));
})`;

async function measureFilter(tab: WatchedPage, service: BootedService): Promise<object> {
  await visit(tab, `${service.apiUrl}/registry`);
  const status = tab.page.locator('main [role="status"]').first();
  await tab.page.waitForTimeout(1_500);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const text of TYPED) {
      for (let length = 1; length <= text.length; length += 1) {
        const letters = JSON.stringify(text.slice(0, length));
        times.push(await tab.page.evaluate<number>(`(${TYPE})(${letters})`));
      }
      if (text === 'zzzz') {
        // The figures only count if the rows really changed.
        const shown = await status.innerText();
        if (!/^Showing 0 /.test(shown)) throw new Error(`the filter did not follow: ${shown}`);
      }
    }
  }
  const sorted = [...times].sort((left, right) => left - right);
  return {
    letters: times.length,
    median: `${median(times).toFixed(1)} ms`,
    'slowest of 20': `${(sorted[Math.floor(sorted.length * 0.95)] ?? 0).toFixed(1)} ms`,
    slowest: `${(sorted.at(-1) ?? 0).toFixed(1)} ms`,
  };
}

/** Bytes on the wire of everything that a first visit loads, by kind. */
async function measureWeight(tab: WatchedPage, url: string): Promise<object> {
  const session = await tab.context.newCDPSession(tab.page);
  const kinds = new Map<string, string>();
  const bytes: Record<string, number> = {};
  session.on('Network.responseReceived', ({ requestId, type }) => kinds.set(requestId, type));
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId) ?? 'Other';
    bytes[kind] = (bytes[kind] ?? 0) + encodedDataLength;
  });
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await visit(tab, url);
  await tab.page.waitForTimeout(500);
  await session.detach();
  const kB = (kind: string): string => `${((bytes[kind] ?? 0) / 1000).toFixed(1)} kB`;
  return { document: kB('Document'), script: kB('Script'), style: kB('Stylesheet') };
}

async function measureServer(url: string): Promise<object> {
  const times: number[] = [];
  let size = 0;
  for (let round = 0; round < ROUNDS * 3; round += 1) {
    const start = performance.now();
    const response = await fetch(url);
    size = (await response.arrayBuffer()).byteLength;
    times.push(performance.now() - start);
    if (response.status !== 200) return { status: response.status };
  }
  return {
    median: `${median(times).toFixed(1)} ms`,
    uncompressed: `${(size / 1000).toFixed(0)} kB`,
  };
}

const folder = await createTemporaryFolder('fullmatch-bench-');
const { address, stop } = await startTestServer();
try {
  const list = path.join(folder.path, 'chains.json');
  await writeFile(list, syntheticChains());
  const admin = new Secret(testDatabaseUrl(address.socketFolder, 'postgres'));
  const client = await connectClient(targetOfUrl(admin, 'bench'));
  await client.query(`CREATE DATABASE ${DATABASE} TEMPLATE ${address.template}`);
  await client.end();
  const url = testDatabaseUrl(address.socketFolder, DATABASE);
  const options = { url: new Secret(url), poolSize: 2, dataDir: folder.path, migrate: false };
  const store = await openStore(options, silentLogger);
  await fillStatistics(store.database);
  await saveMatches(store.database, compileContracts(CONTRACTS));
  await store.close();
  const service = await bootService({
    databaseUrl: url,
    yaml: `registry: { list: '${list}', defaults: false }\n`,
  });
  try {
    const tab = await openTab();
    console.log('Filter: from a letter to the frame that shows its rows, 2,509 chains');
    console.table([await measureFilter(tab, service)]);
    console.log('First view, on the wire');
    console.table({
      '/': await measureWeight(tab, `${service.apiUrl}/`),
      '/registry': await measureWeight(tab, `${service.apiUrl}/registry`),
      '/statistics': await measureWeight(tab, `${service.apiUrl}/statistics`),
    });
    console.log('Server: from the request to the last byte');
    const rows: Record<string, object> = {};
    for (const each of PATHS) rows[each] = await measureServer(`${service.apiUrl}${each}`);
    console.table(rows);
  } finally {
    await closeBrowser();
    await service.close();
  }
} finally {
  await stop();
  await folder.remove();
}
