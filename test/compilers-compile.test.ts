import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCompilers, type Compilers } from '../src/compilers/compilers.ts';
import { narrowOutputSelection } from '../src/compilers/output-selection.ts';
import {
  type ContractOutput,
  type StandardJsonInput,
  type StandardJsonOutput,
} from '../src/solidity/standard-json.ts';
import { FullmatchError } from '../src/errors.ts';
import { silentLogger } from '../src/log.ts';
import { compileInChild, type SolcVersion } from './support/compile-in-child.ts';
import { SOLC_PACKAGES, SOLC_VERSIONS } from './support/solc-packages.ts';
import { IS_SLOW_SUITE, versionsOfSuite } from './support/suite.ts';
import { compileParsed } from './support/compile-parsed.ts';

const NEWEST = '0.8.37';
/** Emscripten reserves four bytes per character of a string on its 5 MiB stack: at most 1,310,720 fit. */
const TOO_MANY_LETTERS = 1_320_000;
/** One version for each way of passing strings to a compiler; 0.8.24 and later accept any length. */
const HAS_A_SMALL_STACK = new Set(
  ['0.4.11', '0.4.26', '0.5.17', '0.6.12', '0.8.4'].map((release) =>
    SOLC_VERSIONS.find((version) => version.startsWith(`${release}+`)),
  ),
);

let compilers: Compilers;
beforeAll(async () => {
  compilers = await createCompilers({ sources: { packages: SOLC_PACKAGES } }, silentLogger);
});
afterAll(() => compilers.close());

function inputOf(
  content: string,
  settings: Record<string, unknown> = {},
  name = 'a.sol',
): StandardJsonInput {
  return {
    language: 'Solidity',
    sources: { [name]: { content } },
    settings: {
      outputSelection: { '*': { '*': ['abi', 'metadata', 'evm.bytecode.object'] } },
      ...settings,
    },
  };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'compiled';
  } catch (error) {
    return error instanceof FullmatchError ? error.code : String(error);
  }
}

function contractOf(output: StandardJsonOutput, name = 'A', source = 'a.sol'): ContractOutput {
  const contract = output.contracts?.[source]?.[name];
  if (contract === undefined) throw new Error(JSON.stringify(output.errors));
  return contract;
}

/**
 * Every kind of output that a verification reads: a library, a created contract, state, a constructor, an
 * immutable.
 */
function richSource(version: string): string {
  const [, minor] = version.split('.').map(Number);
  const immutable = minor !== undefined && minor >= 7;
  return `pragma solidity >=0.4.11;
library L { function twice(uint v) public ${minor === 4 ? '' : 'pure'} returns (uint) { return v * 2; } }
contract B { uint public b = 1; }
contract A {
  uint public x; ${immutable ? 'uint immutable y;' : ''}
  ${minor === 4 ? 'function A(uint v)' : 'constructor(uint v)'} public { x = v; ${immutable ? 'y = v;' : ''} new B(); }
  function f(uint v) public returns (uint) { x = L.twice(v) ${immutable ? '+ y' : ''}; return x; }
}`;
}

/** The newest compiler in the fast suite, the others in the slow one. */
const versionsHere = <V extends string>(all: readonly V[]): readonly V[] =>
  versionsOfSuite(all, [NEWEST]);

describe.each(versionsHere(SOLC_VERSIONS))('Solidity %s', (version) => {
  test('produces the same bytecode as its npm package', async () => {
    const settings = {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['metadata', 'evm.bytecode', 'evm.deployedBytecode'] } },
    };
    const input = inputOf(richSource(version), settings);
    const { output, version: compiledBy } = await compileParsed(compilers, {
      language: 'solidity',
      version,
      input,
    });
    const short = version.split('+')[0] as SolcVersion;
    const [expected = {}] = await compileInChild<StandardJsonOutput>(short, [input]);
    expect(compiledBy).toBe(version);
    for (const name of ['A', 'B', 'L']) {
      const [ours, theirs] = [contractOf(output, name), contractOf(expected, name)];
      expect(ours.metadata).toBe(theirs.metadata);
      expect(ours.evm?.bytecode?.object).toBe(theirs.evm?.bytecode?.object);
      expect(ours.evm?.deployedBytecode?.object).toBe(theirs.evm?.deployedBytecode?.object);
    }
  });

  test('accepts the narrowed output selection and produces the same bytecode', async () => {
    const input = inputOf(richSource(version), {
      outputSelection: { '*': { '*': ['*'], '': ['*'] } },
    });
    const compile = async (of: StandardJsonInput): Promise<StandardJsonOutput> =>
      (await compileParsed(compilers, { language: 'solidity', version, input: of })).output;
    const whole = contractOf(await compile(input));
    const narrowed = await compile(narrowOutputSelection(input, { path: 'a.sol', name: 'A' }));
    const contract = contractOf(narrowed);
    expect(narrowed.errors?.filter(({ severity }) => severity === 'error') ?? []).toEqual([]);
    expect(contract.evm?.bytecode).toMatchObject({
      object: whole.evm?.bytecode?.object,
      sourceMap: whole.evm?.bytecode?.sourceMap,
      linkReferences: whole.evm?.bytecode?.linkReferences,
    });
    expect(contract.evm?.deployedBytecode).toMatchObject({
      object: whole.evm?.deployedBytecode?.object,
      linkReferences: whole.evm?.deployedBytecode?.linkReferences,
    });
    expect(contract.metadata).toBe(whole.metadata);
    expect(contract.abi).toEqual(whole.abi);
    expect(contract.userdoc).toEqual(whole.userdoc);
    expect(contract.devdoc).toEqual(whole.devdoc);
    expect(contract.evm?.legacyAssembly).toBeTruthy();
    expect(contract.evm?.deployedBytecode?.immutableReferences).toEqual(
      whole.evm?.deployedBytecode?.immutableReferences,
    );
    expect(contract.storageLayout).toEqual(whole.storageLayout);
  });

  test.runIf(HAS_A_SMALL_STACK.has(version))(
    'repeatedly compiles more than its stack can hold',
    async () => {
      const content = `contract A { function f() public {} } /* ä${'a'.repeat(TOO_MANY_LETTERS)} */`;
      const objects = new Set<string | undefined>();
      for (let turn = 0; turn < 2; turn += 1) {
        const input = inputOf(content);
        const { output } = await compileParsed(compilers, { language: 'solidity', version, input });
        objects.add(contractOf(output).evm?.bytecode?.object);
      }
      expect(objects.size).toBe(1);
    },
  );

  test('returns the errors of the sources and follows no import', async () => {
    const compile = (content: string): Promise<{ output: StandardJsonOutput }> =>
      compileParsed(compilers, { language: 'solidity', version, input: inputOf(content) });
    if (version.startsWith('0.4.11+')) {
      // Its npm package aborts too: the first release with standard JSON crashes while formatting an error.
      expect(await codeOf(compile('contract A { uint x = ; }'))).toBe('compiler_crashed');
      return;
    }
    const broken = (await compile('contract A { uint x = ; }')).output;
    expect(broken.errors?.some(({ severity }) => severity === 'error')).toBe(true);
    const missing = (await compile('import "/etc/passwd"; contract A {}')).output;
    const messages = missing.errors?.map(({ message }) => message) ?? [];
    expect(messages.some((message) => message.includes('not found'))).toBe(true);
    expect(JSON.stringify(missing)).not.toContain('root:');
    expect(await codeOf(compile('import "https://host.example/b.sol"; contract A {}'))).toBe(
      'invalid_compiler_input',
    );
    expect(await codeOf(compile('/* import "https://host.example/b.sol"; */ contract A {}'))).toBe(
      'compiled',
    );
  });
});

describe('the compiler pool', () => {
  test('compiles Yul', async () => {
    const content = 'object "A" { code { sstore(0, 1) } object "R" { code { sstore(0, 2) } } }';
    const input = {
      language: 'Yul',
      sources: { 'a.yul': { content } },
      settings: { outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
    };
    for (const version of versionsHere(['0.5.17', '0.8.4', NEWEST])) {
      const target = { path: 'a.yul', name: 'A' };
      const { output } = await compileParsed(compilers, {
        language: 'yul',
        version,
        input: narrowOutputSelection(input, target),
      });
      expect(contractOf(output, 'A', 'a.yul').evm?.bytecode?.object).toMatch(/^[0-9a-f]+$/);
    }
  });

  test.skipIf(IS_SLOW_SUITE)('rejects unsupported input with an error code', async () => {
    const compile = (more: object): Promise<unknown> =>
      compileParsed(compilers, {
        language: 'solidity',
        version: NEWEST,
        input: inputOf('contract A {}'),
        ...more,
      });
    expect(await codeOf(compile({ language: 'fe' }))).toBe('unsupported_language');
    expect(await codeOf(compile({ version: 'newest' }))).toBe('invalid_compiler_version');
    expect(await codeOf(compile({ version: '0.8.36' }))).toBe('unsupported_compiler_version');
    expect(await codeOf(compile({ version: '0.9.0' }))).toBe('unsupported_compiler_version');
    const modelChecker = inputOf('contract A {}', { modelChecker: { engine: 'all' } });
    expect(await codeOf(compile({ input: modelChecker }))).toBe('invalid_compiler_input');
  });

  test('keeps no state between inputs', async () => {
    const compile = async (content: string, version: string): Promise<StandardJsonOutput> =>
      (await compileParsed(compilers, { language: 'solidity', version, input: inputOf(content) }))
        .output;
    for (const version of versionsHere(['0.4.24', '0.5.17', '0.6.12', NEWEST])) {
      const alone = await compile('contract A { function f() public {} }', version);
      await compile(
        'contract Z { function g() public { uint x; x; } } contract Y is Z {}',
        version,
      );
      await compile('contract A { uint x = ', version);
      expect(await compile('contract A { function f() public {} }', version)).toEqual(alone);
    }
  });

  test.skipIf(IS_SLOW_SUITE)('treats hostile source names as plain names', async () => {
    for (const name of [
      '../../etc/passwd',
      '__proto__',
      'a\r\nb.sol',
      'x'.repeat(5000),
      'ä"\\.sol',
    ]) {
      const sources = JSON.parse(
        `{${JSON.stringify(name)}: {"content": "contract A {}"}}`,
      ) as StandardJsonInput['sources'];
      const { output } = await compileParsed(compilers, {
        language: 'solidity',
        version: NEWEST,
        input: { ...inputOf(''), sources },
      });
      expect(Object.keys(output.contracts ?? {})).toEqual([name]);
    }
  });

  test.skipIf(IS_SLOW_SUITE)(
    'compiles several inputs at once, with the same and different versions',
    async () => {
      const versions = [NEWEST, NEWEST, NEWEST, '0.8.30', '0.8.30', '0.7.6', NEWEST, '0.7.6'];
      const results = await Promise.all(
        versions.map((version, index) =>
          compileParsed(compilers, {
            language: 'solidity',
            version,
            input: inputOf(`contract C${index} { uint public x = ${index}; }`),
          }),
        ),
      );
      results.forEach(({ output, version }, index) => {
        expect(version.startsWith(`${versions[index] ?? ''}+`)).toBe(true);
        expect(Object.keys(output.contracts?.['a.sol'] ?? {})).toEqual([`C${index}`]);
      });
      expect(compilers.describe()).toMatchObject({ running: 0, waiting: 0 });
    },
  );
});

describe('a root source compiled with its imports', () => {
  const open = 'pragma solidity >=0.7.5;\n';
  const sources = {
    'z.sol': { content: `${open}import "b.sol"; import "a.sol"; contract Z is B {}` },
    'b.sol': { content: `${open}abstract contract B { uint public b = 1; }` },
    'a.sol': { content: `${open}contract A {}` },
  };
  const compile = async (version: string, rootSource?: string, given: object = sources) => {
    const outputSelection = { 'z.sol': { Z: ['metadata', 'evm.bytecode.object'], '': ['ast'] } };
    const input = { ...inputOf(''), sources: { ...given }, settings: { outputSelection } };
    const asked = { language: 'solidity', version, input };
    const { output } = await compileParsed(compilers, {
      ...asked,
      ...(rootSource && { rootSource }),
    });
    return output;
  };

  test.each(versionsHere(['0.7.6', '0.8.9', '0.8.20', NEWEST]))(
    'is read first (%s)',
    async (version) => {
      const [byName, fromRoot] = [await compile(version), await compile(version, 'z.sol')];
      // AST nodes are numbered in the order in which files are read.
      const idOf = ({ sources: written }: StandardJsonOutput): number =>
        (written?.['z.sol']?.['ast'] as { readonly id: number }).id;
      expect(idOf(fromRoot)).toBeLessThan(idOf(byName));
      expect(contractOf(fromRoot, 'Z', 'z.sol').metadata).toBe(
        contractOf(byName, 'Z', 'z.sol').metadata,
      );
      // The compiler keeps no state for the next caller.
      expect(await compile(version)).toEqual(byName);
    },
  );

  test.skipIf(IS_SLOW_SUITE)('finds only the sources of the input', async () => {
    const { errors = [] } = await compile(NEWEST, 'z.sol', { 'z.sol': sources['z.sol'] });
    const faults = errors.filter(({ severity }) => severity === 'error');
    expect(faults.map(({ message }) => message)).toEqual([
      'Source "b.sol" not found: File not found.',
      'Source "a.sol" not found: File not found.',
    ]);
  });
});
