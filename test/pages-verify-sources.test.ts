// A fresh installation and a user with two source files: the compiler is downloaded while the page shows
// progress.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configOf, deploy, startAnvil, VERIFIED_CHAIN_ID, type Anvil } from './support/anvil.ts';
import { startBinariesMirror, type BinariesMirror } from './support/binaries-mirror.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import {
  LOOKS,
  openTab,
  SEND,
  sidewaysScroll,
  takePicture,
  visit,
  type WatchedPage,
} from './support/browser.ts';
import { ANVIL, BROWSER, describeWith } from './support/needs.ts';
import { findWithAxe } from './support/in-page.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';

const V20 = '0.8.20+commit.a1b79de6';
const SOURCES = {
  'contracts/Owned.sol': `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

abstract contract Owned {
    address public owner = msg.sender;
}
`,
  'contracts/Till.sol': `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

import "./Owned.sol";

contract Till is Owned {
    uint256 public total;

    receive() external payable {
        total += msg.value;
    }
}

contract Other {
    function f() external pure returns (uint256) {
        return 1;
    }
}
`,
};

describeWith([BROWSER, ANVIL], 'verifying plain sources in the browser', () => {
  let testDatabase: TestDatabase;
  let anvil: Anvil;
  let mirror: BinariesMirror;
  let service: BootedService;
  let tab: WatchedPage;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

  beforeAll(async () => {
    [testDatabase, anvil, mirror, folder] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: VERIFIED_CHAIN_ID }),
      startBinariesMirror([V20]),
      createTemporaryFolder(),
    ]);
    // Only the chain is configured: the mirror stands in for the default host.
    service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: configOf(anvil),
      environment: {
        FULLMATCH_DATA_DIR: folder.path,
        FULLMATCH_COMPILERS_DOWNLOAD_URL: mirror.url,
      },
      compilesAnew: true,
    });
    tab = await openTab();
  });
  afterAll(async () => {
    mirror.release();
    await service.close();
    await Promise.all([mirror.close(), anvil.stop(), folder.remove(), testDatabase.drop()]);
  });

  const paste = async (path: string, text: string): Promise<void> => {
    await tab.page.fill('#pasted', text);
    await tab.page.fill('#pasted-path', path);
    await tab.page.getByRole('button', { name: 'Add this source' }).click();
  };

  test('two pasted files become a match without any setting, with a compiler downloaded on demand', async () => {
    const input = inputOf(SOURCES, { optimizer: { enabled: true, runs: 1000 } });
    const { creationCode } = await compileAsDeveloper(
      '0.8.20',
      input,
      'contracts/Till.sol',
      'Till',
    );
    const { address } = await deploy(anvil, creationCode);
    mirror.holdAt(0.4);
    const { page } = tab;
    await visit(tab, `${service.apiUrl}/verify?chain=${VERIFIED_CHAIN_ID}&address=${address}`);
    await page.getByRole('tab', { name: 'Paste' }).click();
    await page.getByRole('button', { name: 'Add this source' }).click();
    await page.getByText('Paste the text of a source first.').waitFor();
    await paste('contracts/Till.sol', SOURCES['contracts/Till.sol']);
    // Missing imports are named.
    await page.locator('.fault li', { hasText: 'contracts/Owned.sol' }).waitFor();
    await paste('contracts/Owned.sol', SOURCES['contracts/Owned.sol']);
    await page.getByText('2 Solidity sources.').waitFor();
    expect(await page.locator('.drop .fault li').count()).toBe(0);
    // The on-chain bytecode names its compiler.
    await expect.poll(() => page.locator('#compilerVersion').inputValue()).toBe(V20);
    await page.getByText('Read from the code on chain.').waitFor();
    expect(await page.locator('#contract').inputValue()).toBe('');
    await page.getByRole('button', { name: SEND }).click();
    await page.waitForURL(/\/job\//);
    const step = page.locator('.steps li', { hasText: 'Download the compiler' });
    await expect.poll(() => step.innerText()).toMatch(/0\.8\.20: downloading, \d+ of \d+ MB/);
    mirror.release();
    const verdict = page.locator('main .verdict');
    await verdict.waitFor();
    await expect.poll(() => verdict.innerText()).toContain('Full match');
    expect(await verdict.innerText()).toContain('optimizer.enabled: true, optimizer.runs: 1000');
    expect(tab.troubles).toEqual([]);
  });

  test('pasted text that was not added is added on sending', async () => {
    const pasting = await openTab();
    try {
      const { page } = pasting;
      await visit(pasting, `${service.apiUrl}/verify?chain=${VERIFIED_CHAIN_ID}`);
      await page.getByRole('tab', { name: 'Paste' }).click();
      await page.fill('#pasted', SOURCES['contracts/Till.sol']);
      await page.fill('#pasted-path', 'contracts/Till.sol');
      await page.getByRole('button', { name: SEND }).click();
      await page.locator('.fault li', { hasText: 'contracts/Owned.sol' }).waitFor();
      await page.locator('#address-fault').waitFor();
      expect(await page.locator('#files-fault').innerText()).toMatch(/import/i);
      expect(await page.locator('#pasted').inputValue()).toBe('');
      // Without a path the text is added under the proposed one.
      await page.fill('#pasted', 'contract Third {}');
      await page.getByRole('button', { name: SEND }).click();
      await page.locator('.files li', { hasText: /^Third\.sol$/ }).waitFor();
      expect(pasting.troubles).toEqual([]);
    } finally {
      await pasting.context.close();
    }
  });

  test('the form renders at every screen size and scheme', async () => {
    const looking = await openTab(LOOKS[0], { reducedMotion: 'reduce' });
    const { page } = looking;
    try {
      await visit(looking, `${service.apiUrl}/verify`);
      await page.getByRole('tab', { name: 'Paste' }).click();
      await page.fill('#pasted', SOURCES['contracts/Till.sol']);
      await page.getByRole('button', { name: 'Add this source' }).click();
      await page.locator('#optimizer').check();
      await page.locator('#runs').waitFor();
      for (const { name, width, height, colorScheme } of LOOKS) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        expect.soft(await findWithAxe(looking), name).toEqual([]);
        expect.soft(await sidewaysScroll(looking), name).toBe(0);
        await takePicture(page, `sources-${name}`);
      }
    } finally {
      await looking.context.close();
    }
  });
});
