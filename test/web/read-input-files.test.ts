import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesToHex } from '../../src/lib/hex.ts';
import { keccak256 } from '../../src/lib/keccak.ts';
import { compilationOf, type UsableInputFiles } from '../../src/solidity/detected-compilation.ts';
import { readInputFiles, withoutOutput } from '../../src/solidity/read-input-files.ts';
import {
  NO_SETTINGS,
  buildRequest,
  fillFields,
  findFaults,
} from '../../web/src/verify/verify-form.ts';

const file = (path: string, value: unknown): { path: string; text: string } => ({
  path,
  text: typeof value === 'string' ? value : JSON.stringify(value),
});
const TOKEN =
  'pragma solidity ^0.8.0;\nabstract contract Base {}\nlibrary Sums {}\n// contract Ghost {}\ncontract Token is Base {}\n';
const INPUT = {
  language: 'Solidity',
  sources: { 'src/Token.sol': { content: TOKEN } },
  settings: {},
};
const METADATA = {
  compiler: { version: '0.8.30+commit.73712a01' },
  settings: { compilationTarget: { 'src/Token.sol': 'Token' } },
  sources: { 'src/Token.sol': { keccak256: '0x' }, 'lib/a/Token.sol': { keccak256: '0x' } },
};
const EMPTY = {
  ...{ chain: '', address: '', compilerVersion: '', contract: '', transaction: '' },
  ...NO_SETTINGS,
};

function usable(files: Parameters<typeof readInputFiles>[0]): UsableInputFiles {
  const read = readInputFiles(files);
  if (read.kind === 'unusable') throw new Error(read.reason);
  return read;
}

describe('dropped files', () => {
  test('may be a standard JSON input whose sources name the deployable contracts', () => {
    expect(readInputFiles([file('input.json', INPUT)])).toMatchObject({
      kind: 'usable',
      compilations: [{ kind: 'standard_json', input: INPUT }],
      contracts: ['src/Token.sol:Sums', 'src/Token.sol:Token'],
    });
  });

  test.each([
    ['One standard JSON input', [file('input.json', INPUT)]],
    ['One metadata file', [file('metadata.json', { ...METADATA, language: 'Solidity' })]],
    ['One artifact', [file('Token.json', { rawMetadata: JSON.stringify(METADATA) })]],
    ['One build info', [file('b.json', { solcVersion: '0.8.30', input: INPUT })]],
    [
      'One standard JSON input',
      [file('metadata.json', { ...METADATA, language: 'Solidity' }), file('input.json', INPUT)],
    ],
  ])('are identified as %s', (from, files) => {
    expect(readInputFiles(files)).toMatchObject({ kind: 'usable', from });
  });

  const VERSION = '0.8.30+commit.73712a01';

  test.each([
    ['metadata of one of its contracts', [file('metadata.json', METADATA), file('i.json', INPUT)]],
    ['the name of a downloaded input', [file(`Token-solc-${VERSION}-standard-input.json`, INPUT)]],
    [
      'the name of an input downloaded twice',
      [file(`a/Token-solc-${VERSION}-standard-input (1).json`, INPUT)],
    ],
    [
      'the full record of a contract',
      [
        file('1.json', {
          stdJsonInput: INPUT,
          metadata: METADATA,
          compilation: { compilerVersion: VERSION, fullyQualifiedName: 'src/Token.sol:Token' },
        }),
      ],
    ],
  ])('may be a standard JSON input with its compiler and contract in %s', (_, files) => {
    expect(readInputFiles(files)).toMatchObject({
      kind: 'usable',
      compilations: [{ kind: 'standard_json', input: INPUT, compilerVersion: VERSION }],
      contracts: ['src/Token.sol:Token'],
    });
  });

  test('may be a standard JSON input next to metadata of contracts that it lacks', () => {
    const settings = { compilationTarget: { 'src/Other.sol': 'Other' } };
    const other = file('metadata.json', { ...METADATA, settings });
    const [compilation] = usable([other, file('input.json', INPUT)]).compilations;
    expect(compilation).not.toHaveProperty('compilerVersion');
  });

  test('may be Vyper sources with their imports, next to unrelated files', () => {
    const files = [
      file('src/Token.vy', '# pragma version ^0.4.0'),
      file('src/IToken.vyi', ''),
      file('src/IOther.json', []),
      file('package.json', { name: 'token' }),
    ];
    const read = readInputFiles(files);
    expect(read).toMatchObject({
      ...{ kind: 'usable', contracts: ['src/Token.vy:Token'] },
      compilations: [{ kind: 'sources', language: 'Vyper', missing: [] }],
    });
    const fields = {
      ...EMPTY,
      ...{ chain: '1', address: `0x${'11'.repeat(20)}`, compilerVersion: '0.4.3' },
      // Content of hidden fields is neither sent nor an error.
      ...{ optimizer: true, runs: 'x', libraries: 'x' },
    };
    expect(findFaults(fields, read).size).toBe(0);
    const compilation = compilationOf(read, '');
    if (compilation === undefined) throw new Error('there is a compilation');
    const { path, body } = buildRequest({ ...fields, evmVersion: 'cancun' }, compilation);
    expect(path).toBe(`v1/verify/sources/1/${fields.address}`);
    expect(body).toMatchObject({
      language: 'Vyper',
      evmVersion: 'cancun',
      compilerVersion: '0.4.3',
    });
    expect(body).not.toHaveProperty('optimizer');
    expect(body).not.toHaveProperty('libraries');
  });

  test('may be a folder of Solidity sources with a package.json', () => {
    const files = [file('package.json', { name: 'token' }), file('src/Token.sol', TOKEN)];
    expect(readInputFiles(files)).toMatchObject({
      kind: 'usable',
      compilations: [{ kind: 'sources', language: 'Solidity' }],
    });
  });

  test('may be a Hardhat build info, whose output names the contracts', () => {
    const output = { contracts: { 'src/Token.sol': { Token: {} } } };
    const info = {
      solcVersion: '0.8.30',
      solcLongVersion: '0.8.30+commit.73712a01',
      input: INPUT,
      output,
    };
    expect(readInputFiles([file('a.json', { other: 1 }), file('info.json', info)])).toMatchObject({
      kind: 'usable',
      compilations: [{ compilerVersion: '0.8.30+commit.73712a01' }],
      contracts: ['src/Token.sol:Token'],
    });
  });

  test('may be several Hardhat 3 build infos: each contract is compiled with its own', () => {
    const info = (id: string, root: string): object => ({
      id,
      solcLongVersion: '0.8.30+commit.73712a01',
      userSourceNameMap: { [root]: `project/${root}` },
      input: { ...INPUT, settings: { id } },
    });
    const output = (id: string, ...paths: readonly string[]): object => ({
      id,
      output: { contracts: Object.fromEntries(paths.map((path) => [path, { A: { abi: [] } }])) },
    });
    const dropped = readInputFiles([
      file('1.json', info('1', 'Both.sol')),
      file('1.output.json', output('1', 'project/Both.sol', 'project/Base.sol')),
      file('2.json', info('2', 'Base.sol')),
      file('2.output.json', output('2', 'project/Base.sol')),
    ]);
    expect(dropped).toHaveProperty('contracts', ['project/Both.sol:A', 'project/Base.sol:A']);
    const idOf = (id: string): object => ({ input: { settings: { id } } });
    expect(compilationOf(dropped, 'project/Base.sol:A')).toMatchObject(idOf('2'));
    expect(compilationOf(dropped, 'project/Both.sol:A')).toMatchObject(idOf('1'));
    const fields = { ...EMPTY, contract: 'project/Base.sol:A' };
    expect(fillFields(fields, dropped).compilerVersion).toBe('0.8.30+commit.73712a01');
  });

  test('are stripped of compiler output except contract names', () => {
    const info = {
      input: INPUT,
      output: { sources: {}, contracts: { 'a.sol': { A: { abi: [] } } } },
    };
    expect(JSON.parse(withoutOutput(JSON.stringify(info)))).toEqual({
      input: INPUT,
      output: { contracts: { 'a.sol': { A: {} } } },
    });
    for (const text of ['{"a":1}', 'contract A {}', '{"output":[]}', '{']) {
      expect(withoutOutput(text)).toBe(text);
    }
  });

  test('may begin with a byte order mark', () => {
    expect(readInputFiles([file('a.json', `\ufeff${JSON.stringify(INPUT)}`)]).kind).toBe('usable');
  });

  test.each([
    [
      'package.json',
      { name: 'token', version: '1.0.0' },
      'package.json is not a standard JSON input',
    ],
    [
      'a.output.json',
      { id: 'a', output: { contracts: {} } },
      'Choose the build info with the same name',
    ],
    ['input.json', '{"language": ', 'input.json is not JSON'],
    ['abi.json', [{ type: 'function', name: 'sum' }], 'abi.json is an ABI'],
  ])('in an unknown format are reported: %s', (path, content, reason) => {
    expect(readInputFiles([file(path, content)])).toMatchObject({
      kind: 'unusable',
      reason: expect.stringContaining(reason) as string,
    });
  });

  test.each([
    ['as an object', { abi: [], metadata: METADATA }],
    ['as text', { abi: [], rawMetadata: JSON.stringify(METADATA) }],
  ])('may be a Foundry artifact with its metadata %s', (_, artifact) => {
    const dropped = readInputFiles([
      file('Token.json', artifact),
      file('project/lib/a/Token.sol', 'library A {}'),
      file('project/src/Token.sol', TOKEN),
      file('project/src/Other.sol', 'contract Other {}'),
    ]);
    const compilation = compilationOf(dropped, 'src/Token.sol:Token');
    expect(compilation).toMatchObject({
      kind: 'metadata',
      metadata: METADATA,
      contracts: ['src/Token.sol:Token'],
      compilerVersion: '0.8.30+commit.73712a01',
      missing: [],
    });
    expect(compilation).toHaveProperty('sources', {
      'src/Token.sol': TOKEN,
      'lib/a/Token.sol': 'library A {}',
      'project/src/Other.sol': 'contract Other {}',
    });
  });

  test('may be a metadata.json; missing sources are reported', () => {
    expect(compilationOf(readInputFiles([file('metadata.json', METADATA)]), '')).toMatchObject({
      kind: 'metadata',
      missing: ['src/Token.sol', 'lib/a/Token.sol'],
    });
  });

  const hashOf = (text: string): string => bytesToHex(keccak256(Buffer.from(text, 'utf8')));
  const twins = (own: string, others: string): object => ({
    ...METADATA,
    sources: {
      'src/Token.sol': { keccak256: hashOf(own) },
      'lib/a/Token.sol': { keccak256: hashOf(others) },
    },
  });

  test.each([
    ['by its hash', 'Token.sol', twins(TOKEN, 'library A {}'), 'lib/a/Token.sol'],
    ['by its hash, not its path', 'lib/a/Token.sol', twins(TOKEN, 'x'), 'lib/a/Token.sol'],
    ['by its path, if no hash matches', 'p/lib/a/Token.sol', twins('x', 'y'), 'src/Token.sol'],
    ['by its path, if there is no hash', 'lib/a/Token.sol', METADATA, 'src/Token.sol'],
  ])('are assigned to one of two sources with the same name: %s', (_, path, metadata, missing) => {
    const dropped = readInputFiles([file('metadata.json', metadata), file(path, TOKEN)]);
    const other = missing === 'src/Token.sol' ? 'lib/a/Token.sol' : 'src/Token.sol';
    const compilation = compilationOf(dropped, '');
    expect(compilation).toHaveProperty('missing', [missing]);
    expect(compilation).toHaveProperty('sources', { [other]: TOKEN });
  });

  test('are assigned to two sources with the same text, whatever their names', () => {
    const metadata = file('metadata.json', twins(TOKEN, TOKEN));
    expect(compilationOf(readInputFiles([metadata, file('T.sol', TOKEN)]), '')).toMatchObject({
      missing: [],
      sources: { 'src/Token.sol': TOKEN, 'lib/a/Token.sol': TOKEN },
    });
  });

  test('may be all Foundry artifacts: each contract has its own', () => {
    const other = { ...METADATA, settings: { compilationTarget: { 'src/Other.sol': 'Other' } } };
    const dropped = readInputFiles([
      file('out/Token.json', { metadata: METADATA }),
      file('out/Other.json', { metadata: other }),
    ]);
    expect(dropped).toMatchObject({ contracts: ['src/Token.sol:Token', 'src/Other.sol:Other'] });
    expect(compilationOf(dropped, 'src/Other.sol:Other')).toMatchObject({ metadata: other });
    expect([...findFaults(EMPTY, dropped).keys()]).toEqual(['chain', 'address', 'contract']);
  });

  test.each([
    ['only sources of a language without pragmas', [file('Token.yul', TOKEN)]],
    ['broken JSON', [file('input.json', '{"language": ')]],
    [
      'an input without the contents of its sources',
      [file('i.json', { language: 'Solidity', sources: { a: { urls: [] } } })],
    ],
    ['an input without sources', [file('i.json', { language: 'Solidity', sources: {} })]],
    ['nothing', []],
  ])('are unusable: %s', (_, files) => {
    expect(readInputFiles(files)).toMatchObject({ kind: 'unusable' });
  });

  test('with any content cause no error', () => {
    const content = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => JSON.stringify(value)),
    );
    const files = fc.array(fc.record({ path: fc.string(), text: content }), { maxLength: 4 });
    fc.assert(fc.property(files, (dropped) => void readInputFiles(dropped)));
  });
});

describe('the verification form', () => {
  const dropped = readInputFiles([file('input.json', INPUT)]);
  const fields = {
    chain: '1',
    address: `0x${'aB'.repeat(20)}`,
    compilerVersion: '0.8.30',
    contract: 'src/Token.sol:Token',
    transaction: '',
    ...NO_SETTINGS,
  };

  test('names each incomplete field', () => {
    expect([...findFaults(EMPTY, undefined).keys()]).toEqual(['files', 'chain', 'address']);
    expect([...findFaults({ ...EMPTY, transaction: '0x1' }, dropped).keys()]).toEqual([
      'chain',
      'address',
      'compilerVersion',
      'contract',
      'transaction',
    ]);
    expect(findFaults(fields, dropped).size).toBe(0);
  });

  test('builds valid API v2 requests', () => {
    const input = compilationOf(dropped, fields.contract);
    const metadata = compilationOf(
      readInputFiles([file('metadata.json', METADATA), file('Token.sol', TOKEN)]),
      fields.contract,
    );
    if (input === undefined || metadata === undefined) throw new Error('not usable');
    const transaction = `0x${'1'.repeat(64)}`;
    expect(buildRequest({ ...fields, transaction }, input)).toEqual({
      path: `v2/verify/1/${fields.address}`,
      body: {
        stdJsonInput: INPUT,
        compilerVersion: '0.8.30',
        contractIdentifier: 'src/Token.sol:Token',
        creationTransactionHash: transaction,
      },
    });
    expect(buildRequest(fields, metadata)).toMatchObject({
      path: `v2/verify/metadata/1/${fields.address}`,
      body: { metadata: METADATA },
    });
  });

  test('keeps typed values that the files do not provide and prefers those that they do', () => {
    const typed = { ...fields, contract: 'other.sol:Other' };
    expect(fillFields(fields, dropped)).toEqual(fields);
    expect(fillFields(typed, dropped)).toEqual({ ...typed, contract: '' });
    const info = readInputFiles([file('i.json', { input: INPUT, solcVersion: '0.8.4' })]);
    expect(fillFields(fields, info)).toEqual({ ...fields, compilerVersion: '0.8.4' });
  });
});
