// A compilation without metadata survives publication and import.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRecord } from '../src/repository/matches/read-contract.ts';
import {
  parseSections,
  type ContractSection,
} from '../src/repository/matches/contract-sections.ts';
import { type Hex } from '../src/lib/hex.ts';
import { YUL_SOURCE } from './support/bytecode/suite-source.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { runInProcess } from './support/run-cli.ts';
import { runSoljson } from './support/run-soljson.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from './support/test-database.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { type TestInput } from './support/developer.ts';
import { verifyOverV2 } from './support/verification-client.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';
import {
  compileVyper,
  NO_VYPER,
  VYPER_FOLDER,
  VYPER_VERSIONS,
  vyperInput,
} from './support/vyper-builds.ts';

const YUL = {
  language: 'Yul',
  sources: { 'yul/Echo.yul': { content: YUL_SOURCE } },
  settings: { optimizer: { enabled: true, runs: 200 } },
};
const OLD = {
  language: 'Solidity',
  sources: { 'a b/Store.sol': { content: 'contract Store { uint public stored; }' } },
  settings: { optimizer: { enabled: true, runs: 200 } },
};
const VYPER = vyperInput({
  'contracts/Token.vy':
    'from contracts import helper\n\n@external\ndef f(n: uint256) -> uint256:\n    return helper.half(n)\n',
  'contracts/helper.vy': '\n@internal\ndef half(n: uint256) -> uint256:\n    return n // 2\n',
});
const ASKED: readonly ContractSection[] = ['compilation', 'metadata', 'artifacts', 'sources'];

interface Published {
  readonly creationCode: string;
  readonly input: TestInput;
  readonly version: string;
  readonly contract: string;
}

interface Output {
  readonly contracts: Readonly<
    Record<string, Readonly<Record<string, { evm: { bytecode: { object: string } } }>>>
  >;
}

async function creationCodeOf(packageName: string, input: object): Promise<string> {
  const selected = { '*': { '*': ['evm.bytecode.object'] } };
  const settings = { ...(input as typeof YUL).settings, outputSelection: selected };
  const [output] = (await runSoljson(packageName, [{ ...input, settings }])) as Output[];
  const [named = {}] = Object.values(output?.contracts ?? {});
  return Object.values(named)[0]?.evm.bytecode.object ?? '';
}

describeWith([ANVIL], 'a tree without metadata', () => {
  let service: VerifyingService;
  let withVyper: VerifyingService | undefined;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let imported: TestDatabase;
  beforeAll(async () => {
    [service, folder, imported] = await Promise.all([
      startVerifyingService(),
      createTemporaryFolder(),
      createTestDatabase(),
    ]);
  });
  afterAll(async () => {
    await service.close();
    await withVyper?.close();
    await folder.remove();
    await imported.drop();
  });

  async function recordIn({ database }: TestDatabase, address: string) {
    const record = await readRecord(
      database,
      VERIFIED_CHAIN_ID,
      address.toLowerCase() as Hex,
      ASKED,
    );
    if (record === undefined) throw new Error(`${address} is not there`);
    return { match: record.match, sections: parseSections(record.sections) };
  }

  test.each([
    ['Yul', 'solc', YUL, '0.8.37+commit.f401782d', 'yul/Echo.yul:Echo'],
    ['Solidity 0.3.6', 'solc-0.3.6', OLD, '0.3.6+commit.3fc68da5', 'a b/Store.sol:Store'],
  ])(
    'a compilation of %s without metadata is imported as published',
    async (_what, name, input, version, contract) => {
      const creationCode = await creationCodeOf(name, input);
      await expectImported(service, { creationCode, input, version, contract });
    },
  );

  test.skipIf(NO_VYPER)(
    `a compilation of Vyper without metadata is imported as published${NO_VYPER ? ` (${NO_VYPER})` : ''}`,
    async () => {
      withVyper = await startVerifyingService(() => `compilers: { folder: ${VYPER_FOLDER} }\n`);
      const [, , , version] = VYPER_VERSIONS;
      const creationCode = await compileVyper(version, VYPER, 'contracts/Token.vy');
      const contract = 'contracts/Token.vy:Token';
      await expectImported(withVyper, { creationCode, input: VYPER, version, contract });
    },
  );

  async function expectImported(
    publishing: VerifyingService,
    { creationCode, input, version, contract }: Published,
  ): Promise<void> {
    const { address } = await deploy(publishing.anvil, creationCode);
    const { apiUrl, repositoryUrl } = publishing.service;
    const job = await verifyOverV2(apiUrl, address, {
      ...{ stdJsonInput: input, compilerVersion: version, contractIdentifier: contract },
    });
    expect(job.error).toBeUndefined();
    const published = job.contract.address;
    const kind = job.contract.match === 'exact_match' ? 'full_match' : 'partial_match';
    const place = `contracts/${kind}/${VERIFIED_CHAIN_ID}/${published}`;
    const tree = path.join(folder.path, published);
    const sources = Object.keys(input.sources).map((source) => `sources/${source}`);
    const names = ['compilation.json', 'path-translation.json', 'creator-tx-hash.txt'];
    for (const file of [...names, ...sources]) {
      const answer = await fetch(`${repositoryUrl}/${place}/${encodeURI(file)}`);
      if (file === 'path-translation.json' && answer.status === 404) continue;
      expect(answer.status).toBe(200);
      const written = path.join(tree, place, file);
      await mkdir(path.dirname(written), { recursive: true });
      await writeFile(written, await answer.text());
    }
    expect((await fetch(`${repositoryUrl}/${place}/metadata.json`)).status).toBe(404);

    const run = await runInProcess(['import', tree, '--json'], {
      environment: { DATABASE_URL: imported.url },
      workingDirectory: folder.path,
    });
    expect(run).toMatchObject({ exitCode: 0 });
    const before = await recordIn(publishing.testDatabase, published);
    const after = await recordIn(imported, published);
    expect(after.sections.metadata).toBeNull();
    expect(after.sections.compilation).toEqual(before.sections.compilation);
    expect(after.sections.sources).toEqual(before.sections.sources);
    expect(after.sections.artifacts?.['abi'] ?? null).toEqual(before.sections.artifacts?.['abi']);
  }
});
