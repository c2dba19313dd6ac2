// Import of one contract's folder, on trees of contracts compiled with solc.
import { appendFile, chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ContentHasher } from '../src/importer/content-hash.ts';
import { DEFAULT_IMPORT_LIMITS, type ImportLimits } from '../src/importer/import-limits.ts';
import { readContract } from '../src/importer/read-contract.ts';
import { Refusal } from '../src/importer/refusal.ts';
import { listOf } from '../src/importer/repository-tree.ts';
import { bytesToHex, type Hex } from '../src/lib/hex.ts';
import { keccak256 } from '../src/lib/keccak.ts';
import { type VerifiedContract } from '../src/repository/matches/verified-contract.ts';
import hostileNames from './cases/import/hostile-source-names.json' with { type: 'json' };
import { compileExamples, type ExampleTemplate } from './support/example-contracts.ts';
import {
  exampleAddress,
  storedPath,
  writeContract,
  writeExampleTree,
} from './support/example-tree.ts';

let root: string;
let templates: readonly ExampleTemplate[];
let next = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'fullmatch-import-contract-'));
  templates = await compileExamples();
});
afterAll(() => rm(root, { recursive: true, force: true }));

const newFolder = (): string => join(root, `contract-${(next += 1)}`);
const hashText = (text: string): Hex => bytesToHex(keccak256(Buffer.from(text)));
const template = (name: string): ExampleTemplate => templates.find((one) => one.name === name)!;

async function read(folder: string, limits: Partial<ImportLimits> = {}): Promise<VerifiedContract> {
  const place = {
    match: 'full',
    chainId: 1,
    address: exampleAddress(0),
    list: listOf(folder),
    path: basename(folder),
  } as const;
  const all = { ...DEFAULT_IMPORT_LIMITS, ...limits };
  return (await readContract(place, all, new ContentHasher())).contract;
}

/** Returns the reason why the folder is rejected, or 'sound'. */
async function judge(folder: string, limits?: Partial<ImportLimits>): Promise<string> {
  return read(folder, limits).then(
    () => 'sound',
    (error: unknown) => {
      if (error instanceof Refusal) return error.reason;
      throw error;
    },
  );
}

/** A template without a compiler: metadata with any source names and contents. */
function made(sources: Record<string, string>, more: object = {}): ExampleTemplate {
  const listed = Object.entries(sources).map(([path, content]) => [
    path,
    { keccak256: hashText(content) },
  ]);
  const [targetPath = ''] = Object.keys(sources);
  const target: Record<string, string> = Object.fromEntries([[targetPath, 'Example']]);
  const metadata = JSON.stringify({
    compiler: { version: '0.8.37' },
    language: 'Solidity',
    settings: { compilationTarget: target },
    sources: Object.fromEntries(listed) as Record<string, unknown>,
    ...more,
  });
  return { name: 'Made', targetPath, metadata, sources, facts: {} };
}

describe.each([
  ['v1', true],
  ['v1', false],
  ['v2', true],
] as const)('layout %s (path-translation.json: %s)', (layout, pathTranslation) => {
  test('yields every compiled contract as solc produced it', async () => {
    const contracts = templates.map(({ name }) => ({
      chainId: 1,
      match: 'full' as const,
      template: name,
    }));
    const folder = newFolder();
    const written = await writeExampleTree(folder, { layout, contracts, pathTranslation });
    for (const { folder: path, template: expected } of written) {
      const contract = await read(path);
      const { compilation } = contract;
      expect(contract).toMatchObject({
        origin: 'imported',
        runtimeMatch: 'full',
        creationMatch: null,
      });
      expect(compilation.metadata).toBe(expected.metadata);
      expect(
        Object.fromEntries(compilation.sources.map(({ path, content }) => [path, content])),
      ).toEqual(expected.sources);
      expect(compilation.fullyQualifiedName).toBe(`${expected.targetPath}:${compilation.name}`);
      expect(compilation).toMatchObject({ language: 'solidity', compiler: 'solc' });
      expect(compilation.version).toMatch(/^0\.8\.37\+commit\./);
      expect(compilation.settings).not.toHaveProperty('compilationTarget');
      expect(compilation.settings).toHaveProperty('optimizer', { enabled: true, runs: 200 });
      expect(Object.keys(compilation.artifacts).sort()).toEqual(['abi', 'devdoc', 'userdoc']);
      expect(contract.deployment.transactionHash).toMatch(/^0x[0-9a-f]{64}$/);
    }
  });
});

describe('the auxiliary files next to metadata.json', () => {
  test('provide constructor arguments, immutable references and libraries by name', async () => {
    const greeter = newFolder();
    await writeContract(greeter, template('Greeter'), { layout: 'v1' });
    const { creation, compilation } = await read(greeter);
    expect(creation?.values).toEqual({
      constructorArguments: template('Greeter').facts['constructor-args.txt'],
    });
    expect(compilation.runtimeCodeArtifacts?.['immutableReferences']).toEqual(
      JSON.parse(template('Greeter').facts['immutable-references.json']!),
    );
    const ledger = newFolder();
    await writeContract(ledger, template('Ledger'), { layout: 'v2' });
    expect((await read(ledger)).runtime?.values).toEqual({
      libraries: { 'contracts/Sums.sol:Sums': `0x${'ab'.repeat(20)}` },
    });
  });

  test.each([
    ['creator-tx-hash.txt', '0x1234'],
    ['creator-tx-hash.txt', 'null'],
    ['constructor-args.txt', '0x123'],
    ['constructor-args.txt', 'hello'],
    ['library-map.json', '{"a":"b"}'],
    ['library-map.json', '[]'],
    ['immutable-references.json', '{"4":[{"start":-0.5}]}'],
    ['immutable-references.json', '{'],
  ])('yield nothing where %s contains %s', async (file, content) => {
    const folder = newFolder();
    await writeContract(folder, { ...template('Badge'), facts: {} }, { layout: 'v2' });
    await rm(join(folder, 'creator-tx-hash.txt'));
    const without = await read(folder);
    await writeFile(join(folder, file), content);
    expect(await read(folder)).toEqual(without);
  });

  test('may be accompanied by unknown files', async () => {
    const folder = newFolder();
    await writeContract(folder, template('Greeter'), { layout: 'v1' });
    await writeFile(join(folder, 'notes.txt'), 'hello');
    await writeFile(join(folder, 'sources', 'unlisted.sol'), 'contract Unlisted {}');
    expect((await read(folder)).compilation.sources).toHaveLength(1);
  });
});

describe('a source', () => {
  test('is rejected after any changed byte', async () => {
    const folder = newFolder();
    await writeContract(folder, template('Token'), { layout: 'v1' });
    const files = Object.keys(template('Token').sources).map((name) =>
      join(folder, 'sources', storedPath(name)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (file, at, change) => {
          const sound = await readFile(file);
          const changed = Buffer.from(sound);
          const index = at % changed.length;
          changed[index] = changed[index]! ^ change;
          await writeFile(file, changed);
          const verdict = await judge(folder);
          await writeFile(file, sound);
          expect(verdict).toBe('wrong_source_hash');
        },
      ),
      { numRuns: 60 },
    );
    expect(await judge(folder)).toBe('sound');
  });

  test('is rejected if truncated or extended', async () => {
    const folder = newFolder();
    await writeContract(folder, template('Greeter'), { layout: 'v1' });
    const file = join(folder, 'sources', 'contracts', 'Greeter.sol');
    await appendFile(file, '\n');
    expect(await judge(folder)).toBe('wrong_source_hash');
    await writeFile(file, '');
    expect(await judge(folder)).toBe('wrong_source_hash');
  });

  test('is found by its hash under any name, and only by its hash', async () => {
    const folder = newFolder();
    await writeContract(folder, template('Ledger'), { layout: 'v1' });
    const stored = join(folder, 'sources', 'contracts', 'Sums.sol');
    await rename(stored, join(folder, 'sources', 'renamed by hand'));
    expect(await judge(folder)).toBe('sound');
    await appendFile(join(folder, 'sources', 'renamed by hand'), ' ');
    expect(await judge(folder)).toBe('missing_source');
  });

  test('may be inlined in the metadata with the correct hash', async () => {
    const content = 'contract Example {} // é';
    const listed = (keccak256: string) => ({ sources: { 'a.sol': { keccak256, content } } });
    const sound = newFolder();
    await writeContract(
      sound,
      { ...made({ 'a.sol': content }, listed(hashText(content))), sources: {} },
      { layout: 'v1' },
    );
    expect((await read(sound)).compilation.sources).toEqual([{ path: 'a.sol', content }]);
    const wrong = newFolder();
    await writeContract(
      wrong,
      { ...made({ 'a.sol': content }, listed(hashText('other'))), sources: {} },
      { layout: 'v1' },
    );
    expect(await judge(wrong)).toBe('wrong_source_hash');
  });

  test('keeps its byte order mark and line endings', async () => {
    const content = '\ufeffcontract Example {}\r\n';
    const folder = newFolder();
    await writeContract(folder, made({ 'a.sol': content }), { layout: 'v2' });
    expect((await read(folder)).compilation.sources).toEqual([{ path: 'a.sol', content }]);
  });

  test('is rejected if the database cannot store it: invalid UTF-8 or U+0000', async () => {
    for (const [bytes, reason] of [
      [Buffer.from([0x2f, 0x2f, 0xff]), 'invalid_utf8'],
      [Buffer.from('a\0b'), 'nul_character'],
    ] as const) {
      const folder = newFolder();
      const hash = bytesToHex(keccak256(bytes));
      const listed = { sources: { 'a.sol': { keccak256: hash } } };
      await writeContract(folder, made({ 'a.sol': '' }, listed), { layout: 'v1' });
      await writeFile(join(folder, 'sources', 'a.sol'), bytes);
      expect(await judge(folder)).toBe(reason);
    }
  });
});

describe('a source name', () => {
  const secret = 'the operator keeps this beside the tree';

  /** Creates a folder whose metadata lists the name with the hash of a file outside the folder. */
  async function temptation(name: string): Promise<string> {
    const folder = newFolder();
    await writeFile(join(root, 'secret.txt'), secret);
    await writeContract(folder, { ...made({ [name]: secret }), sources: {} }, { layout: 'v1' });
    return folder;
  }

  test.each(hostileNames)(
    '%j is never treated as a path: nothing outside the folder is read',
    async (name) => {
      expect(['missing_source', 'path_outside_tree']).toContain(
        await judge(await temptation(name)),
      );
    },
  );

  test.each(['../secret.txt', '../../secret.txt', `../../../../../../${tmpdir()}`])(
    '%j pointing to a file with the expected hash is rejected',
    async (name) => {
      expect(await judge(await temptation(name))).toBe('path_outside_tree');
    },
  );

  test.each(hostileNames)(
    '%j is kept unchanged if the folder contains its source',
    async (name) => {
      const folder = newFolder();
      await writeContract(folder, made({ [name]: secret }), { layout: 'v2' });
      expect((await read(folder)).compilation.sources).toEqual([{ path: name, content: secret }]);
    },
  );

  test('of any form never reads outside the folder and never aborts the run', async () => {
    const segment = fc.constantFrom('..', '.', '', 'secret.txt', 'sources', '\\', '@x', 'c:', '~');
    const anyName = fc.oneof(
      fc.array(segment, { maxLength: 8 }).map((segments) => segments.join('/')),
      fc.string({ unit: 'grapheme' }),
    );
    await fc.assert(
      fc.asyncProperty(anyName, async (name) => {
        fc.pre(!name.includes('\0'));
        expect(['missing_source', 'path_outside_tree']).toContain(
          await judge(await temptation(name)),
        );
      }),
      { numRuns: 60 },
    );
  });

  test.each(['../secret.txt', '/etc/passwd', 'a/../../secret.txt', 'C:\\secret.txt'])(
    'is not resolved where path-translation.json says %j',
    async (stored) => {
      const folder = await temptation('a.sol');
      await writeFile(join(folder, 'path-translation.json'), JSON.stringify({ 'a.sol': stored }));
      expect(await judge(folder)).toBe('path_outside_tree');
    },
  );
});

describe('limits', () => {
  test('reject files that are too large, singly or in total, and too many or too deep ones', async () => {
    const folder = newFolder();
    await writeContract(folder, template('Badge'), { layout: 'v1' });
    expect(await judge(folder, { metadataBytes: 1000 })).toBe('file_too_large');
    expect(await judge(folder, { sourceBytes: 1000 })).toBe('file_too_large');
    expect(await judge(folder, { factBytes: 10 })).toBe('file_too_large');
    expect(await judge(folder, { contractBytes: 20_000 })).toBe('file_too_large');
    expect(await judge(folder, { entriesPerContract: 10 })).toBe('too_many_files');
    expect(await judge(folder, { folderDepth: 2 })).toBe('too_many_files');
    expect(await judge(folder)).toBe('sound');
  });
});

describe('a file that cannot be read', () => {
  test.runIf(process.getuid?.() === 0)('without permission is unreadable', async () => {
    await chmod(root, 0o755);
    const folder = newFolder();
    await writeContract(folder, template('Greeter'), { layout: 'v1' });
    await chmod(join(folder, 'metadata.json'), 0o000);
    // Root may read everything, so the importer runs as an unprivileged user.
    process.seteuid!(65534);
    try {
      expect(await judge(folder)).toBe('unreadable');
    } finally {
      process.seteuid!(0);
    }
  });

  test('after its deletion is unreadable', async () => {
    expect(await judge(join(root, 'nowhere'))).toBe('unreadable');
  });
});
