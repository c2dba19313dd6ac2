import path from 'node:path';
import { copyFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCompilers, type Compilers } from '../src/compilers/compilers.ts';
import { toOldCall, toStandardOutput } from '../src/compilers/processes/child/old-interface.mjs';
import { narrowOutputSelection } from '../src/compilers/output-selection.ts';
import { SOLIDITY_CATALOGUE } from '../src/compilers/sources/solidity-catalogue.ts';
import { FullmatchError } from '../src/errors.ts';
import { silentLogger } from '../src/log.ts';
import {
  type ContractOutput,
  type StandardJsonInput,
  type StandardJsonOutput,
} from '../src/solidity/standard-json.ts';
import { compileWithPackage } from './support/compile-in-child.ts';
import { OLD_SOLC_VERSIONS, SOLC_PACKAGES, solcPackageOf } from './support/solc-packages.ts';
import { IS_SLOW_SUITE, versionsOfSuite } from './support/suite.ts';
import { createTemporaryFolder } from './support/temporary-folder.ts';
import { compileParsed } from './support/compile-parsed.ts';

const V0_3_6 = '0.3.6+commit.3fc68da5';
const V0_4_6 = '0.4.6+commit.2dabbdf0';
const V0_4_9 = '0.4.9+commit.364da425';

let compilers: Compilers;
beforeAll(async () => {
  compilers = await createCompilers({ sources: { packages: SOLC_PACKAGES } }, silentLogger);
});
afterAll(() => compilers.close());

function inputOf(
  sources: Readonly<Record<string, string>>,
  settings: Record<string, unknown> = {},
): StandardJsonInput {
  return {
    language: 'Solidity',
    sources: Object.fromEntries(
      Object.entries(sources).map(([name, content]) => [name, { content }]),
    ),
    settings,
  };
}

async function compile(version: string, input: StandardJsonInput): Promise<StandardJsonOutput> {
  return (await compileParsed(compilers, { language: 'solidity', version, input })).output;
}

function contractOf(output: StandardJsonOutput, source: string, name: string): ContractOutput {
  const contract = output.contracts?.[source]?.[name];
  if (contract === undefined) throw new Error(JSON.stringify(output.errors));
  return contract;
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'compiled';
  } catch (error) {
    return error instanceof FullmatchError ? error.code : String(error);
  }
}

/** Several sources, a nested contract, a library and a constructor. */
const SOURCES = {
  'token/a.sol': `import "token/b.sol";
contract A is B { function A(uint v) { x = v; new C(); } function f(uint v) returns (uint) { return Sums.twice(v); } }`,
  'token/b.sol': `library Sums { function twice(uint v) returns (uint) { return v * 2; } }
contract B { uint public x; }
contract C { uint public c = 1; }`,
};

/** The contract with the fewest outputs in the fast suite, the others in the slow one. */
const VERSIONS = versionsOfSuite(OLD_SOLC_VERSIONS, [V0_3_6]);

describe.each(VERSIONS)('Solidity %s', (version) => {
  test('produces the same bytecode as its npm package, with and without the optimizer', async () => {
    const inputs = [false, true].map((enabled) =>
      inputOf(SOURCES, { optimizer: { enabled, runs: 200 } }),
    );
    const npmPackage = path.basename(solcPackageOf(version));
    const all = await compileWithPackage<StandardJsonOutput>(npmPackage, version, inputs);
    for (const [index, input] of inputs.entries()) {
      const output = await compile(version, input);
      const theirs = all[index]!;
      expect(Object.keys(output.sources ?? {})).toEqual(Object.keys(SOURCES));
      for (const [source, name] of [
        ['token/a.sol', 'A'],
        ['token/b.sol', 'B'],
        ['token/b.sol', 'C'],
        ['token/b.sol', 'Sums'],
      ] as const) {
        const contract = contractOf(output, source, name);
        // solc's own translation of inputs supports no paths before 0.4.9.
        const expected = theirs.contracts?.[source]?.[name] ?? theirs.contracts?.['']?.[name];
        expect(contract.abi).toEqual(expected?.abi);
        // Metadata exists since 0.4.7.
        expect(typeof contract.metadata).toBe(version === V0_4_9 ? 'string' : 'undefined');
        expect(contract.metadata).toBe(expected?.metadata);
        for (const code of ['bytecode', 'deployedBytecode'] as const) {
          expect(contract.evm?.[code]?.object).toMatch(/^6[05]/);
          expect(contract.evm?.[code]?.object).toBe(expected?.evm?.[code]?.object);
        }
        expect(contract.evm?.legacyAssembly).toBeTruthy();
      }
    }
  });

  test('reports where a library is linked, by source and name', async () => {
    const { evm } = contractOf(await compile(version, inputOf(SOURCES)), 'token/a.sol', 'A');
    const { object = '', linkReferences } = evm?.deployedBytecode ?? {};
    const at = object.indexOf('__') / 2;
    expect(linkReferences).toEqual({ 'token/b.sol': { Sums: [{ start: at, length: 20 }] } });
    expect(evm?.bytecode?.linkReferences?.['token/b.sol']?.['Sums']).toHaveLength(1);
  });

  test('returns the same for a narrowed output selection', async () => {
    const input = inputOf(SOURCES);
    const narrowed = narrowOutputSelection(input, { path: 'token/a.sol', name: 'A' });
    expect(await compile(version, narrowed)).toEqual(await compile(version, input));
  });

  test('returns the errors of the sources and follows no import', async () => {
    const broken = await compile(version, inputOf({ 'a.sol': 'contract A { uint x = ; }' }));
    expect(broken.contracts).toBeUndefined();
    expect(broken.errors?.map(({ severity }) => severity)).toContain('error');
    expect(broken.errors?.[0]?.formattedMessage).toContain('a.sol:1:');
    const importing = (url: string): Promise<StandardJsonOutput> =>
      compile(version, inputOf({ 'a.sol': `import "${url}"; contract A {}` }));
    const missing = await importing('/etc/passwd');
    expect(missing.errors?.some(({ message }) => message.includes('not found'))).toBe(true);
    expect(JSON.stringify(missing)).not.toContain('root:');
    expect(await codeOf(importing('https://host.example/b.sol'))).toBe('invalid_compiler_input');
  });

  test('separates warnings from errors', async () => {
    const content = 'contract A { function f() returns (uint) { return 1; } }';
    const output = await compile(version, inputOf({ 'a.sol': content }));
    expect(contractOf(output, 'a.sol', 'A').evm?.bytecode?.object).toMatch(/^6[05]/);
    const severities = (output.errors ?? []).map(({ severity }) => severity);
    expect(new Set(severities)).toEqual(new Set(version === V0_3_6 ? [] : ['warning']));
  });

  test('keeps names that are properties of every object', async () => {
    const sources = { ['__proto__']: 'contract constructor {}', 'a.sol': 'contract A {}' };
    const input = inputOf(sources);
    const output = await compile(version, input);
    expect(Object.keys(output.contracts ?? {}).sort()).toEqual(['__proto__', 'a.sol']);
    expect(Object.keys(output.contracts?.['__proto__'] ?? {})).toEqual(['constructor']);
  });

  test('compiles only Solidity', async () => {
    const input = { ...inputOf({ 'a.yul': '{ sstore(0, 1) }' }), language: 'Yul' };
    const { output } = await compileParsed(compilers, { language: 'yul', version, input });
    expect(output.contracts).toBeUndefined();
    expect(output.errors).toHaveLength(1);
  });

  test('compiles repeatedly, and more than its stack can hold', async () => {
    const content = `contract A { function f() {} } /* ${'a'.repeat(1_320_000)} */`;
    const objects = new Set<string | undefined>();
    for (let turn = 0; turn < 2; turn += 1) {
      const output = await compile(version, inputOf({ 'a.sol': content }));
      objects.add(contractOf(output, 'a.sol', 'A').evm?.bytecode?.object);
    }
    expect(objects.size).toBe(1);
  });
});

describe.skipIf(IS_SLOW_SUITE)('differences between versions', () => {
  test('sources built into 0.3.6 are not part of the compilation', async () => {
    const output = await compile(
      V0_3_6,
      inputOf({ 'a.sol': 'import "mortal"; contract A is mortal {}' }),
    );
    expect(Object.keys(output.sources ?? {})).toEqual(['a.sol']);
    expect(Object.keys(output.contracts ?? {})).toEqual(['a.sol']);
  });

  test('of two contracts with one name, the one that 0.4.6 compiles keeps its source', async () => {
    const sources = { 'a.sol': 'contract A { uint a; function f() {} }', 'b.sol': 'contract A {}' };
    const both = await compile(V0_4_6, inputOf(sources));
    const paths = Object.keys(both.contracts ?? {});
    expect(paths).toHaveLength(1);
    const [only = ''] = paths;
    const alone = await compile(V0_4_6, inputOf({ [only]: sources[only as keyof typeof sources] }));
    const objectOf = (output: StandardJsonOutput): unknown =>
      contractOf(output, only, 'A').evm?.bytecode?.object;
    expect(objectOf(both)).toBe(objectOf(alone));
  });

  test('libraries whose names are cut to the same placeholder are not linked by guessing', async () => {
    const long = 'ALibraryWithANameOfMoreThanThirtySixBytes';
    const content = `library ${long}1 { function f() returns (uint) { return 1; } }
library ${long}2 { function f() returns (uint) { return 2; } }
contract A { function g() returns (uint) { return ${long}1.f() + ${long}2.f(); } }`;
    const output = await compile(V0_4_6, inputOf({ 'a.sol': content }));
    expect(contractOf(output, 'a.sol', 'A').evm?.bytecode?.linkReferences).toEqual({});
  });
});

describe.skipIf(IS_SLOW_SUITE)('the file of an old compiler', () => {
  test('is read from a folder by its long version and matches the catalogue', async () => {
    const folder = await createTemporaryFolder();
    try {
      const soljson = path.join(solcPackageOf(V0_3_6), 'soljson.js');
      await copyFile(soljson, path.join(folder.path, `soljson-v${V0_3_6}.js`));
      // A native build of this age has no standard JSON.
      await writeFile(path.join(folder.path, `solc-linux-amd64-v${V0_4_9}`), '', { mode: 0o755 });
      const sources = { directory: folder.path, packages: [] };
      const local = await createCompilers({ sources }, silentLogger);
      try {
        expect(await local.listUsable()).toEqual([
          { compiler: 'solc', longVersion: V0_3_6, isInstalled: true, isPinned: true },
        ]);
        const input = inputOf({ 'a.sol': 'contract A {}' });
        const { version } = await compileParsed(local, {
          language: 'solidity',
          version: '0.3.6',
          input,
        });
        expect(version).toBe(V0_3_6);
        expect(
          await codeOf(compileParsed(local, { language: 'solidity', version: '0.4.9', input })),
        ).toBe('unsupported_compiler_version');
      } finally {
        await local.close();
      }
    } finally {
      await folder.remove();
    }
  });

  test('is pinned for every release from 0.1.3 on', () => {
    const old = SOLIDITY_CATALOGUE.filter(({ longVersion }) =>
      /^0\.(?:[1-3]\.|4\.(?:\d|10)\+)/.test(longVersion),
    );
    expect(old).toHaveLength(26);
    for (const { sha256, keccak256, npmSha256 } of old) {
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(keccak256).toMatch(/^[0-9a-f]{64}$/);
      expect([undefined, sha256]).toContain(npmSha256);
    }
  });
});

test.skipIf(IS_SLOW_SUITE)('reports a compiler that only takes a single source', () => {
  // Builds before 0.1.6 have a single function, which takes the source text.
  const one = inputOf({ 'a.sol': 'contract A {}' }, { optimizer: { enabled: true } });
  expect(toOldCall(one, false)).toEqual({ text: 'contract A {}', isOptimised: true });
  expect(toOldCall(inputOf({ 'a.sol': '', 'b.sol': '' }), false)).toHaveProperty('fault');
  // Output of 0.1.3: the source has no name, and contracts are nested.
  const tree = {
    children: [
      {
        name: 'Contract',
        attributes: { name: 'A' },
        children: [{ name: 'Contract', attributes: { name: 'B' } }],
      },
    ],
  };
  const code = { interface: '[]', bytecode: '6001', runtimeBytecode: '01', assembly: {} };
  const output = toStandardOutput(
    { sources: { '': { AST: tree } }, contracts: { A: code, B: code } },
    one,
  );
  expect(Object.keys(output.contracts?.['a.sol'] ?? {})).toEqual(['A', 'B']);
  expect(
    toStandardOutput({ error: ':1:1: Parser error: Source not found.\nimport "b";\n' }, one),
  ).toEqual({
    errors: [
      {
        ...{ severity: 'error', type: 'Parser error', component: 'general' },
        ...{
          message: 'Source not found.',
          formattedMessage: ':1:1: Parser error: Source not found.\nimport "b";\n',
        },
      },
    ],
  });
});
