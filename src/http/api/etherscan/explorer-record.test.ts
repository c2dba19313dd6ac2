import { describe, expect, test } from 'vitest';
import { readExplorerRecord } from './explorer-record.ts';

const A = `0x${'a1'.repeat(20)}`;
const B = `0x${'b2'.repeat(20)}`;
const LIMITS = { values: 10_000, sources: 100 } as never;

/** Reads the compilation from a record. */
function compilationOf(record: object) {
  const given = { ContractName: 'Main', CompilerVersion: 'v0.8.30+commit.73712a01', ...record };
  const bytes = Buffer.from(JSON.stringify({ status: '1', message: 'OK', result: [given] }));
  return readExplorerRecord(bytes, LIMITS);
}

const settingsOf = (record: object) => {
  const { settings } = compilationOf(record).input;
  return Object.fromEntries(
    Object.entries(settings).filter(([name]) => name !== 'outputSelection'),
  );
};

const SOURCE = 'library L {} contract Main {}';

describe("Compiler settings in another explorer's record", () => {
  test('are merged from all members that carry settings', () => {
    const members = {
      SourceCode: SOURCE,
      FileName: 'a.sol',
      OptimizationUsed: 'true',
      OptimizationRuns: 999,
      EVMVersion: 'paris',
      ExternalLibraries: [{ name: 'L', address_hash: A }],
    };
    const libraries = { 'a.sol': { L: A } };
    const optimizer = { enabled: true, runs: 999 };
    expect(settingsOf(members)).toEqual({ evmVersion: 'paris', libraries, optimizer });
    expect(settingsOf({ ...members, CompilerSettings: { viaIR: true } })).toEqual({
      ...{ evmVersion: 'paris', libraries, optimizer, viaIR: true },
    });
  });

  test('prefer CompilerSettings over the individual members', () => {
    const CompilerSettings = { optimizer: { enabled: true, runs: 7 }, evmVersion: 'berlin' };
    const members = { SourceCode: SOURCE, OptimizationUsed: '0', Runs: '200', EVMVersion: 'paris' };
    for (const given of [CompilerSettings, JSON.stringify(CompilerSettings)]) {
      expect(settingsOf({ ...members, CompilerSettings: given })).toEqual(CompilerSettings);
    }
  });

  test('omit a disabled optimizer if CompilerSettings is present', () => {
    const members = { SourceCode: SOURCE, OptimizationUsed: 'false', OptimizationRuns: 0 };
    expect(settingsOf({ ...members, CompilerSettings: { viaIR: true } })).toEqual({ viaIR: true });
  });

  test('are read from standard JSON source in single braces', () => {
    const settings = { optimizer: { enabled: true, runs: 7 }, viaIR: true };
    const SourceCode = JSON.stringify({
      language: 'Solidity',
      sources: { 'a.sol': { content: SOURCE } },
      settings,
    });
    expect(settingsOf({ SourceCode, OptimizationUsed: '0', Runs: '200' })).toEqual(settings);
  });

  test('complete standard JSON in double braces that has none', () => {
    const input = { language: 'Solidity', sources: { 'a.sol': { content: SOURCE } } };
    const members = { OptimizationUsed: 1, Runs: '7', EVMVersion: 'Paris', Library: `L:${A}` };
    expect(settingsOf({ ...members, SourceCode: `{${JSON.stringify(input)}}` })).toEqual({
      ...{ optimizer: { enabled: true, runs: 7 }, evmVersion: 'paris' },
      libraries: { 'a.sol': { L: A } },
    });
    const settings = { viaIR: true };
    const complete = `{${JSON.stringify({ ...input, settings })}}`;
    expect(settingsOf({ ...members, SourceCode: complete })).toEqual(settings);
  });

  test('are tried unless standard JSON has some', () => {
    const input = { language: 'Solidity', sources: { 'a.sol': { content: SOURCE } } };
    const bare = { ...input, settings: { outputSelection: {} } };
    const complete = { ...input, settings: { evmVersion: 'paris' } };
    const triesFor = (SourceCode: string) => compilationOf({ SourceCode }).trySettings;
    expect(
      [SOURCE, ...[input, bare, complete].map((each) => `{${JSON.stringify(each)}}`)].map(triesFor),
    ).toEqual([true, true, true, undefined]);
  });

  test('omit libraries that no file declares, or several', () => {
    const SourceCode = JSON.stringify({
      'a.sol': { content: SOURCE },
      'b.sol': { content: 'library L {} library M {}' },
    });
    const { libraries } = settingsOf({ SourceCode, Library: `L:${A};L:${B};M:${B};N:${B}` });
    expect(libraries).toEqual({ 'b.sol': { M: B } });
  });
});

test('recognizes a Blockscout Vyper contract by its file name alone', () => {
  const record = {
    ...{ SourceCode: 'x: uint256', ContractName: 'Shelf', FileName: 'Shelf.vy' },
    ...{
      CompilerVersion: 'v0.4.3+commit.bff19ea2',
      CompilerSettings: {},
      OptimizationUsed: 'false',
    },
  };
  const answer = { status: '1', message: 'OK', result: [record] };
  expect(readExplorerRecord(Buffer.from(JSON.stringify(answer)), LIMITS)).toMatchObject({
    contractIdentifier: 'Shelf.vy:Shelf',
    input: { language: 'Vyper', sources: { 'Shelf.vy': { content: 'x: uint256' } } },
  });
});

test.each([
  ['Default', {}],
  ['Paris', { evmVersion: 'paris' }],
])('reads the EVM version of a Vyper contract: %s', (EVMVersion, settings) => {
  const record = { SourceCode: 'x: uint256', CompilerVersion: 'vyper:0.3.10', EVMVersion };
  expect(compilationOf(record).input).toMatchObject({ language: 'Vyper', settings });
});
