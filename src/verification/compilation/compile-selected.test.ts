import { afterAll, describe, expect, test } from 'vitest';
import { compileInChild, type SolcVersion } from '../../../test/support/compile-in-child.ts';
import { hexToBytes } from '../../lib/hex.ts';
import { type StandardJsonOutput } from '../../solidity/standard-json.ts';
import { chooseTarget } from './choose-target.ts';
import { type CompilationTask } from './compilation-task.ts';
import { compileTarget, type ContractCompiler } from './compile-contract.ts';
import { createJobReader } from './job-reader.ts';

const reader = createJobReader();
afterAll(() => reader.close());
const { signal } = new AbortController();

/** The installed Solidity compilers, with a count of their calls. */
function countingCompilers(): ContractCompiler & { readonly count: () => number } {
  let count = 0;
  return {
    count: () => count,
    prepare: () => () => undefined,
    listVersions: () => Promise.resolve([]),
    obtain: () => Promise.resolve(undefined),
    compileToBytes: async ({ version, input }) => {
      count += 1;
      const [output] = await compileInChild<StandardJsonOutput>(version as SolcVersion, [input]);
      return { bytes: Buffer.from(JSON.stringify(output)), version, compileTimeMs: 1 };
    },
  };
}

const ALL = { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } };

function taskOf(
  version: SolcVersion,
  sources: Readonly<Record<string, string>>,
  path: string,
  name: string,
  outputSelection: unknown = ALL,
): CompilationTask {
  const contents = Object.entries(sources).map(([each, body]) => {
    return [each, { content: `pragma solidity >=0.4.11;\n${body}` }] as const;
  });
  return {
    language: 'solidity',
    version,
    target: { path, name },
    input: { language: 'Solidity', sources: Object.fromEntries(contents), settings: {} },
    outputSelection,
  };
}

/** Compiles the creation bytecode as the submitter's compiler would. */
async function creationOf({ version, input, target, outputSelection }: CompilationTask) {
  const own = { ...input, settings: { ...input.settings, outputSelection } };
  const [output] = await compileInChild<StandardJsonOutput>(version as SolcVersion, [own]);
  return output?.contracts?.[target.path]?.[target.name]?.evm;
}

const MAKER = (body: string) => ({
  'base.sol': `contract Part { uint public size = 3; } abstract contract Factory { ${body} }`,
  'main.sol': 'import "./base.sol"; contract Main is Factory { uint public count; }',
});
const LIBRARY = {
  'lib.sol':
    'contract Part { uint public size = 3; } library Parts { function make() internal returns (address) { return address(new Part()); } }',
  'main.sol':
    'import "./lib.sol"; contract Main { function make() public returns (address) { return Parts.make(); } }',
};
/** When analysis starts at `main.sol`, the contract precedes its base. */
const CYCLE = {
  'a.sol': 'import "./b.sol"; contract Derived is Base { uint immutable more = 4; uint public x; }',
  'b.sol':
    'import "./a.sol"; contract Base { uint immutable kept = 3; function k() public view returns (uint) { return kept; } }',
  'main.sol': 'import "./b.sol"; contract Main is Derived {}',
};

describe('Contract that the compiler rejects when selected alone', () => {
  test.each<readonly [SolcVersion, string, Readonly<Record<string, string>>]>([
    [
      '0.6.12',
      'its base creates another',
      MAKER('function f() public returns (Part) { return new Part(); }'),
    ],
    [
      '0.5.17',
      'its base with an open function creates another',
      {
        'base.sol':
          'contract Part { uint public size = 3; } contract Factory { Part p; constructor() public { p = new Part(); } function f() public; }',
        'main.sol': 'import "./base.sol"; contract Main is Factory { function f() public {} }',
      },
    ],
    ['0.7.6', 'a library creates another', LIBRARY],
    ['0.8.37', 'its files import each other', CYCLE],
  ])('is compiled together with others (%s: %s)', async (version, _, sources) => {
    const task = taskOf(version, sources, 'main.sol', 'Main');
    const compilers = countingCompilers();
    const compiled = await compileTarget({ compilers, reader }, task, task.input, signal);
    const own = await creationOf(task);
    expect(compiled.evm.bytecode.object).toBe(own?.bytecode?.object);
    expect(compiled.codes.runtime.code).toBe(own?.deployedBytecode?.object);
  });

  test('keeps immutable types from files analyzed in the same order', async () => {
    const task = taskOf('0.8.37', CYCLE, 'main.sol', 'Main');
    const { codes } = await compileTarget(
      { compilers: countingCompilers(), reader },
      task,
      task.input,
      signal,
    );
    const declared = Object.values(codes.runtime.immutableTypes ?? {}).map(({ name }) => name);
    expect(declared).toContain('kept');
  });
});

test('compiles a contract alone if that succeeds', async () => {
  const task = taskOf('0.8.37', { 'main.sol': 'contract Main {}' }, 'main.sol', 'Main');
  const compilers = countingCompilers();
  await compileTarget({ compilers, reader }, task, task.input, signal);
  expect(compilers.count()).toBe(1);
});

test('does not compare Solar output without immutable references', async () => {
  // Like the output of Solar 0.2.0 with `-Zcodegen`: the bytecode has an immutable, but no reference to it.
  const evm = { bytecode: { object: '60808060093d393df3' }, deployedBytecode: { object: '6000' } };
  const output = {
    contracts: { 'main.sol': { Main: { evm } } },
    sources: { 'main.sol': { id: 0 } },
  };
  const version = '0.8.39+commit.abcdef12.solar.0.4.0';
  const task = {
    ...taskOf('0.8.37', { 'main.sol': 'contract Main {}' }, 'main.sol', 'Main'),
    version,
  };
  const compilers: ContractCompiler = {
    ...countingCompilers(),
    compileToBytes: () =>
      Promise.resolve({ bytes: Buffer.from(JSON.stringify(output)), version, compileTimeMs: 1 }),
  };
  await expect(
    compileTarget({ compilers, reader }, task, task.input, signal),
  ).rejects.toMatchObject({
    code: 'unsupported_compiler_version',
    message: expect.stringContaining('no linkReferences and no immutableReferences') as string,
  });
});

test('reports the failure of the narrowest selection if none compiles', async () => {
  const task = taskOf(
    '0.8.37',
    { 'main.sol': 'contract Main { uint x = y; }' },
    'main.sol',
    'Main',
  );
  const compiling = compileTarget(
    { compilers: countingCompilers(), reader },
    task,
    task.input,
    signal,
  );
  await expect(compiling).rejects.toMatchObject({
    code: 'compiler_error',
    message: expect.stringContaining('Undeclared identifier') as string,
  });
});

test('matches a contract from the submitted selection although another does not compile', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `uint a${index}`);
  const sources = {
    'big.sol': `contract Big { function f(${names.join(', ')}) public pure returns (uint) { uint b = a0; return a19 + b; } }`,
    'main.sol': 'contract Main { uint public size = 3; }',
  };
  const outputSelection = { 'main.sol': { Main: ['evm.deployedBytecode.object'] } };
  const task = taskOf('0.8.37', sources, 'main.sol', 'Main', outputSelection);
  const own = await creationOf(task);
  const onChain = hexToBytes(own?.deployedBytecode?.object ?? '');
  const found = await chooseTarget(
    { compilers: countingCompilers(), reader },
    { ...task, target: { path: '', name: '' } },
    onChain,
    signal,
  );
  expect(found).toEqual({ path: 'main.sol', name: 'Main' });
});
