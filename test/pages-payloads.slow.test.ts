import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ListRecord } from '../src/chains/registry/list-record.ts';
import { saveMatch } from '../src/repository/matches/save-matches.ts';
import { withdrawMatch } from '../src/repository/matches/withdraw-match.ts';
import { deploy, findAnvil, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { type Look, openTab, visit, type WatchedPage } from './support/browser.ts';
import { BROWSER, describeWith } from './support/needs.ts';
import { listedChain } from './support/made-up-lists.ts';
import { sampleAddress, sampleContract } from './support/sample-contracts.ts';
import { readCases } from './support/shared-data.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { inputOf } from './support/developer.ts';
import { verifyOverV2 } from './support/verification-client.ts';

/** Strings that run a script if interpreted as anything but text; each calls `executed()`. */
const PAYLOADS = readCases<{ readonly text: string; readonly why: string }>(
  'script-payloads.json',
).map(({ text }) => text);
/** Chains from this id on each have a payload as name. */
const FIRST_CHAIN_ID = 900_000_001;
/** A contract in which every text is a payload, and others with a payload as name. */
const HOSTILE = sampleAddress(0xbad);
/** Number of payloads that each of the first chains has as warnings, until all are used. */
const WARNINGS = 12;
/** Number of pages open at once. */
const TABS = 4;
/** Page content does not depend on its look, and rendering a large page takes a quarter of the browser's time. */
const SMALL_LOOK: Look = { name: 'small', width: 160, height: 120, colorScheme: 'light' };
/** As many messages as the job page shows. */
const SOURCES_IN_A_JOB = 20;
const TIMEOUT = { timeout: 300_000 };

/**
 * Markup that our pages never contain: handlers, elements that load or run, links with other schemes. The
 * policy would block most of it, but it must not be present at all.
 */
const FIND_INJECTED = `[...document.querySelectorAll('*')].flatMap((element) => {
  const named = ['IFRAME', 'OBJECT', 'EMBED', 'BASE', 'STYLE', 'FRAME', 'MATH', 'XSS', 'MARQUEE', 'PORTAL', 'IMG', 'VIDEO', 'AUDIO'];
  const found = named.includes(element.tagName.toUpperCase()) ? [element.tagName] : [];
  if (element.tagName === 'SCRIPT' && element.id !== 'state' && !/\\/assets\\//.test(element.src)) found.push('script');
  for (const { name, value } of element.attributes) {
    if (/^on/i.test(name) || name === 'srcdoc' || name === 'autofocus') found.push(name + '=' + value);
    if (['href', 'src', 'action', 'formaction', 'data'].includes(name)) {
      const { protocol } = new URL(value, 'http://127.0.0.1/');
      if (!['http:', 'https:'].includes(protocol)) found.push(name + '=' + value);
    }
  }
  return found;
})`;

describeWith([BROWSER], 'XSS payloads in third-party text', () => {
  let testDatabase: TestDatabase;
  let service: BootedService;
  let anvil: Anvil | undefined;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let tabs: readonly WatchedPage[];
  const executions: string[] = [];

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    anvil =
      findAnvil() === undefined ? undefined : await startAnvil({ chainId: VERIFIED_CHAIN_ID });
    await storeHostileContracts(testDatabase);
    folder = await createTemporaryFolder();
    const list = path.join(folder.path, 'list.json');
    await writeFile(list, JSON.stringify(hostileList()));
    service = await bootService({ databaseUrl: testDatabase.url, yaml: yamlOf(list, anvil) });
    tabs = await Promise.all(
      Array.from({ length: TABS }, async () => {
        const tab = await openTab(SMALL_LOOK);
        await tab.page.exposeBinding('executed', ({ frame }) => executions.push(frame.url()));
        return tab;
      }),
    );
  });
  afterAll(async () => {
    await service.close();
    await anvil?.stop();
    await testDatabase.drop();
    await folder.remove();
  });

  /** Opens pages, each in the next free tab, and returns their visible text. */
  async function expectTextOnly(paths: readonly string[]): Promise<readonly string[]> {
    const texts: string[] = [];
    const open = paths.entries();
    const visitNext = async (tab: WatchedPage): Promise<void> => {
      for (const [index, path] of open) {
        await visit(tab, `${service.apiUrl}${path}`);
        expect.soft(await tab.page.evaluate(FIND_INJECTED), path).toEqual([]);
        expect.soft(executions, path).toEqual([]);
        expect.soft(tab.troubles, path).toEqual([]);
        expect.soft(tab.foreignRequests, path).toEqual([]);
        texts[index] = await tab.page.evaluate<string>(
          'document.querySelector("main").textContent',
        );
      }
    };
    await Promise.all(tabs.map(visitNext));
    return texts;
  }
  /** Returns every eighth payload, with its index. */
  const someOf = PAYLOADS.map((text, index) => ({ text, index })).filter(
    ({ index }) => index % 8 === 0,
  );

  test('are detected by this test when one does run', async () => {
    const other = await openTab();
    const found: string[] = [];
    await other.page.exposeBinding('executed', () => found.push('executed'));
    await other.page.setContent('<img src=x onerror=executed()><script>executed()</script>');
    await expect.poll(() => found.length).toBe(2);
    expect(await other.page.evaluate<string[]>(FIND_INJECTED)).toContain('onerror=executed()');
    await other.context.close();
  });

  test('stay text as names in the table of all chains', TIMEOUT, async () => {
    const queries = ['page=1', 'page=2', 'page=3', 'page=4', 'q=executed', 'q=script'];
    const searches = PAYLOADS.slice(0, 40).map((text) => `q=${encodeURIComponent(text)}`);
    await expectTextOnly([...queries, ...searches].map((query) => `/registry?${query}`));
  });

  test('stay text as names and warnings on the pages of chains', TIMEOUT, async () => {
    const marked = Math.ceil(PAYLOADS.length / WARNINGS);
    const paths = PAYLOADS.slice(0, marked).map(
      (_, index) => `/registry/${FIRST_CHAIN_ID + index}`,
    );
    const texts = await expectTextOnly(paths);
    expect(texts.filter((text) => !text.includes('The public list marks this chain'))).toEqual([]);
  });

  test('stay text as source names and contents, contract names and reasons', TIMEOUT, async () => {
    const tabs = ['abi', 'proof', 'downloads', 'history'].map((tab) => `tab=${tab}`);
    const pages = [
      `/contract/1/${HOSTILE}`,
      ...[...tabs, 'find=script'].map((query) => `/contract/1/${HOSTILE}?${query}`),
      ...['/', '/statistics', '/contracts'],
    ];
    const [shown] = await expectTextOnly(pages);
    // Nothing was omitted instead of being shown.
    expect(shown).toContain('<script>executed()</script>');
  });

  test('stay text as contract names in lists and titles', TIMEOUT, async () => {
    await expectTextOnly(someOf.map(({ index }) => `/contract/1/${sampleAddress(0x1000 + index)}`));
  });

  test('stay text in paths and queries of addresses', TIMEOUT, async () => {
    const paths = someOf.flatMap(({ text }) => {
      const part = encodeURIComponent(text);
      return [
        `/verify?chain=${part}&address=${part}`,
        `/registry?sort=${part}&page=${part}`,
        `/contracts?q=${part}`,
      ];
    });
    await expectTextOnly(paths);
  });

  test.skipIf(findAnvil() === undefined)('stay text in compiler messages', TIMEOUT, async () => {
    const { address } = await deploy(anvil!, '6001600c60003960016000f300');
    const paths: string[] = [];
    for (let first = 0; first < PAYLOADS.length; first += SOURCES_IN_A_JOB) {
      const sources = PAYLOADS.slice(first, first + SOURCES_IN_A_JOB).map(
        (text, index) =>
          [`${index}.sol`, `contract A { wrong ${text.replaceAll(/\s/g, ' ')} }`] as const,
      );
      const job = await verifyOverV2(service.apiUrl, address, {
        stdJsonInput: inputOf(Object.fromEntries(sources)),
        compilerVersion: '0.8.37',
        contractIdentifier: '0.sol:A',
      });
      expect(JSON.stringify(job.error)).toContain('executed');
      paths.push(`/job/${job.verificationId}`);
    }
    await expectTextOnly(paths);
  });
});

/** The public list: each chain has a payload as name, warning and explorer. */
function hostileList(): readonly ListRecord[] {
  return PAYLOADS.map((text, index) => ({
    ...listedChain(FIRST_CHAIN_ID + index, text),
    rpc: [],
    redFlags: PAYLOADS.slice(index * WARNINGS, (index + 1) * WARNINGS),
    explorers: [{ name: text, url: 'https://explorer.example', standard: 'EIP3091' }],
  }));
}

/** Every other chain also gets its texts from the configuration, the rest from the list alone. */
function yamlOf(list: string, anvil: Anvil | undefined): string {
  const chains = PAYLOADS.map((text, index) => {
    const fields = {
      name: text,
      title: text,
      nativeCurrency: { name: text, symbol: text, decimals: 18 },
    };
    return index % 2 === 0 ? `  ${FIRST_CHAIN_ID + index}: ${JSON.stringify(fields)}` : '';
  });
  const node = `{ name: Chain of the tests, local: true, rpc: ['${anvil?.url ?? 'http://127.0.0.1:8545'}'] }`;
  return `
registry: { list: ${list}, defaults: false, sync: { urls: [] } }
chains:
  1: { name: First, supported: false }
  ${VERIFIED_CHAIN_ID}: ${node}
${chains.join('\n')}
`;
}

async function storeHostileContracts({ database }: TestDatabase): Promise<void> {
  const hostile = (address: `0x${string}`, name: string, texts: readonly string[]) => {
    const sample = sampleContract(1, address, { runtimeMatch: 'full' });
    return {
      ...sample,
      compilation: {
        ...sample.compilation,
        name,
        fullyQualifiedName: `${texts[0] ?? ''}:${name}`,
        metadata: JSON.stringify({ address, texts }),
        settings: { remappings: texts },
        artifacts: {
          abi: texts.map((text) => ({
            type: 'function',
            name: text,
            inputs: [{ name: text, type: text }],
          })),
        },
        sources: texts.map((text, index) => ({ path: `${index}${text}`, content: text })),
      },
    };
  };
  await saveMatch(database, hostile(HOSTILE, PAYLOADS[0] ?? '', PAYLOADS));
  for (const [index, text] of PAYLOADS.entries()) {
    if (index % 8 !== 0) continue;
    await saveMatch(database, hostile(sampleAddress(0x1000 + index), text, [text]));
    const withdrawn = hostile(sampleAddress(0x9000 + index), text, [text]);
    await saveMatch(database, withdrawn);
    await withdrawMatch(database, { chainId: 1, address: withdrawn.address, reason: text });
  }
}
