import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Hex } from '../src/lib/hex.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { SOLC_VERSIONS } from './support/solc-packages.ts';
import { deploy } from './support/anvil.ts';
import { compileAsDeveloper, inputOf, type TestInput } from './support/developer.ts';
import { startVerifyingService, type VerifyingService } from './support/verifying-service.ts';

const NEWEST = '0.8.37';
const FILE = 'contracts/Vault.sol';
const AUDIT = { 'contracts/AUDIT-by-somebody.sol': '// Audited: no findings.\n' };
let verifying: VerifyingService;

const vault = (comment: string, number = 1): string =>
  `// SPDX-License-Identifier: MIT\n// ${comment}\ncontract Vault { uint public number = ${number}; }\n`;
const longVersion = SOLC_VERSIONS.find((version) => version.startsWith(`${NEWEST}+`)) ?? NEWEST;

function bodyOf(input: TestInput, more: object = {}): object {
  return {
    stdJsonInput: input,
    compilerVersion: longVersion,
    contractIdentifier: `${FILE}:Vault`,
    ...more,
  };
}

async function deployVault(
  input: TestInput,
): Promise<{ readonly address: Hex; readonly transactionHash: Hex }> {
  const { creationCode } = await compileAsDeveloper(NEWEST, input, FILE, 'Vault');
  return deploy(verifying.anvil, creationCode);
}

async function ask<T>(path: string): Promise<T> {
  return (await (await fetch(`${verifying.service.apiUrl}${path}`)).json()) as T;
}

interface Evidence {
  readonly hasUnlistedSources: boolean;
  readonly alternatives: readonly { readonly matchId: string; readonly name: string }[];
}

/** The public data of a contract, without the times and numbers of its match. */
async function publishedOf(address: string): Promise<unknown> {
  const { sources, compilation, ...document } = await verifying.contractAt(address);
  const { stdJsonInput } = document as { stdJsonInput?: unknown };
  const files = await fetch(`${verifying.service.apiUrl}/files/any/424242/${address}`);
  return { sources, compilation, stdJsonInput, files: await files.text() };
}

describeWith([ANVIL], 'the record of a verified contract', () => {
  beforeAll(async () => {
    verifying = await startVerifyingService();
  });
  afterAll(() => verifying.close());

  test('is not changed by another deployment of the same bytecode with more files and settings', async () => {
    const input = inputOf({ [FILE]: vault('honest') });
    const first = await deployVault(input);
    const second = await deployVault(input);
    await verifying.verify(first.address, bodyOf(input));
    const before = await publishedOf(first.address);
    const planted = {
      ...input,
      sources: { ...input.sources, 'AUDIT.sol': { content: '// audited' } },
      settings: { ...input.settings, outputSelection: { 'Audited by somebody': { '*': ['*'] } } },
    };
    const job = await verifying.verify(second.address, bodyOf(planted));
    expect(job.contract).toMatchObject({ runtimeMatch: 'exact_match' });
    expect(await publishedOf(first.address)).toEqual(before);
    expect(JSON.stringify(await publishedOf(second.address))).not.toMatch(/audit/i);
  });

  test('excludes sources that the compilation does not need, and tells the submitter', async () => {
    const input = inputOf({ [FILE]: vault('with more', 2), ...AUDIT });
    const { address } = await deployVault(input);
    const job = await verifying.verify(address, bodyOf(input));
    expect(job).toMatchObject({
      contract: { runtimeMatch: 'exact_match' },
      stored: true,
      droppedSources: { count: 1, paths: Object.keys(AUDIT) },
    });
    expect(Object.keys((await verifying.contractAt(address)).sources)).toEqual([FILE]);
    const state = await ask<object>(`/v1/jobs/${job.verificationId}`);
    expect(state).toMatchObject({ droppedSources: { count: 1 } });
  });

  test('excludes a source that only the submitted metadata names', async () => {
    const { metadata } = await compileAsDeveloper(
      NEWEST,
      inputOf({
        [FILE]: vault('metadata', 3),
        ...AUDIT,
        'Main.sol': 'import "contracts/AUDIT-by-somebody.sol"; contract Main {}',
      }),
      'Main.sol',
      'Main',
    );
    const input = inputOf({ [FILE]: vault('metadata', 3) });
    const contract = await compileAsDeveloper(NEWEST, input, FILE, 'Vault');
    const { address } = await deploy(verifying.anvil, contract.creationCode);
    const own = JSON.parse(contract.metadata) as { sources: object };
    const foreign = JSON.parse(metadata) as { sources: object };
    const response = await fetch(
      `${verifying.service.apiUrl}/v2/verify/metadata/424242/${address}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          metadata: {
            ...own,
            sources: {
              ...own.sources,
              ...Object.fromEntries(
                Object.entries(foreign.sources).filter(([path]) => path in AUDIT),
              ),
            },
          },
          sources: { [FILE]: vault('metadata', 3), ...AUDIT, 'unused.sol': '// unused' },
        }),
      },
    );
    const { verificationId } = (await response.json()) as { verificationId: string };
    const job = await ask<object>(`/v2/verify/${verificationId}`);
    expect(job).toMatchObject({
      contract: { runtimeMatch: 'exact_match' },
      droppedSources: { count: 2 },
    });
    expect(Object.keys((await verifying.contractAt(address)).sources)).toEqual([FILE]);
  });

  test('keeps the text of a partial match; another with the transaction is stored as an alternative', async () => {
    const { address, transactionHash } = await deployVault(
      inputOf({ [FILE]: vault('deployed', 4) }),
    );
    const honest = inputOf({ [FILE]: vault('honest partial', 4) });
    const evil = inputOf({ [FILE]: vault('HOLDERS MUST CLAIM AT evil.example', 4) });
    expect(await verifying.verify(address, bodyOf(honest))).toMatchObject({ stored: true });
    const job = await verifying.verify(
      address,
      bodyOf(evil, { creationTransactionHash: transactionHash }),
    );
    expect(job).toMatchObject({ stored: false, keptBeside: true });
    expect(JSON.stringify((await verifying.contractAt(address)).sources)).toContain(
      'honest partial',
    );
    const place = `/v1/contracts/424242/${address}`;
    const { alternatives } = await ask<Evidence>(place);
    expect(alternatives).toHaveLength(1);
    const text = await ask<{ stdJsonInput: TestInput }>(
      `${place}/alternatives/${alternatives[0]?.matchId}`,
    );
    expect(text.stdJsonInput.sources[FILE]?.content).toContain('evil.example');
    const missing = await fetch(`${verifying.service.apiUrl}${place}/alternatives/9999999999`);
    expect(missing.status).toBe(404);
    const page = await (
      await fetch(`${verifying.service.apiUrl}/contract/424242/${address}`)
    ).text();
    expect(page).toContain('1 other set of sources compiles to the same code');

    const full = inputOf({ [FILE]: vault('deployed', 4) });
    expect(await verifying.verify(address, bodyOf(full))).toMatchObject({ stored: true });
    expect(await ask<Evidence>(place)).toMatchObject({
      alternatives: [],
      hasUnlistedSources: false,
    });
  });
});
