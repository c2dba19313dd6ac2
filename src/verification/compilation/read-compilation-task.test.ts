import { describe, expect, test } from 'vitest';
import { readVerificationTask } from './read-compilation-task.ts';

const PATH = 'A.sol';
const SOURCES = { [PATH]: { content: 'contract A {}' } };
const ADDRESS = `0x${'11'.repeat(20)}`;

function codeOf(settings: Record<string, unknown>, sources: object = SOURCES, name = 'A'): unknown {
  try {
    readVerificationTask(
      {
        chainId: 1,
        address: `0x${'22'.repeat(20)}`,
        compilation: {
          kind: 'standard_json',
          compilerVersion: '0.8.37',
          contractIdentifier: `${PATH}:${name}`,
          input: { language: 'Solidity', sources: { ...SOURCES, ...sources }, settings },
        },
      },
      5_000_000,
    );
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

const libraries = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`L${index}`, ADDRESS]));

describe('Settings of a job', () => {
  test('are limited to 1,000 libraries and 1,000 remappings', () => {
    expect(codeOf({ libraries: { [PATH]: libraries(998) }, remappings: ['a=b'] })).toBeUndefined();
    for (const settings of [
      { libraries: { [PATH]: libraries(1000) } },
      { libraries: Object.fromEntries(Object.keys(libraries(1001)).map((id) => [id, {}])) },
      { remappings: Array.from({ length: 1001 }, () => 'a=b') },
    ]) {
      expect(codeOf(settings)).toBe('invalid_compiler_input');
    }
  });

  test.each(['\0', '\ud800'])('reject text that cannot be stored (%j)', (text) => {
    expect(codeOf({ remappings: [text] })).toBe('invalid_compiler_input');
    expect(codeOf({ libraries: { [text]: { L: ADDRESS } } })).toBe('invalid_compiler_input');
    expect(codeOf({}, { [`${text}.sol`]: { content: '' } })).toBe('missing_or_invalid_source');
    expect(codeOf({}, { 'B.sol': { content: text } })).toBe('missing_or_invalid_source');
  });
});

describe('Contract name', () => {
  test.each([
    ['a'.repeat(1_024), undefined],
    ['a'.repeat(1_025), 'invalid_compilation_target'],
    ['é'.repeat(513), 'invalid_compilation_target'],
    ['a'.repeat(4_800_000), 'invalid_compilation_target'],
  ])('is limited to 1,024 bytes', (name, code) => {
    expect(codeOf({}, {}, name)).toBe(code);
  });
});

/** Returns the target of an identifier in an input with a source of that path. */
function targetOf(contractIdentifier: string, path: string): unknown {
  const { task } = readVerificationTask(
    {
      chainId: 1,
      address: `0x${'22'.repeat(20)}`,
      compilation: {
        kind: 'standard_json',
        compilerVersion: '0.8.37',
        contractIdentifier,
        input: { language: 'Solidity', sources: { [path]: { content: '' } }, settings: {} },
      },
    },
    5_000_000,
  );
  return task.target;
}

describe('Contract identifier', () => {
  test('resolves to the unnamed source used by compilers with a single input', () => {
    expect(targetOf(':Boat', '')).toEqual({ path: '', name: 'Boat' });
  });

  test.each([
    [':Boat', 'Boat.sol'],
    ['Boat.sol:', 'Boat.sol'],
    [':', ''],
    ['Ship.sol:Boat', 'Boat.sol'],
  ])('is rejected if its source or name is missing (%s)', (identifier, path) => {
    expect(() => targetOf(identifier, path)).toThrow(
      expect.objectContaining({ code: 'invalid_compilation_target' }),
    );
  });
});

test('lists sources missing from a metadata submission with their hashes', () => {
  const keccak256 = `0x${'5a'.repeat(32)}`;
  const metadata = {
    ...{ language: 'Solidity', compiler: { version: '0.8.37+commit.f401782d' } },
    settings: { compilationTarget: { [PATH]: 'A' } },
    sources: { [PATH]: { keccak256 } },
  };
  const read = () =>
    readVerificationTask(
      {
        chainId: 1,
        address: `0x${'22'.repeat(20)}`,
        compilation: { kind: 'metadata', metadata, sources: { 'B.sol': 'contract B {}' } },
      },
      5_000_000,
    );
  expect(read).toThrow(`missing: A.sol (keccak256 ${keccak256})`);
});
