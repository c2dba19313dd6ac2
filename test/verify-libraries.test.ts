import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checksumAddress, type Hex } from '../src/lib/hex.ts';
import { type CompiledSample } from './support/bytecode/compiled-suite.ts';
import { isAtLeast } from './support/bytecode/suite-source.ts';
import { type SolcVersion } from './support/compile-in-child.ts';
import { ANVIL, describeWith } from './support/needs.ts';
import { deploy, VERIFIED_CHAIN_ID } from './support/anvil.ts';
import { compileAsDeveloper, inputOf } from './support/developer.ts';
import { pollJob, post } from './support/verification-client.ts';
import {
  bodyOfSample,
  deploySample,
  expectEvidence,
  inputOfTransaction,
  reasonsOf,
  startVerifyingService,
  suiteContract,
  type VerifyingService,
} from './support/verifying-service.ts';
import { runInProcess } from './support/run-cli.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { IS_SLOW_SUITE, versionsOfSuite } from './support/suite.ts';

const SUITE = 'contracts/Suite.sol';
const LIBRARIES = {
  [SUITE]: {
    Sums: '0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a',
    Products: '0x70700d0c7570700d0c7570700d0c7570700d0c75',
  },
};
const FULL = { runtimeMatch: 'exact_match', creationMatch: 'exact_match' };
const LINKED_BY = versionsOfSuite<SolcVersion>(['0.4.11', '0.4.26', '0.5.17', '0.7.6', '0.8.37']);
let verifying: VerifyingService;

const linkedBySettings = (version: SolcVersion): Promise<CompiledSample> =>
  suiteContract(version, 'Linked', { libraries: LIBRARIES });

/** The body of POST /v2/verify with settings that differ from the developer's. */
function withSettings(sample: CompiledSample, settings: object): object {
  const input = { ...sample.input, settings: { ...sample.input.settings, ...settings } };
  return bodyOfSample({ ...sample, input });
}

describeWith([ANVIL], 'libraries in the settings', () => {
  beforeAll(async () => {
    verifying = await startVerifyingService();
    for (const address of Object.values(LIBRARIES[SUITE])) {
      await verifying.anvil.request('anvil_setCode', [address, '0x00']);
    }
  });
  afterAll(() => verifying.close());

  test.each(LINKED_BY)('are linked by the compiler (solc %s)', async (version) => {
    const sample = await linkedBySettings(version);
    const { address, transactionHash } = await deploySample(verifying.anvil, sample);
    const {
      [SUITE]: { Sums, Products },
    } = LIBRARIES;
    const other = { libraries: { [SUITE]: { Sums, Products: Sums } } };
    const wrong = await verifying.verify(address, withSettings(sample, other));
    expect(wrong.error).toMatchObject({
      customCode: 'library_address_differs',
      errorData: {
        libraries: [
          {
            library: `${SUITE}:Products`,
            given: checksumAddress(Sums as Hex),
            onChain: checksumAddress(Products as Hex),
          },
        ],
      },
    });
    const more = { creationTransactionHash: transactionHash };
    const job = await verifying.verify(address, bodyOfSample(sample, more));
    expect(job.contract).toMatchObject(FULL);
    const creationCode = await inputOfTransaction(verifying.anvil, transactionHash);
    const { runtimeBytecode } = await expectEvidence(verifying, address, creationCode);
    expect(reasonsOf(runtimeBytecode)).toEqual([]);
  });

  test.skipIf(IS_SLOW_SUITE)(
    'at other addresses are reported with both, in every protocol and by the command',
    async () => {
      const sample = await linkedBySettings('0.8.37');
      const { address } = await deploySample(verifying.anvil, sample);
      const swapped = {
        [SUITE]: { Sums: LIBRARIES[SUITE].Products, Products: LIBRARIES[SUITE].Sums },
      };
      const body = withSettings(sample, { libraries: swapped }) as Record<string, unknown>;
      const { apiUrl } = verifying.service;
      const [sums, products] = [LIBRARIES[SUITE].Sums, LIBRARIES[SUITE].Products].map((each) =>
        checksumAddress(each as Hex),
      );
      const libraries = [
        { library: `${SUITE}:Products`, given: sums, onChain: products },
        { library: `${SUITE}:Sums`, given: products, onChain: sums },
      ];
      const texts = libraries.map(
        (each) =>
          `${each.library} is at ${each.onChain} in the code on chain, but the settings have ${each.given}`,
      );
      const expectTexts = (text: string): void => {
        for (const each of texts) expect(text).toContain(each);
      };

      const { error, verificationId } = await verifying.verify(address, body);
      expect(error).toMatchObject({ customCode: 'library_address_differs' });
      expect(error?.errorData?.['libraries']).toEqual(expect.arrayContaining(libraries));
      expect(error?.errorData).not.toHaveProperty('diagnosis');
      expect(error?.onchainRuntimeCode).toMatch(/^0x/);
      expectTexts(error?.message ?? '');

      const evidence = await fetch(`${apiUrl}/v1/jobs/${verificationId}`);
      const { failure } = (await evidence.json()) as { failure: object };
      expect(failure).toMatchObject({ kind: 'no_match', code: 'library_address_differs' });
      const page = await fetch(`${apiUrl}/job/${verificationId}`, {
        headers: { accept: 'text/html' },
      });
      expectTexts(await page.text());

      const status = await fetch(`${apiUrl}/evm/${VERIFIED_CHAIN_ID}/etherscan/api`, {
        method: 'POST',
        body: new URLSearchParams({
          ...{ module: 'contract', action: 'checkverifystatus', guid: verificationId },
        }),
      });
      const { result } = (await status.json()) as { result: string };
      expect(result).toMatch(/^Fail - Unable to verify/);
      expectTexts(result);

      const { output } = await suiteContract('0.8.37', 'Linked', { libraries: swapped });
      const v1 = await post(`${apiUrl}/verify`, {
        ...{ address, chain: String(VERIFIED_CHAIN_ID) },
        files: {
          'metadata.json': output.metadata,
          [SUITE]: sample.input.sources[SUITE]?.content,
        },
      });
      expect(v1.status).toBe(422);
      expectTexts(((await v1.json()) as { error: string }).error);

      const folder = await createTemporaryFolder();
      const input = path.join(folder.path, 'input.json');
      await writeFile(input, JSON.stringify(body['stdJsonInput']));
      const args = ['verify', String(VERIFIED_CHAIN_ID), address, input];
      const named = ['--contract', sample.name, '--compiler', sample.version];
      const remotely = ['--url', apiUrl, '--wait'];
      const run = (...more: readonly string[]) =>
        runInProcess([...args, ...named, ...remotely, ...more], {
          ...{ environment: {}, workingDirectory: folder.path },
        });
      const text = await run();
      expect(text.exitCode).toBe(6);
      expectTexts(text.stderr);
      const json = await run('--json');
      expect(json.exitCode).toBe(6);
      expect(JSON.parse(json.stdout)).toMatchObject({
        ...{ code: 'no_match', reason: 'library_address_differs' },
        data: { libraries: expect.arrayContaining(libraries) as unknown },
      });
      await folder.remove();
    },
  );

  test.skipIf(IS_SLOW_SUITE)(
    'at other addresses are not blamed if anything else differs',
    async () => {
      const { Products } = LIBRARIES[SUITE];
      const sample = await linkedBySettings('0.8.37');
      const { address } = await deploySample(verifying.anvil, sample);
      const text = sample.input.sources[SUITE]?.content ?? '';
      const content = text.replace('Sums.add(a, 7)', 'Sums.add(a, 8)');
      expect(content).not.toBe(text);
      const swapped = { [SUITE]: { Sums: Products, Products } };
      const input = {
        ...sample.input,
        sources: { [SUITE]: { content } },
        settings: { ...sample.input.settings, libraries: swapped },
      };
      const job = await verifying.verify(address, bodyOfSample({ ...sample, input }));
      expect(['no_match', 'bytecode_length_mismatch']).toContain(job.error?.customCode);
    },
  );

  test.skipIf(IS_SLOW_SUITE)('are not proven by a partial match', async () => {
    const sample = await linkedBySettings('0.8.37');
    const { address } = await deploySample(verifying.anvil, sample);
    const content = `${sample.input.sources[SUITE]!.content}// other text`;
    const input = { ...sample.input, sources: { ...sample.input.sources, [SUITE]: { content } } };
    const job = await verifying.verify(address, bodyOfSample({ ...sample, input }));
    expect(job.contract).toMatchObject({ runtimeMatch: 'match' });
    const url = `${verifying.service.apiUrl}/v1/contracts/${VERIFIED_CHAIN_ID}/${address}`;
    const { unproven } = (await (await fetch(url)).json()) as { unproven: string[] };
    expect(unproven).toContain('libraries');
  });

  test.each(LINKED_BY)(
    'are read and shown at the address that the compiler links (solc %s)',
    async (version) => {
      const decoy = '0xdec0dec0dec0dec0dec0dec0dec0dec0dec0dec0';
      const empty = '0xe0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0';
      await verifying.anvil.request('anvil_setCode', [decoy, '0x00']);
      const { Sums, Products } = LIBRARIES[SUITE];
      const byName = !isAtLeast(version, '0.7.5');
      const cases = [
        [Sums, { [SUITE]: { Sums: decoy, Products }, '~ AUDITED': { Sums } }],
        [Sums, { [SUITE]: { Sums: decoy, Products }, AUDITED: { [`${SUITE}:Sums`]: Sums } }],
        [empty, { [SUITE]: { Sums: decoy, Products }, '~ AUDITED': { Sums: empty } }],
      ] as const;
      for (const [linked, libraries] of cases) {
        const sample = await suiteContract(version, 'Linked', {
          libraries: byName ? libraries : { [SUITE]: { Sums: linked, Products } },
        });
        const { address } = await deploySample(verifying.anvil, sample);
        const job = await verifying.verify(address, withSettings(sample, { libraries }));
        if (!byName) {
          expect(job.error).toMatchObject({ customCode: 'library_address_differs' });
        } else if (linked === empty) {
          expect(job.error).toMatchObject({ customCode: 'library_not_deployed' });
        } else {
          expect(job.contract).toMatchObject(FULL);
          const { compilation } = await verifying.contractAt(address);
          const shown = JSON.stringify(compilation['compilerSettings']);
          expect(shown).toContain(Sums);
          expect(shown).not.toContain(' AUDITED');
        }
      }
    },
  );

  test.skipIf(IS_SLOW_SUITE)(
    'are read even if the compiler writes no assembly with their names (solc 0.8.4 via IR)',
    async () => {
      const version = '0.8.4';
      const text = `library Used { function f() public pure returns (uint) { return 1; } }
        contract Linked { function g() public pure returns (uint) { return Used.f(); } }`;
      const { Sums: there, Products: other } = LIBRARIES[SUITE];
      const empty = '0xe0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0';
      const verify = async (libraries: object) => {
        const settings = { viaIR: true, libraries };
        const developers = inputOf({ 'a.sol': text }, settings);
        const { creationCode } = await compileAsDeveloper(version, developers, 'a.sol', 'Linked');
        const { address } = await deploy(verifying.anvil, creationCode);
        const job = await verifying.verify(address, {
          stdJsonInput: developers,
          compilerVersion: version,
          contractIdentifier: 'a.sol:Linked',
        });
        return { address, job };
      };
      for (const nowhere of [empty, '0x0000000000000000000000000000000000000004']) {
        const { job } = await verify({ 'a.sol': { Used: nowhere } });
        expect(job.error).toMatchObject({ customCode: 'library_not_deployed' });
      }
      // These versions write no metadata via IR either, so a match is partial.
      const unused = { 'b.sol': { Unused: empty }, AUDITED: { By: other } };
      const partial = await verify({ 'a.sol': { Used: there }, ...unused });
      expect(partial.job.contract).toMatchObject({ runtimeMatch: 'match' });
      const { compilation } = await verifying.contractAt(partial.address);
      expect(compilation['compilerSettings']).toMatchObject({ viaIR: true });
      expect(compilation['compilerSettings']).toHaveProperty('libraries', {
        'a.sol': { Used: there },
      });
    },
  );

  test.skipIf(IS_SLOW_SUITE)(
    'contain no text in a full match if the metadata names them without paths',
    async () => {
      const version = '0.5.17';
      const unlinked = { Unlinked: '0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a' };
      const sample = await suiteContract(version, 'Linked', {
        libraries: { ...LIBRARIES, 'contracts/Other.sol': unlinked },
      });
      const { address } = await deploySample(verifying.anvil, sample);
      const libraries = { ...LIBRARIES, 'AUDITED BY': unlinked };
      const job = await verifying.verify(address, withSettings(sample, { libraries }));
      expect(job.contract).toMatchObject(FULL);
      const { compilation } = await verifying.contractAt(address);
      expect(compilation['compilerSettings']).toMatchObject({
        libraries: { '': { ...LIBRARIES[SUITE], ...unlinked } },
      });
    },
  );

  test.each(LINKED_BY)('are read from the metadata (solc %s)', async (version) => {
    const sample = await linkedBySettings(version);
    const { address, transactionHash } = await deploySample(verifying.anvil, sample);
    const url = `${verifying.service.apiUrl}/v2/verify/metadata/${VERIFIED_CHAIN_ID}/${address}`;
    const response = await post(url, {
      metadata: JSON.parse(sample.output.metadata) as object,
      sources: { [SUITE]: sample.input.sources[SUITE]?.content },
      creationTransactionHash: transactionHash,
    });
    expect(response.status).toBe(202);
    const { verificationId } = (await response.json()) as { verificationId: string };
    const job = await pollJob(verifying.service.apiUrl, verificationId);
    expect(job).not.toHaveProperty('error');
    expect(job.contract).toMatchObject(FULL);
  });

  test.each(versionsOfSuite<SolcVersion>(['0.4.11', '0.4.18', '0.8.37']))(
    'in malformed form have the effect that solc %s gives them',
    async (version) => {
      const sample = await suiteContract(version, 'Linked');
      // Old versions treat null as absent, even for an address, which would then be zero: that is rejected.
      const [nothing, malformed] = isAtLeast(version, '0.4.19')
        ? ['compiler_error', 'compiler_error']
        : ['exact_match', 'invalid_compiler_input'];
      const cases: readonly (readonly [unknown, string])[] = [
        [null, nothing],
        [{ [SUITE]: null }, nothing],
        [{ [SUITE]: { Sums: null } }, malformed],
        [{ [SUITE]: 'Sums' }, malformed],
        ['Sums', malformed],
        [[], malformed],
      ];
      for (const [libraries, expected] of cases) {
        // A different contract each time: a match of both bytecodes cannot be verified again.
        const { address } = await deploySample(verifying.anvil, sample, LIBRARIES[SUITE]);
        const job = await verifying.verify(address, withSettings(sample, { libraries }));
        const said = job.error?.customCode ?? job.contract.runtimeMatch;
        expect(said, JSON.stringify(libraries)).toBe(expected);
      }
    },
  );
});
