// Verification in the browser as users do it: with the files written by their tools, on a real chain.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cancelJob } from '../src/verification/jobs/run-jobs.ts';
import { deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { openTab, SEND, visit, type WatchedPage } from './support/browser.ts';
import { ANVIL, BROWSER, describeWith } from './support/needs.ts';
import {
  foundryProject,
  hardhat2BuildInfo,
  hardhat3BuildInfos,
  type TextFile,
  type ToolsCompilation,
} from './support/build-outputs.ts';
import { compileInChild } from './support/compile-in-child.ts';
import { sampleAddress } from './support/sample-contracts.ts';
import { findWithAxe } from './support/in-page.ts';
import { readCases } from './support/shared-data.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { administer, createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { inputOf } from './support/developer.ts';
import { post, verifyOverV2 } from './support/verification-client.ts';
import { startWebServer, type WebServer } from './support/web-server.ts';
import { IS_SLOW_SUITE } from './support/suite.ts';

const LONG_VERSION = '0.8.37+commit.f401782d';
/** A chain whose only endpoint accepts requests and never responds, and one whose endpoint has no listener. */
const SILENT_CHAIN_ID = 424243;
const DEAD_CHAIN_ID = 424244;
const UNSUPPORTED_CHAIN_ID = 424245;
const VAULT_PATH = 'project/contracts/Vault.sol';
const VAULT = `${VAULT_PATH}:Vault`;
const SOURCES = {
  'project/contracts/Owned.sol': `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

abstract contract Owned {
    address public immutable owner = msg.sender;
}
`,
  [VAULT_PATH]: `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import "./Owned.sol";

/// Keeps what it is given until its owner takes it back.
contract Vault is Owned {
    uint256 public kept;

    receive() external payable {
        kept += msg.value;
    }

    function take() external {
        require(msg.sender == owner, "not the owner");
        kept = 0;
        payable(owner).transfer(address(this).balance);
    }
}
`,
};

/** The sources with one text of the contract replaced. */
function changed(from: string, to: string): typeof SOURCES {
  return { ...SOURCES, [VAULT_PATH]: SOURCES[VAULT_PATH].replace(from, to) };
}

async function compile(sources: typeof SOURCES): Promise<ToolsCompilation> {
  const input = inputOf(sources);
  const [output] = await compileInChild<ToolsCompilation['output']>('0.8.37', [input]);
  if (output === undefined) throw new Error('solc gave no output');
  return { longVersion: LONG_VERSION, input, output };
}

function creationCodeOf({ output }: ToolsCompilation): string {
  const contract = output.contracts[VAULT_PATH]?.['Vault'] as
    { evm: { bytecode: { object: string } } } | undefined;
  return contract?.evm.bytecode.object ?? '';
}

const buffersOf = (
  files: readonly TextFile[],
): { name: string; mimeType: string; buffer: Buffer }[] =>
  files.map(({ path: name, text }) => ({
    name: path.basename(name),
    mimeType: 'application/octet-stream',
    buffer: Buffer.from(text),
  }));

describeWith([BROWSER, ANVIL], 'verifying in the browser', () => {
  let testDatabase: TestDatabase;
  let anvil: Anvil;
  let silent: WebServer;
  let service: BootedService;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let vault: ToolsCompilation;
  let tab: WatchedPage;

  beforeAll(async () => {
    [testDatabase, anvil, silent, folder, vault] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      startWebServer(() => undefined),
      createTemporaryFolder(),
      compile(SOURCES),
    ]);
    service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: `
registry: { include: configured, defaults: false }
chains:
  ${VERIFIED_CHAIN_ID}: { name: Chain of the tests, local: true, rpc: ['${anvil.url}'] }
  ${SILENT_CHAIN_ID}: { name: Silent chain, local: true, rpc: ['${silent.url}'] }
  ${DEAD_CHAIN_ID}: { name: Dead chain, local: true, rpc: ['http://127.0.0.1:1'] }
  ${UNSUPPORTED_CHAIN_ID}: { name: Closed chain, local: true, supported: false }
`,
    });
    tab = await openTab();
  });
  afterAll(async () => {
    await service.close();
    await Promise.all([silent.close(), anvil.stop(), folder.remove(), testDatabase.drop()]);
  });
  afterEach(() => {
    expect(tab.troubles).toEqual([]);
  });

  const newVault = async (): Promise<string> =>
    (await deploy(anvil, creationCodeOf(vault))).address;
  /** Opens the form with nothing but the fields from the query. */
  const openForm = async (query = ''): Promise<void> => {
    await visit(tab, `${service.apiUrl}/verify`);
    await tab.page.evaluate('sessionStorage.clear()');
    await visit(tab, `${service.apiUrl}/verify${query}`);
  };
  const choose = (files: readonly TextFile[]): Promise<void> =>
    tab.page.setInputFiles('#files', buffersOf(files));
  const valueOf = (id: string): Promise<string> => tab.page.locator(`#${id}`).inputValue();
  const focused = (): Promise<string> =>
    tab.page.evaluate<string>('document.activeElement?.id || document.activeElement?.type || ""');
  /** Navigates with the Tab key, like a user without a mouse. */
  const walkTo = async (id: string): Promise<void> => {
    for (let steps = 0; steps < 30 && (await focused()) !== id; steps += 1) {
      await tab.page.keyboard.press('Tab');
    }
    await expect.poll(() => focused()).toBe(id);
  };
  const send = async (): Promise<void> => {
    await tab.page.getByRole('button', { name: SEND }).click();
    await tab.page.waitForURL(/\/job\//);
  };
  const verdict = async (): Promise<string> => {
    const shown = tab.page.locator('main .verdict');
    await shown.waitFor();
    return shown.innerText();
  };
  const mainText = (): Promise<string> => tab.page.locator('main').innerText();

  test.skipIf(IS_SLOW_SUITE)('verifies from a Hardhat 3 build info by keyboard alone', async () => {
    const address = await newVault();
    const { keyboard } = tab.page;
    await openForm();
    // The browser reports dialogs to their listeners with a short delay.
    const dialog = tab.page.waitForEvent('filechooser');
    await walkTo('files');
    await keyboard.press('Enter');
    const chooser = await dialog;
    const others = hardhat3BuildInfos(vault, 'project/contracts/Owned.sol');
    await chooser.setFiles(buffersOf([...others, ...hardhat3BuildInfos(vault, VAULT_PATH)]));
    await walkTo('chain');
    await keyboard.type('of the te');
    const first = tab.page.locator('#chain-choices [role=option]').first();
    await first.getByText('Chain of the tests').waitFor();
    await keyboard.press('ArrowDown');
    await expect.poll(() => first.getAttribute('aria-selected')).toBe('true');
    await keyboard.press('Enter');
    await expect.poll(() => valueOf('chain')).toBe(`Chain of the tests (${VERIFIED_CHAIN_ID})`);
    await walkTo('address');
    await keyboard.type(address);
    await walkTo('contract');
    await keyboard.type(VAULT);
    await walkTo('submit');
    await expect.poll(() => valueOf('compilerVersion')).toBe(LONG_VERSION);
    await keyboard.press('Enter');
    await tab.page.waitForURL(/\/job\//);
    await expect.poll(() => verdict()).toContain('Full match');
    await expect.poll(() => tab.page.title()).toContain('succeeded');
    await tab.page.getByText('See the contract').press('Enter');
    await tab.page.waitForURL(/\/contract\//);
    await expect.poll(() => verdict()).toContain('bytecode and metadata hash are identical');
  });

  test.skipIf(IS_SLOW_SUITE)('offers the compilers of the service', async () => {
    await openForm();
    await choose([{ path: 'input.json', text: JSON.stringify(vault.input) }]);
    await tab.page.locator('#compilerVersion').pressSequentially('0.8.3');
    const option = tab.page.locator('#compilerVersion-choices [role=option]').first();
    await expect.poll(() => option.innerText()).toContain(LONG_VERSION);
    await tab.page.keyboard.press('ArrowDown');
    await tab.page.keyboard.press('Enter');
    await expect.poll(() => valueOf('compilerVersion')).toBe(LONG_VERSION);
  });

  test.runIf(IS_SLOW_SUITE)(
    'diagnoses wrong optimizer runs, and a button resubmits with the right ones',
    async () => {
      const address = await newVault();
      const wrong = inputOf(SOURCES, { optimizer: { enabled: true, runs: 1000 } });
      await openForm(`?chain=${VERIFIED_CHAIN_ID}&address=${address}`);
      await choose([{ path: 'input.json', text: JSON.stringify(wrong) }]);
      await tab.page.fill('#compilerVersion', LONG_VERSION);
      await tab.page.selectOption('#contract', `${VAULT_PATH}:Vault`);
      await send();
      expect(await verdict()).toContain('optimizer.runs: 200');
      // The advice precedes the bytes.
      const text = await mainText();
      expect(text.indexOf('optimizer.runs: 200')).toBeLessThan(text.indexOf('Runtime code'));
      const failed = tab.page.url();
      await tab.page.getByRole('link', { name: 'Try with the optimizer on (200 runs)' }).click();
      await tab.page.waitForURL((url) => /\/job\//.test(url.href) && url.href !== failed);
      await expect.poll(() => verdict()).toContain('Full match');
      // The form shows what will change and can undo it.
      await visit(tab, `${service.apiUrl}/verify`);
      await tab.page
        .getByText('Your input will be sent with the optimizer on (200 runs)')
        .waitFor();
      await tab.page.getByRole('button', { name: 'Send it unchanged' }).click();
      await expect.poll(() => tab.page.getByText('Your input will be sent with').count()).toBe(0);
    },
  );

  test.skipIf(IS_SLOW_SUITE)(
    'names the contract on chain, and a button resubmits with that one',
    async () => {
      const sources = {
        ...SOURCES,
        [VAULT_PATH]: `${SOURCES[VAULT_PATH]}\ncontract Purse is Vault { function more() external pure returns (uint256) { return 1; } }\n`,
      };
      const other = await compile(sources);
      const { address } = await deploy(anvil, creationCodeOf(other));
      await openForm(`?chain=${VERIFIED_CHAIN_ID}&address=${address}`);
      await choose([{ path: 'input.json', text: JSON.stringify(other.input) }]);
      await tab.page.fill('#compilerVersion', LONG_VERSION);
      await tab.page.selectOption('#contract', `${VAULT_PATH}:Purse`);
      await send();
      expect(await verdict()).toMatch(/^Matches as Vault \(/);
      expect(await findWithAxe(tab)).toEqual([]);
      const failed = tab.page.url();
      await tab.page.getByRole('link', { name: 'Try with Vault' }).click();
      await tab.page.waitForURL((url) => /\/job\//.test(url.href) && url.href !== failed);
      await expect.poll(() => verdict()).toContain('Full match');
    },
  );

  test.runIf(IS_SLOW_SUITE)('offers no button for a job submitted elsewhere', async () => {
    const address = await newVault();
    const wrong = inputOf(SOURCES, { optimizer: { enabled: true, runs: 1000 } });
    const answer = await post(`${service.apiUrl}/v2/verify/${VERIFIED_CHAIN_ID}/${address}`, {
      ...{ stdJsonInput: wrong, compilerVersion: LONG_VERSION, contractIdentifier: VAULT },
    });
    const { verificationId } = (await answer.json()) as { readonly verificationId: string };
    await visit(tab, `${service.apiUrl}/job/${verificationId}`);
    expect(await verdict()).toContain('optimizer.runs: 200');
    expect(await tab.page.getByRole('link', { name: /^Try with/ }).count()).toBe(0);
  });

  test.runIf(IS_SLOW_SUITE)(
    'shows whether the address has code, and which compiler produced it',
    async () => {
      const address = await newVault();
      await openForm(`?chain=${VERIFIED_CHAIN_ID}&address=${address}`);
      await tab.page.getByText(/^Code found: solc 0\.8\.37, \d+.bytes\.$/).waitFor();
      await tab.page.fill('#address', `0x${'ab'.repeat(20)}`);
      await tab.page.getByText('There is no code at this address.').waitFor();
      expect(await findWithAxe(tab)).toEqual([]);
    },
  );

  test.skipIf(IS_SLOW_SUITE)(
    'finds a partial match from a Hardhat 2 build info with a changed comment',
    async () => {
      const address = await newVault();
      const other = await compile(changed('Keeps what', 'Holds what'));
      await openForm(`?chain=${VERIFIED_CHAIN_ID}&address=${address}`);
      await choose([hardhat2BuildInfo(other)]);
      await tab.page.locator('#contract').selectOption(VAULT);
      await send();
      await expect.poll(() => verdict()).toContain('Partial match');
      expect(await findWithAxe(tab)).toEqual([]);
      await tab.page.getByText('See the contract').click();
      await tab.page.waitForURL(/\/contract\//);
      await expect.poll(() => verdict()).toContain('names, comments and settings may differ');
    },
  );

  test.skipIf(IS_SLOW_SUITE)(
    'shows where bytecode differs and keeps the form until it is corrected',
    async () => {
      const address = await newVault();
      const other = { ...vault, input: inputOf(changed('kept = 0', 'kept = 1')) };
      await openForm();
      await choose([{ path: 'input.json', text: JSON.stringify(other.input) }]);
      await tab.page.locator('#chain').fill(String(VERIFIED_CHAIN_ID));
      await tab.page.locator('#address').fill(address);
      await tab.page.locator('#compilerVersion').fill('0.8.37');
      await tab.page.locator('#contract').selectOption(VAULT);
      await send();
      const told = await verdict();
      expect(told).toMatch(
        /^No match\. Differs in take, project\/contracts\/Vault\.sol:\d+; your sources/,
      );
      expect(told).toContain('Next:');
      const runtime = tab.page.getByRole('region', { name: 'Runtime code, byte by byte' }).first();
      await expect.poll(() => runtime.innerText()).toMatch(/\d+ in the code itself/);
      await expect.poll(() => runtime.innerText()).toContain('in immutables');
      await expect.poll(() => runtime.locator('mark:not(.explained)').count()).toBeGreaterThan(0);
      expect(await findWithAxe(tab)).toEqual([]);
      await tab.page.getByText('Back to the form').click();
      await tab.page.waitForURL(/\/verify/);
      await tab.page.getByText('One standard JSON input').waitFor();
      await expect.poll(async () => (await valueOf('address')).toLowerCase()).toBe(address);
      await expect.poll(() => valueOf('compilerVersion')).toBe('0.8.37');
      await expect.poll(() => valueOf('contract')).toBe(VAULT);
      const mended = path.join(folder.path, 'mended.json');
      await writeFile(mended, JSON.stringify(vault.input));
      await drop(tab, mended);
      await tab.page.getByText('2 standard JSON inputs').waitFor();
      await send();
      await expect.poll(() => verdict()).toContain('Full match');
    },
  );

  test.runIf(IS_SLOW_SUITE)(
    "reports a field's error on blur and none for later fields",
    async () => {
      await openForm();
      await tab.page.locator('#address').fill('0x12');
      expect(await tab.page.locator('.fault').count()).toBe(0);
      await tab.page.keyboard.press('Tab');
      await tab.page.locator('#address-fault').waitFor();
      await expect.poll(() => tab.page.locator('.fault').count()).toBe(1);
      await tab.page.locator('#address').fill(sampleAddress(5));
      await tab.page.locator('#address-fault').waitFor({ state: 'detached' });
    },
  );

  test.runIf(IS_SLOW_SUITE)('selects the only chain that the text or the URL names', async () => {
    const selected = `Chain of the tests (${VERIFIED_CHAIN_ID})`;
    await openForm();
    await tab.page.locator('#chain').fill('chain OF the tests');
    await tab.page.keyboard.press('Tab');
    await expect.poll(() => valueOf('chain')).toBe(selected);
    await tab.page.getByText('Chain of the tests: supported.').waitFor();
    // The Enter key sends without leaving the field.
    await tab.page.locator('#chain').fill('dead');
    await tab.page.keyboard.press('Enter');
    await expect.poll(() => valueOf('chain')).toBe(`Dead chain (${DEAD_CHAIN_ID})`);
    await expect.poll(() => focused()).toBe('address');
    expect(await tab.page.locator('#chain-fault').count()).toBe(0);
    // Several chains match.
    await tab.page.locator('#chain').fill('chain');
    await tab.page.getByRole('button', { name: SEND }).click();
    await expect.poll(() => focused()).toBe('chain');
    expect(await valueOf('chain')).toBe('chain');
    await openForm('?chain=of+the+tests');
    await expect.poll(() => valueOf('chain')).toBe(selected);
  });

  test.runIf(IS_SLOW_SUITE)(
    'links to the supported chains if the selected one is not supported',
    async () => {
      await openForm(`?chain=${UNSUPPORTED_CHAIN_ID}`);
      const sentence = `Closed chain (${UNSUPPORTED_CHAIN_ID}) isn't supported here.`;
      await expect.poll(() => tab.page.locator('#chain-fault').innerText()).toBe(sentence);
      await tab.page.getByRole('link', { name: 'See supported chains' }).click();
      await tab.page.waitForURL(/\/registry\?supported=yes$/);
    },
  );

  test.runIf(IS_SLOW_SUITE)('reports an existing match before submitting', async () => {
    const address = await newVault();
    await openForm(`?chain=${VERIFIED_CHAIN_ID}&address=${address}`);
    await tab.page.getByText('Chain of the tests: supported.').waitFor();
    await choose([{ path: 'input.json', text: JSON.stringify(vault.input) }]);
    await tab.page.locator('#compilerVersion').fill('0.8.37');
    await tab.page.locator('#contract').selectOption(VAULT);
    expect(await tab.page.getByText('already has a full match').count()).toBe(0);
    await send();
    await expect.poll(() => verdict()).toContain('Full match');
    await visit(tab, `${service.apiUrl}/verify?chain=${VERIFIED_CHAIN_ID}&address=${address}`);
    await tab.page.getByText('already has a full match').waitFor();
  });

  test.skipIf(IS_SLOW_SUITE)('accepts each download of a verified contract', async () => {
    const address = await newVault();
    const place = `${VERIFIED_CHAIN_ID}/${address}`;
    await verifyOverV2(service.apiUrl, address, {
      ...{ stdJsonInput: vault.input, compilerVersion: LONG_VERSION, contractIdentifier: VAULT },
    });
    const downloads = [
      `v1/contracts/${place}/files/sources.zip`,
      `v1/contracts/${place}/files/standard-input.json`,
      `v2/contract/${place}?fields=all`,
    ];
    for (const path of downloads) {
      const response = await fetch(`${service.apiUrl}/${path}`);
      const disposition = response.headers.get('content-disposition') ?? '';
      const name = /filename="(.*)"/.exec(disposition)?.[1] ?? 'record.json';
      const buffer = Buffer.from(await response.arrayBuffer());
      await openForm(`?chain=${VERIFIED_CHAIN_ID}&address=${await newVault()}`);
      const chosen = { name, mimeType: 'application/octet-stream', buffer };
      await tab.page.setInputFiles('#files', [chosen]);
      await expect.poll(() => valueOf('compilerVersion')).toBe(LONG_VERSION);
      expect(await valueOf('contract'), path).toBe(VAULT);
      await send();
      await expect.poll(() => verdict()).toContain('Full match');
    }
  });

  test.runIf(IS_SLOW_SUITE)(
    'says that files were too large to save and keeps the rest',
    async () => {
      await openForm();
      const large = inputOf({ 'a.sol': `contract A {} // ${'x'.repeat(4_000_000)}` });
      const more = { ...large, sources: { ...large.sources, 'b.sol': large.sources['a.sol'] } };
      await choose([{ path: 'input.json', text: JSON.stringify(more) }]);
      await tab.page.getByText('One standard JSON input').waitFor();
      await tab.page.locator('#address').fill(sampleAddress(5));
      await tab.page.reload();
      await tab.page.getByText('could not keep the files').waitFor();
      await expect.poll(() => valueOf('address')).toBe(sampleAddress(5));
    },
  );

  test.runIf(IS_SLOW_SUITE)(
    'accepts a dropped Foundry folder and names what the metadata lacks',
    async () => {
      const address = await newVault();
      const project = path.join(folder.path, 'vault');
      const files = foundryProject(vault, VAULT_PATH, 'Vault');
      for (const { path: name, text } of files) {
        await mkdir(path.join(project, path.dirname(name)), { recursive: true });
        await writeFile(path.join(project, name), text);
      }
      await openForm(`?chain=${VERIFIED_CHAIN_ID}&address=${address}`);
      await choose(files.slice(0, 2));
      await tab.page.getByText('Missing sources').waitFor();
      await expect.poll(() => tab.page.locator('.drop li').allInnerTexts()).toEqual([VAULT_PATH]);
      await tab.page.getByRole('button', { name: 'Remove all files' }).click();
      await drop(tab, project);
      await tab.page.getByText('One artifact').waitFor();
      expect(await tab.page.locator('.drop li').count()).toBe(0);
      await send();
      await expect.poll(() => verdict()).toContain('Full match');
    },
  );

  test.skipIf(IS_SLOW_SUITE)(
    'explains what is wrong with files that contain no compilation',
    async () => {
      await openForm();
      const text = JSON.stringify(vault.input);
      const utf16 = Buffer.from(`\uFEFF${text}`, 'utf16le');
      const cases: readonly (readonly [string, Buffer, string])[] = [
        ['artifacts.tar.gz', Buffer.from('PK'), 'artifacts.tar.gz is an archive'],
        ['artifacts.zip', Buffer.from('PK'), 'artifacts.zip cannot be read as a zip archive'],
        ['logo.png', Buffer.from('PNG'), 'Choose .json, .sol and .vy files'],
        ['package.json', Buffer.from('{"name":"a"}'), 'package.json is not a standard JSON input'],
        ['input.json', Buffer.from('{"language":'), 'input.json is not JSON'],
        ['input.json', Buffer.from([0x7b, 0xff, 0xff]), 'input.json is not text in UTF-8'],
        ['Vault.yul', Buffer.from(SOURCES[VAULT_PATH]), 'do not show how they were compiled'],
        ['huge.sol', Buffer.alloc(6_000_000, ' '), 'huge.sol is 6 MB'],
        ['shell.json', utf16, 'One standard JSON input'],
        ['editor.json', Buffer.from(`\uFEFF${text}`), 'One standard JSON input'],
      ];
      for (const [name, buffer, expected] of cases) {
        await tab.page.setInputFiles('#files', { name, mimeType: '', buffer });
        await expect.poll(() => tab.page.locator('.drop').innerText()).toContain(expected);
      }
    },
  );

  test.skipIf(IS_SLOW_SUITE)('names each incomplete field and focuses the first', async () => {
    await openForm();
    await tab.page.getByRole('button', { name: SEND }).click();
    await expect.poll(() => focused()).toBe('chain');
    expect(await tab.page.locator('#files-fault').innerText()).not.toBe('');
    // With a single contract the form would know the name.
    const sources = {
      ...vault.input.sources,
      'contracts/Other.sol': { content: 'contract Other {}' },
    };
    const text = JSON.stringify({ ...vault.input, sources });
    await choose([{ path: 'input.json', text }]);
    // The file is parsed before the form reports other missing fields.
    await tab.page.getByText('One standard JSON input').waitFor();
    await tab.page.getByRole('button', { name: SEND }).click();
    await expect.poll(() => focused()).toBe('chain');
    for (const id of ['chain', 'address', 'compilerVersion', 'contract']) {
      const field = tab.page.locator(`#${id}`);
      expect(await field.getAttribute('aria-invalid'), id).toBe('true');
      expect(await field.getAttribute('aria-describedby'), id).toContain(`${id}-fault`);
      expect(await tab.page.locator(`#${id}-fault`).innerText(), id).not.toBe('');
    }
    await tab.page.keyboard.press('ArrowDown');
    await tab.page.locator('#chain-choices [role=option]').first().waitFor();
    expect(await findWithAxe(tab)).toEqual([]);
  });

  test.skipIf(IS_SLOW_SUITE)(
    'shows file names and contents as text, whatever they contain',
    async () => {
      const executions: string[] = [];
      const other = await openTab();
      await other.page.exposeBinding('executed', () => executions.push('executed'));
      await visit(other, `${service.apiUrl}/verify`);
      const payloads = readCases<{ readonly text: string }>('script-payloads.json');
      for (const [index, { text }] of payloads.entries()) {
        if (index % 8 !== 0) continue;
        const metadata = {
          compiler: { version: text },
          settings: { compilationTarget: { [text]: text } },
          sources: { [text]: {} },
        };
        const name = `${text.replaceAll('/', '∕')}.json`;
        for (const content of ['{', JSON.stringify(metadata)]) {
          const buffer = Buffer.from(content);
          await other.page.setInputFiles('#files', { name, mimeType: '', buffer });
          await other.page.locator('.drop .fault').waitFor();
        }
      }
      expect(executions).toEqual([]);
      expect(other.troubles).toEqual([]);
      await other.context.close();
    },
  );

  const submit = async (chainId: number): Promise<string> => {
    const response = await post(`${service.apiUrl}/v2/verify/${chainId}/${sampleAddress(9)}`, {
      stdJsonInput: vault.input,
      compilerVersion: '0.8.37',
      contractIdentifier: VAULT,
    });
    const { verificationId } = (await response.json()) as { verificationId: string };
    return verificationId;
  };

  test.runIf(IS_SLOW_SUITE)(
    'follows a job across a lost connection until the operator cancels it',
    async () => {
      const id = await submit(SILENT_CHAIN_ID);
      await visit(tab, `${service.apiUrl}/job/${id}`);
      await expect.poll(() => mainText()).toMatch(/Received \d+\ss ago/);
      await tab.page.route(/\/v1\/jobs\//, (route) => route.abort());
      const alert = tab.page.getByRole('alert');
      await alert.getByText('page updates by itself').waitFor();
      expect(await findWithAxe(tab)).toEqual([]);
      await tab.page.unroute(/\/v1\/jobs\//);
      await alert.waitFor({ state: 'detached' });
      expect(await cancelJob(testDatabase.database, id)).toBe(true);
      await expect.poll(() => verdict()).toContain('cancelled this job');
      await expect.poll(() => tab.page.title()).toContain('failed');
    },
  );

  test.skipIf(IS_SLOW_SUITE)(
    'cancels one’s own job and resubmits it, and offers neither for other jobs',
    async () => {
      const address = await newVault();
      await openForm(`?chain=${SILENT_CHAIN_ID}&address=${address}`);
      await choose([{ path: 'input.json', text: JSON.stringify(vault.input) }]);
      await tab.page.locator('#compilerVersion').fill(LONG_VERSION);
      await tab.page.locator('#contract').selectOption(VAULT);
      await send();
      const first = tab.page.url();
      await tab.page.getByRole('button', { name: 'Cancel' }).click();
      await expect.poll(() => verdict()).toContain('cancelled this job');
      expect(await findWithAxe(tab)).toEqual([]);
      await tab.page.getByRole('link', { name: 'Send it again' }).click();
      await tab.page.waitForURL((url) => /\/job\//.test(url.href) && url.href !== first);
      await tab.page.getByRole('button', { name: 'Cancel' }).click();
      await expect.poll(() => verdict()).toContain('cancelled this job');
      await visit(tab, `${service.apiUrl}/verify`);
      expect(tab.page.url()).toContain('/verify');
      const other = await submit(SILENT_CHAIN_ID);
      await visit(tab, `${service.apiUrl}/job/${other}`);
      expect(await tab.page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
      await cancelJob(testDatabase.database, other);
      await verdict();
      expect(await tab.page.getByRole('link', { name: 'Send it again' }).count()).toBe(0);
    },
  );

  test.runIf(IS_SLOW_SUITE)(
    'reports a contract as not checked if no endpoint of its chain responds',
    async () => {
      await visit(tab, `${service.apiUrl}/job/${await submit(DEAD_CHAIN_ID)}`);
      const told = await verdict();
      expect(told).toContain('Could not check');
      expect(told).toContain('cannot_fetch_bytecode');
      expect(told).toContain('Try again later');
    },
  );

  test.skipIf(IS_SLOW_SUITE)('reports an unknown job', async () => {
    const id = '<b>nobody</b>';
    expect(await visit(tab, `${service.apiUrl}/job/${encodeURIComponent(id)}`)).toBe(404);
    await expect.poll(() => mainText()).toContain(id);
  });

  test.skipIf(IS_SLOW_SUITE)('names alternatives when scripts are disabled', async () => {
    const plain = await openTab(undefined, { javaScriptEnabled: false });
    await plain.page.goto(`${service.apiUrl}/verify?chain=5&address=${sampleAddress(7)}`);
    const text = await plain.page.locator('main').innerText();
    expect(text).toContain(`${service.apiUrl}/v2/verify/5/${sampleAddress(7)}`);
    expect(text).toContain(`fullmatch verify 5 ${sampleAddress(7)}`);
    await expect.poll(() => plain.page.locator('form.verify').isVisible()).toBe(false);
    await plain.context.close();
  });

  // The last test, since nothing else works in the meantime.
  test.runIf(IS_SLOW_SUITE)(
    'reports a contract as not checked while the database is unreachable',
    async () => {
      const name = new URL(testDatabase.url.replace('@/', '@x/')).pathname.slice(1);
      const address = sampleAddress(1);
      await administer(async (client) => {
        await client.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
        await client.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
          [name],
        );
      });
      const url = `${service.apiUrl}/contract/${VERIFIED_CHAIN_ID}/${address}`;
      expect(await visit(tab, url)).toBe(503);
      await expect.poll(() => verdict()).toContain('The record could not be read');
      await administer((client) =>
        client.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`),
      );
      await expect.poll(() => visit(tab, url)).toBe(404);
      await expect.poll(() => verdict()).toContain('No code at this address');
    },
  );
});

/** Drops a file or folder of this machine onto the form, like a user. */
async function drop({ page, context }: WatchedPage, dropped: string): Promise<void> {
  const session = await context.newCDPSession(page);
  await page.evaluate(
    `document.addEventListener('drop', () => document.body.dataset.dropped = '', { capture: true, once: true })`,
  );
  const data = { items: [], files: [dropped], dragOperationsMask: 1 };
  const isDropped = page.locator('body[data-dropped]');
  // The browser ignores a drop before the page has accepted the drag, or if the page moves below the pointer.
  await expect
    .poll(async () => {
      const box = await page.locator('.drop').boundingBox();
      if (box === null) throw new Error('nothing takes a drop');
      const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
        await session.send('Input.dispatchDragEvent', { type, ...at, data });
      return isDropped.count();
    })
    .toBe(1);
  await page.evaluate('delete document.body.dataset.dropped');
  await session.detach();
}
