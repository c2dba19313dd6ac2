// Explanatory pages: how counts are computed, with commands, and the home page of the repository host.
import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { ALL_CHAINS, bootService, type BootedService } from './support/booted-service.ts';
import { LOOKS, openTab, sidewaysScroll, visit } from './support/browser.ts';
import { BROWSER, describeWith } from './support/needs.ts';
import { findFaintTexts, findWithAxe } from './support/in-page.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';

const run = promisify(execFile);
const curlIsThere = await run('curl', ['--version']).then(
  () => true,
  () => false,
);
/** A chain with contracts that is missing from the registry. */
const UNKNOWN_CHAIN_ID = 987_654_321;
const COMMAND = /^curl -s (-N )?'([^']+)'$/;

let testDatabase: TestDatabase;
let service: BootedService;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  service = await bootService({ databaseUrl: testDatabase.url, environment: ALL_CHAINS });
});
afterAll(async () => {
  await service.close();
  await testDatabase.drop();
});

/** The status that curl receives. The event stream has no end, so curl is stopped once it has the headers. */
async function statusOf(args: readonly string[]): Promise<string | undefined> {
  const curl = spawn('curl', ['-s', '-D', '-', '-o', '/dev/null', ...args]);
  for await (const line of createInterface(curl.stdout)) {
    curl.kill();
    return /^HTTP\/\S+ (\d+)/.exec(line)?.[1];
  }
  return undefined;
}

describe.skipIf(!curlIsThere)(`/counts${curlIsThere ? '' : ' (curl is not installed)'}`, () => {
  /** Runs the commands of the page; returns the URLs that did not respond with 200, with their statuses. */
  async function refusedCommands(): Promise<readonly string[]> {
    const page = await (await fetch(`${service.apiUrl}/counts`)).text();
    const commands = [...page.matchAll(/<pre[^>]*>([^<]*)<\/pre>/g)].map(([, text = '']) =>
      text.replaceAll('&amp;', '&').replaceAll('&#39;', "'"),
    );
    expect(commands.length).toBeGreaterThanOrEqual(8);
    const answers = commands.map(async (command) => {
      const [, options = '', url = ''] = COMMAND.exec(command) ?? [];
      expect(url, command).not.toBe('');
      const status = await statusOf([...options.split(' ').filter(Boolean), url]);
      return status === '200' ? [] : [`${status} ${new URL(url).pathname}`];
    });
    return (await Promise.all(answers)).flat();
  }

  test('has commands that all work except one while nothing is verified, as documented', async () => {
    expect(await refusedCommands()).toEqual([
      '404 /v2/contract/1/0x00000000219ab540356cBB839Cbe05303d7705Fa',
    ]);
  });

  test('has commands that all work, even with contracts on a chain that is unknown', async () => {
    const contract = sampleContract(UNKNOWN_CHAIN_ID, sampleAddress(1), { runtimeMatch: 'full' });
    await saveMatch(testDatabase.database, contract);
    // The page names the contract once the service has noticed the match.
    await expect.poll(refusedCommands).toEqual([]);
  });
});

describeWith([BROWSER], 'the home page of the repository host', () => {
  test.each(LOOKS)('renders completely, passes axe and fits the screen: $name', async (look) => {
    const tab = await openTab(look);
    expect(await visit(tab, `${service.repositoryUrl}/`)).toBe(200);
    expect(await findWithAxe(tab)).toEqual([]);
    expect(await sidewaysScroll(tab)).toBe(0);
    await tab.page.emulateMedia({ forcedColors: 'active' });
    expect(await findFaintTexts(tab, 4.5)).toEqual([]);
    expect(tab.troubles).toEqual([]);
    expect(tab.foreignRequests).toEqual([]);
    await tab.context.close();
  });

  test('has no broken links', async () => {
    const tab = await openTab();
    await visit(tab, `${service.repositoryUrl}/`);
    const links = await tab.page.getByRole('link').all();
    expect(links.length).toBeGreaterThanOrEqual(9);
    for (const link of links) {
      const url = new URL((await link.getAttribute('href')) ?? '', tab.page.url());
      expect((await fetch(url)).status, url.href).toBe(200);
    }
    await tab.context.close();
  });
});
