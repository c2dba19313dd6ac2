import { expect, test } from 'vitest';
import { withLiteralContent, withProvenSettings } from './proven-settings.ts';

const PROVEN = {
  evmVersion: 'paris',
  libraries: { '': { Lib: '0x00000000000000000000000000000000000000aa' } },
  metadata: { bytecodeHash: 'ipfs' },
  optimizer: { enabled: true, runs: 200 },
  remappings: [],
};

test('takes what decides the bytecode from the metadata, and the rest as delivered', () => {
  const delivered = {
    ...{ viaIR: true, debug: { revertStrings: 'strip' }, optimizer: { enabled: false } },
    ...{ evmVersion: 'byzantium', remappings: [':x=y'], outputSelection: { '*': { '*': ['*'] } } },
  };
  expect(withProvenSettings(delivered, PROVEN)).toEqual({
    ...PROVEN,
    outputSelection: { '*': { '*': ['*'] } },
  });
});

test('keeps the paths of libraries that metadata lists by name alone', () => {
  const libraries = { 'src/Lib.sol': { Lib: '0x00000000000000000000000000000000000000AA' } };
  expect(withProvenSettings({ libraries }, PROVEN)).toMatchObject({ libraries });
  const others = { 'src/Lib.sol': { Lib: '0x00000000000000000000000000000000000000bb' } };
  expect(withProvenSettings({ libraries: others }, PROVEN)).toMatchObject({
    libraries: PROVEN.libraries,
  });
});

test('takes the paths of libraries from metadata that lists them', () => {
  const address = '0x00000000000000000000000000000000000000aa';
  const proven = { libraries: { 'src/Lib.sol': { Lib: address } } };
  const delivered = { libraries: { 'src/Other.sol': { Lib: address } } };
  expect(withProvenSettings(delivered, proven)).toEqual(proven);
});

test('names the setting with which sources are literal, if the metadata does not', () => {
  const literal = { metadata: { bytecodeHash: 'ipfs', useLiteralContent: true } };
  expect(withLiteralContent({ evmVersion: 'byzantium' }, true)).toEqual({
    ...{ evmVersion: 'byzantium', metadata: { useLiteralContent: true } },
  });
  expect(withLiteralContent(PROVEN, true).metadata).toEqual(literal.metadata);
  expect(withLiteralContent(literal, true)).toBe(literal);
  expect(withLiteralContent(PROVEN, false)).toBe(PROVEN);
});
