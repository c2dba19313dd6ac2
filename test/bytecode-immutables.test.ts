import { describe, expect, test } from 'vitest';
import { readImmutableTypes } from '../src/bytecode/solidity-immutables.ts';
import { compileInChild, type SolcVersion } from './support/compile-in-child.ts';
import { isAtLeast } from './support/bytecode/suite-source.ts';

interface Output {
  readonly sources: Readonly<
    Record<string, { readonly ast: { readonly nodes: readonly unknown[] } }>
  >;
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { readonly evm: { readonly deployedBytecode: { readonly immutableReferences: object } } }
        >
      >
    >
  >;
}

const DECLARED: Readonly<Record<string, object>> = {
  'uint8 immutable a': { kind: 'unsigned', bits: 8 },
  'uint immutable b': { kind: 'unsigned', bits: 256 },
  'int24 immutable c': { kind: 'signed', bits: 24 },
  'bool immutable d': { kind: 'below', bound: 2 },
  'address immutable e': { kind: 'unsigned', bits: 160 },
  'address payable immutable f': { kind: 'unsigned', bits: 160 },
  'Other immutable g': { kind: 'unsigned', bits: 160 },
  'Color immutable h': { kind: 'below', bound: 3 },
  'Subject.Inner immutable i': { kind: 'below', bound: 1 },
  'bytes3 immutable j': { kind: 'leading', bytes: 3 },
  'function(uint) internal view returns (bool) immutable k': { kind: 'code_pointer' },
};

const SETTINGS: readonly (readonly [SolcVersion, object])[] = [
  ['0.6.12', {}],
  ['0.8.11', {}],
  ['0.8.37', {}],
  ['0.8.37', { viaIR: true, optimizer: { enabled: true } }],
];

describe('the types of immutables', () => {
  test.each(SETTINGS)('are read from the AST of solc %s %j', async (version, settings) => {
    const hasValueTypes = isAtLeast(version, '0.8.8');
    const declared: typeof DECLARED = {
      ...DECLARED,
      ...(hasValueTypes && { 'Price immutable l': { kind: 'unsigned', bits: 96 } }),
    };
    const names = Object.keys(declared).map((text) => text.slice(-1));
    const visibility = isAtLeast(version, '0.7') ? '' : 'public';
    const parameters = Object.keys(declared).map((text) => text.replace(' immutable', ''));
    const subject = `pragma solidity >=0.6.5;
import "./kinds.sol";
abstract contract Base { ${Object.keys(declared)[0]}; constructor(uint8 a_) ${visibility} { a = a_; } }
contract Subject is Base {
  enum Inner { One }
  ${Object.keys(declared).slice(1).join(';\n  ')};
  function even(uint n) internal view returns (bool) { return n % 2 == block.number % 2; }
  constructor() Base(1) ${visibility} {
    b = 1; c = -1; d = true; e = msg.sender; f = msg.sender${isAtLeast(version, '0.8') ? ' == address(0) ? payable(address(1)) : payable(msg.sender)' : ''}; g = Other(msg.sender);
    h = Color.Green; i = Inner.One; j = 0x010203; k = even; ${hasValueTypes ? 'l = Price.wrap(2);' : ''}
  }
  function some() external view returns (bytes memory) { return abi.encode(a, b, c, d, e, f); }
  function more() external view returns (bytes memory) { return abi.encode(g, h, i, j, k(b)${hasValueTypes ? ', l' : ''}); }
}`;
    const kinds = `pragma solidity >=0.6.5; enum Color { Red, Green, Blue } interface Other {}
${hasValueTypes ? 'type Price is uint96;' : ''}`;
    expect(parameters).toHaveLength(names.length);
    const [output] = await compileInChild<Output>(version, [
      {
        language: 'Solidity',
        sources: { 'a.sol': { content: subject }, 'kinds.sol': { content: kinds } },
        settings: {
          ...settings,
          outputSelection: {
            '*': { '': ['ast'], Subject: ['evm.deployedBytecode.immutableReferences'] },
          },
        },
      },
    ]);
    const asts = Object.values(output?.sources ?? {}).map(({ ast }) => ast);
    const types = readImmutableTypes(asts);
    const references = output?.contracts['a.sol']?.['Subject']?.evm.deployedBytecode;
    const ids = Object.keys(references?.immutableReferences ?? {});
    expect(ids).toHaveLength(names.length);
    // Ids ascend in the order of declarations.
    expect(ids.map((id) => types[id])).toEqual(Object.values(declared));
  });

  test.each([[[]], [[undefined]], [[{ nodes: [{ nodes: 'x' }, null, 7] }]], [['text']]])(
    'are not known where there is no AST: %j',
    (units) => {
      expect(readImmutableTypes(units)).toEqual({});
    },
  );
});
