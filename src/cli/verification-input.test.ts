import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTemporaryFolder } from '../../test/support/temporary-folder.ts';
import { decodeText, readVerificationInput } from './verification-input.ts';

const TEXT = '{"language":"Solidity","name":"Zähler"}';

test('decodes UTF-8, and UTF-16 with a byte order mark', () => {
  const little = Buffer.from(`\ufeff${TEXT}`, 'utf16le');
  const big = Buffer.from(little).swap16();
  for (const bytes of [Buffer.from(TEXT), little, big]) expect(decodeText(bytes)).toBe(TEXT);
});

describe('Contract name without a path', () => {
  /** Two contracts named Vault, and names that occur only in comments and strings. */
  const SOURCES = {
    'src/Vault.sol': 'contract Vault {} /* contract Ghost {} */ library Sums {}',
    'src/old/Vault.sol': 'abstract contract Base {} contract Vault is Base {} contract Bank {}',
  };
  const metadataOf = (file: string, name: string): string =>
    JSON.stringify({
      ...{ compiler: { version: '0.8.30+commit.73712a01' }, language: 'Solidity', version: 1 },
      output: { abi: [] },
      settings: { compilationTarget: { [file]: name } },
      sources: { [file]: { content: SOURCES[file as keyof typeof SOURCES] } },
    });
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;
  beforeAll(async () => {
    folder = await createTemporaryFolder();
    const write = async (name: string, text: string): Promise<void> => {
      const file = path.join(folder.path, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    };
    const sources = Object.fromEntries(
      Object.entries(SOURCES).map(([name, content]) => [name, { content }]),
    );
    const input = { language: 'Solidity', sources, settings: {} };
    await write('standard/input.json', JSON.stringify(input));
    const contracts = {
      'src/Vault.sol': { Vault: {}, Sums: {} },
      'src/old/Vault.sol': { Vault: {}, Bank: {} },
    };
    const buildInfo = { solcLongVersion: '0.8.30', input, output: { contracts } };
    await write('hardhat/build-info.json', JSON.stringify(buildInfo));
    for (const [name, text] of Object.entries(SOURCES)) {
      await write(`plain/${name}`, text);
      await write(`foundry/${name}`, text);
    }
    for (const [place, file, name] of [
      ['Vault.sol', 'src/Vault.sol', 'Vault'],
      ['Vault.sol', 'src/Vault.sol', 'Sums'],
      ['old/Vault.sol', 'src/old/Vault.sol', 'Vault'],
      ['old/Vault.sol', 'src/old/Vault.sol', 'Bank'],
    ] as const) {
      const artifact = JSON.stringify({ rawMetadata: metadataOf(file, name) });
      await write(`foundry/out/${place}/${name}.json`, artifact);
    }
    await write('metadata/metadata.json', metadataOf('src/old/Vault.sol', 'Bank'));
    const archive = zipSync({
      'standard-input.json': strToU8(JSON.stringify(input)),
      'metadata.json': strToU8(metadataOf('src/old/Vault.sol', 'Bank')),
    });
    await writeFile(path.join(folder.path, 'sources.zip'), archive);
  });
  afterAll(() => folder.remove());

  const INPUTS = {
    'a standard JSON input': 'standard/input.json',
    'a build info of Hardhat': 'hardhat/build-info.json',
    'a folder of sources': 'plain',
    'a project of Foundry': 'foundry',
  };
  const read = (input: string, contract: string) =>
    readVerificationInput(path.join(folder.path, input), {
      ...{ contract, compiler: '0.8.30' },
      plain: { workingDirectory: folder.path, settings: {} },
    });
  const targetOf = (compilation: Awaited<ReturnType<typeof read>>): unknown =>
    compilation.kind === 'metadata'
      ? Object.entries(
          (compilation.metadata as { settings: { compilationTarget: object } }).settings
            .compilationTarget,
        )[0]?.join(':')
      : compilation.contractIdentifier;

  test('is read from the metadata in the sources.zip of a contract', async () => {
    const compilation = await readVerificationInput(path.join(folder.path, 'sources.zip'), {
      plain: { workingDirectory: folder.path, settings: {} },
    });
    expect(compilation).toMatchObject({
      ...{ kind: 'standard_json', compilerVersion: '0.8.30+commit.73712a01' },
      contractIdentifier: 'src/old/Vault.sol:Bank',
    });
  });

  test.each(Object.entries(INPUTS))('is resolved in %s', async (_what, input) => {
    expect(targetOf(await read(input, 'Bank'))).toBe('src/old/Vault.sol:Bank');
    expect(targetOf(await read(input, 'Sums'))).toBe('src/Vault.sol:Sums');
    expect(targetOf(await read(input, 'src/old/Vault.sol:Vault'))).toBe('src/old/Vault.sol:Vault');
  });

  test.each(Object.entries(INPUTS))(
    'is rejected in %s with the candidates if ambiguous or unknown',
    async (_what, input) => {
      const code = 'verification_input_unusable';
      const several = await read(input, 'Vault').catch((error: unknown) => error);
      expect(several).toMatchObject({ code });
      const { message } = several as Error;
      expect(message).toMatch(/^Several contracts are called Vault; add the path/);
      expect(message).toMatch(/src\/Vault\.sol:Vault, src\/old\/Vault\.sol:Vault\.$/);
      for (const unknown of ['Bamk', 'Ghost', 'src/none.sol:Bank']) {
        const none = await read(input, unknown).catch((error: unknown) => error);
        expect(none).toMatchObject({ code });
        const said = (none as Error).message;
        expect(said).toContain(`The input has no contract ${unknown}. It may be: `);
        for (const each of [
          'src/Vault.sol:Vault',
          'src/Vault.sol:Sums',
          'src/old/Vault.sol:Bank',
        ]) {
          expect(said).toContain(each);
        }
        expect(said).not.toContain(':Base');
        if (unknown !== 'Ghost') expect(said).toContain('It may be: src/old/Vault.sol:Bank');
      }
    },
  );

  test('must match the target of a metadata.json', async () => {
    const input = 'metadata/metadata.json';
    for (const contract of ['Bank', 'src/old/Vault.sol:Bank']) {
      expect(targetOf(await read(input, contract))).toBe('src/old/Vault.sol:Bank');
    }
    await expect(read(input, 'Vault')).rejects.toThrow(
      'The input has no contract Vault. It may be: src/old/Vault.sol:Bank.',
    );
  });
});
