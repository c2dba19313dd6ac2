// Trees that claim full matches of contracts whose bytecode disproves the claim.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesToHex, checksumAddress, type Hex } from '../src/lib/hex.ts';
import { keccak256 } from '../src/lib/keccak.ts';
import { recount } from '../src/repository/statistics/recount.ts';
import { type SolcVersion } from './support/compile-in-child.ts';
import { contractFolder, writeContract } from './support/example-tree.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { configOf, deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf, type TestInput } from './support/developer.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const FALSE_TEXT = '// audited by a famous company\ncontract Treasury {}';
const FALSE_METADATA = JSON.stringify({
  language: 'Solidity',
  compiler: { version: '0.8.37+commit.f401782d' },
  settings: { compilationTarget: { 'A.sol': 'Treasury' } },
  sources: { 'A.sol': { keccak256: bytesToHex(keccak256(Buffer.from(FALSE_TEXT))) } },
  output: { abi: [] },
  version: 1,
});
const vault = (comment: string, settings: object = {}): TestInput =>
  inputOf({ 'A.sol': `// ${comment}\ncontract Vault { uint public x = 7; }` }, { ...settings });
const yul = (comment: string): TestInput => ({
  ...inputOf({
    'A.sol': `object "Vault" { code { datacopy(0, dataoffset("R"), datasize("R")) return(0, datasize("R")) }
      object "R" { code { mstore(0, 7) return(0, 32) } } } // ${comment}`,
  }),
  language: 'Yul',
});

interface Counts {
  readonly full_match: number;
  readonly partial_match: number;
}

describeWith([ANVIL], 'an imported claim of a full match', () => {
  let verifying: VerifyingService;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let trees = 0;

  beforeAll(async () => {
    [verifying, folder] = await Promise.all([startVerifyingService(), createTemporaryFolder()]);
    await writeFile(path.join(folder.path, 'fullmatch.yaml'), configOf(verifying.anvil));
  });
  afterAll(async () => {
    await verifying.close();
    await folder.remove();
  });

  const fullmatch = (...args: readonly string[]) =>
    runInProcess(args, {
      environment: { DATABASE_URL: verifying.testDatabase.url },
      workingDirectory: folder.path,
    });
  const deployVault = async (input: TestInput, version: SolcVersion = '0.8.37') => {
    const made = await compileAsDeveloper(version, input, 'A.sol', 'Vault');
    return { ...made, ...(await deploy(verifying.anvil, made.creationCode)) };
  };
  /** Imports a tree of one contract; by default with the text of the false claim. */
  const claim = async (
    address: Hex,
    metadata = FALSE_METADATA,
    text = FALSE_TEXT,
  ): Promise<string> => {
    const root = path.join(folder.path, `tree-${(trees += 1)}`);
    const place = { match: 'full', chainId: VERIFIED_CHAIN_ID, address: checksumAddress(address) };
    const contract = { metadata, sources: { 'A.sol': text }, facts: {} };
    const template = { ...contract, name: 'Claim', targetPath: 'A.sol' };
    await writeContract(contractFolder(root, { ...place, match: 'full' }), template, {
      layout: 'v1',
    });
    const { exitCode } = await fullmatch('import', root);
    expect(exitCode).toBe(0);
    return root;
  };
  const verify = (address: Hex, input: TestInput, version: SolcVersion = '0.8.37') =>
    verifying.verify(address, {
      stdJsonInput: input,
      compilerVersion: version,
      contractIdentifier: 'A.sol:Vault',
    });
  const reasonsOf = async (address: Hex) => {
    const url = `${verifying.service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}/events`;
    const { results } = (await (await fetch(url)).json()) as {
      results: readonly { kind: string; reason?: string }[];
    };
    return results.map(({ kind, reason }) => reason ?? kind).reverse();
  };
  const countsOf = async (): Promise<Counts> => {
    const { differences } = await recount(verifying.testDatabase.database, { repair: false });
    expect(differences).toEqual([]);
    const document = JSON.parse(await verifying.statistics()) as Record<string, unknown>;
    return (document[VERIFIED_CHAIN_ID] ?? { full_match: 0, partial_match: 0 }) as Counts;
  };
  const recheck = async (address: Hex): Promise<string | undefined> => {
    const { stdout } = await fullmatch('recheck', String(VERIFIED_CHAIN_ID), address, '--json');
    return (JSON.parse(stdout) as { outcome: string }[])[0]?.outcome;
  };

  test.each<[string, TestInput, SolcVersion, TestInput]>([
    [
      'bytecode without a metadata hash',
      vault('true', { metadata: { bytecodeHash: 'none' } }),
      '0.8.37',
      vault('true', { metadata: { bytecodeHash: 'none' } }),
    ],
    ['Yul bytecode', yul('true'), '0.8.37', yul('true')],
    ['bytecode whose original comments are lost', vault('true'), '0.8.37', vault('another')],
  ])('is replaced by a partial match verified here: %s', async (_what, input, version, sent) => {
    const { address } = await deployVault(input, version);
    const before = await countsOf();
    await claim(address);
    expect(await verifying.contractAt(address)).toMatchObject({ match: 'exact_match' });
    const { contract } = await verify(address, sent, version);
    expect(contract).toMatchObject({ match: 'match' });
    const shown = await verifying.contractAt(address);
    expect(shown).toMatchObject({ match: 'match', compilation: { name: 'Vault' } });
    expect(await reasonsOf(address)).toEqual(['stored', 'claim_disproved', 'stored']);
    expect(await countsOf()).toEqual({ ...before, partial_match: before.partial_match + 1 });
  });

  test('is withdrawn by a recheck after every import', async () => {
    const { address } = await deployVault(vault('rechecked'));
    const tree = await claim(address);
    const before = await countsOf();
    expect(await recheck(address)).toBe('claim_disproved');
    expect(await reasonsOf(address)).toEqual(['stored', 'claim_disproved']);
    expect(await countsOf()).toEqual({ ...before, full_match: before.full_match - 1 });
    await fullmatch('import', tree);
    expect(await recheck(address)).toBe('claim_disproved');
    expect((await verifying.contractAt(address)).match).toBe(null);
  });

  test('does not block verification with metadata nested too deep to rewrite', async () => {
    const { address } = await deployVault(vault('deep'));
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    await claim(address, FALSE_METADATA.replace('{', `{"x":${deep},`));
    const { contract } = await verify(address, vault('deep'));
    expect(contract).toMatchObject({ match: 'exact_match' });
    expect(await verifying.contractAt(address)).toMatchObject({ compilation: { name: 'Vault' } });
  });

  test('stays if the bytecode names its metadata, whatever spelling the tree uses', async () => {
    const input = vault('Grüße');
    const text = input.sources['A.sol']?.content ?? '';
    const spellings: readonly ((document: object) => string)[] = [
      (document) => JSON.stringify(document, null, 2),
      (document) => JSON.stringify(Object.fromEntries(Object.entries(document).reverse())),
      (document) => JSON.stringify(document),
    ];
    for (const spell of spellings) {
      const { address, metadata } = await deployVault(input);
      await claim(address, spell(JSON.parse(metadata) as object), text);
      expect(await recheck(address)).toBe('unknown_code');
      await verify(address, vault('another'));
      expect(await verifying.contractAt(address)).toMatchObject({ match: 'exact_match' });
      expect(await reasonsOf(address)).toEqual(['stored']);
    }
  });
});
