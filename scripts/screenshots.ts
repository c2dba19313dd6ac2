/**
 * Takes the screenshots of the views, light and dark, wide and narrow: `npx tsx scripts/screenshots.ts
 * [folder] [view… | picture… | all]`. The pages are those of the real service with the counts of a large one;
 * run `npm run build` first. The two pictures of the README: `npx tsx scripts/screenshots.ts docs/screenshots
 * overview-light contract-verified-dark`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Secret } from '../src/lib/secret.ts';
import { silentLogger } from '../src/log.ts';
import { connectClient, targetOfUrl } from '../src/store/connection-target.ts';
import { openStore } from '../src/store/open-store.ts';
import { closeBrowser, LOOKS, openTab, visit } from '../test/support/browser.ts';
import { startTestServer, testDatabaseUrl } from '../test/support/global-setup.ts';
import { listViews, startPagesService } from '../test/support/pages-service.ts';
import { shrinkPng } from './shrink-png.ts';

/** One picture per view; the other states are inspected in the test artefacts. */
const VIEWS =
  'overview chains chain contracts statistics contract-verified contract-deceiving verify job-verified job-different counts';
const [folder = 'screenshots', ...named] = process.argv.slice(2);
const wanted = named.length > 0 ? named : VIEWS.split(' ');
/** Longer pages are cropped: the rest is repetitive. */
const MAX_HEIGHT = 2_400;
const DATABASE = 'screenshots';

await mkdir(folder, { recursive: true });
const { address, stop } = await startTestServer();
try {
  const url = testDatabaseUrl(address.socketFolder, DATABASE);
  const postgres = new Secret(testDatabaseUrl(address.socketFolder, 'postgres'));
  const client = await connectClient(targetOfUrl(postgres, 'screenshots'));
  await client.query(`CREATE DATABASE ${DATABASE} TEMPLATE ${address.template}`);
  await client.end();
  const store = await openStore(
    { url: new Secret(url), poolSize: 4, dataDir: folder, migrate: false },
    silentLogger,
  );
  const pages = await startPagesService({ url, database: store.database });
  try {
    for (const look of LOOKS) {
      const tab = await openTab(look);
      for (const [name, url] of Object.entries(listViews(pages))) {
        const picture = `${name}-${look.name}`;
        if (!['all', name, picture].some((each) => wanted.includes(each))) continue;
        await visit(tab, url);
        const height = await tab.page.evaluate<number>('document.documentElement.scrollHeight');
        const file = path.join(folder, `${picture}.png`);
        const png = await tab.page.screenshot({
          fullPage: true,
          clip: { x: 0, y: 0, width: look.width, height: Math.min(height, MAX_HEIGHT) },
        });
        const small = shrinkPng(png);
        await writeFile(file, small);
        console.log(`${file}  ${Math.round(small.byteLength / 1024)} KiB`);
      }
      for (const trouble of tab.troubles) console.error(trouble);
      await tab.context.close();
    }
  } finally {
    await closeBrowser();
    await pages.close();
    await store.close();
  }
} finally {
  await stop();
}
