import { copyFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SOLIDITY_CATALOGUE } from '../src/compilers/solidity-catalogue.ts';
import { findAnvil, NO_ANVIL, startAnvil, type Anvil } from './support/anvil.ts';
import { bootService, type BootedService } from './support/booted-service.ts';
import { type SolcVersion } from './support/compile-in-child.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import {
  compileAsDeveloper,
  configOf,
  deploy,
  inputOf,
  verifyOverV2,
} from './support/verification-fixture.ts';

/** Of these npm's file is the official one, which a folder of compilers may hold. */
const OLD_VERSIONS = ['0.4.11', '0.4.18', '0.4.26', '0.5.17', '0.6.12', '0.7.6', '0.8.9'] as const;
const VERSIONS: readonly SolcVersion[] = [...OLD_VERSIONS, '0.8.37'];
const PATH = 'Pot.sol';
const NAME = 'Pot';
/** A contract that every version compiles, and that contains another. */
const SOURCE = `pragma solidity >=0.4.11;
contract Drop { uint256 public size = 3; }
contract Pot {
    uint256 public level;
    address public last;
    function fill(uint256 by) public { level = level + by; last = address(new Drop()); }
}
`;
const installed = findAnvil() !== undefined;

function longVersionOf(version: string): string {
  const found = SOLIDITY_CATALOGUE.find(({ longVersion }) => longVersion.startsWith(`${version}+`));
  if (found === undefined) throw new Error(`${version} is not in the catalogue`);
  return found.longVersion;
}

describe.skipIf(!installed)(`across compilers${installed ? '' : ` (${NO_ANVIL})`}`, () => {
  let testDatabase: TestDatabase;
  let anvil: Anvil;
  let service: BootedService;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  beforeAll(async () => {
    [testDatabase, anvil, folder] = await Promise.all([
      createTestDatabase(),
      startAnvil({ chainId: 424242 }),
      createTemporaryFolder(),
    ]);
    const require = createRequire(import.meta.url);
    for (const version of OLD_VERSIONS) {
      const file = path.join(folder.path, `soljson-v${longVersionOf(version)}.js`);
      await copyFile(require.resolve(`solc-${version}/soljson.js`), file);
    }
    service = await bootService({
      databaseUrl: testDatabase.url,
      yaml: configOf(
        anvil,
        `compilers: { folder: ${folder.path}, timeoutMs: 20000, memoryBytes: 268435456 }\n`,
      ),
    });
  }, 120_000);
  afterAll(async () => {
    await service.close();
    await anvil.stop();
    await folder.remove();
    await testDatabase.drop();
  });

  const verify = (
    version: string,
    address: string,
    source: string,
    more: object = {},
    settings: object = {},
  ): ReturnType<typeof verifyOverV2> =>
    verifyOverV2(service.apiUrl, address, {
      stdJsonInput: inputOf({ [PATH]: source }, { ...settings }),
      compilerVersion: `v${longVersionOf(version)}`,
      contractIdentifier: `${PATH}:${NAME}`,
      ...more,
    });

  test.each(VERSIONS)(
    'solc %s: full with the same sources, partial with another comment, none with other code',
    async (version) => {
      const input = inputOf({ [PATH]: SOURCE });
      const { creationCode } = await compileAsDeveloper(version, input, PATH, NAME);
      const { address, transactionHash } = await deploy(anvil, creationCode);
      const other = await verify(version, address, SOURCE.replace('level + by', 'level - by'));
      expect(['no_match', 'bytecode_length_mismatch']).toContain(other.error?.customCode);
      const partial = await verify(version, address, `${SOURCE}// changed\n`);
      expect(partial.contract.runtimeMatch).toBe('match');
      const full = await verify(version, address, SOURCE, {
        creationTransactionHash: transactionHash,
      });
      expect(full.contract).toMatchObject({
        runtimeMatch: 'exact_match',
        creationMatch: 'exact_match',
      });
    },
    120_000,
  );

  test.each([
    ['via IR', { viaIR: true }, 'exact_match'],
    ['bytecodeHash none', { metadata: { bytecodeHash: 'none' } }, 'match'],
    ['appendCBOR false', { metadata: { appendCBOR: false } }, 'match'],
  ])('%s gives the match that it can at best', async (_title, settings, match) => {
    const input = inputOf({ [PATH]: SOURCE }, settings);
    const { creationCode } = await compileAsDeveloper('0.8.37', input, PATH, NAME);
    const { address } = await deploy(anvil, creationCode);
    const job = await verify('0.8.37', address, SOURCE, {}, settings);
    expect(job.contract.runtimeMatch).toBe(match);
  });

  test('a source that wants all memory ends as a failed job within its limits, while documents are served', async () => {
    const { creationCode } = await compileAsDeveloper(
      '0.8.37',
      inputOf({ [PATH]: SOURCE }),
      PATH,
      NAME,
    );
    const { address } = await deploy(anvil, creationCode);
    // Each modifier doubles the code of the function.
    const bomb = `contract Pot { uint a; modifier m { _; _; } function f() public ${'m '.repeat(40)}{ a++; } }`;
    const slowest = { ms: 0 };
    const ended = new AbortController();
    const reading = (async () => {
      while (!ended.signal.aborted) {
        const begun = performance.now();
        expect((await fetch(`${service.apiUrl}/chains`)).status).toBe(200);
        slowest.ms = Math.max(slowest.ms, performance.now() - begun);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const job = await verify('0.8.37', address, bomb);
    ended.abort();
    await reading;
    expect(job.error?.customCode).toMatch(
      /^compiler_(?:timeout|out_of_memory|crashed|output_too_large)$/,
    );
    expect(slowest.ms).toBeLessThan(2000);
    const after = await verify('0.8.37', address, SOURCE);
    expect(after.contract.runtimeMatch).toBe('exact_match');
  }, 120_000);
});
