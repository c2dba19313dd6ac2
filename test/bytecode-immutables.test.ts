import { describe, expect, test } from 'vitest';
import { abiTypeOf } from '../src/bytecode/immutable-type.ts';
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

interface Declared {
  readonly type: object;
  /** The type as the compiler writes it. */
  readonly declared: string;
  /** The ABI type whose encoding the value has. */
  readonly abiType: string | undefined;
}

const DECLARED: Readonly<Record<string, Declared>> = {
  'uint8 immutable a': { type: { kind: 'unsigned', bits: 8 }, declared: 'uint8', abiType: 'uint8' },
  'uint immutable b': {
    type: { kind: 'unsigned', bits: 256 },
    declared: 'uint256',
    abiType: 'uint256',
  },
  'int24 immutable c': { type: { kind: 'signed', bits: 24 }, declared: 'int24', abiType: 'int24' },
  'bool immutable d': { type: { kind: 'below', bound: 2 }, declared: 'bool', abiType: 'bool' },
  'address immutable e': {
    type: { kind: 'unsigned', bits: 160 },
    declared: 'address',
    abiType: 'address',
  },
  'address payable immutable f': {
    type: { kind: 'unsigned', bits: 160 },
    declared: 'address payable',
    abiType: 'address',
  },
  'Other immutable g': {
    type: { kind: 'unsigned', bits: 160 },
    declared: 'contract Other',
    abiType: 'address',
  },
  'Color immutable h': {
    type: { kind: 'below', bound: 3 },
    declared: 'enum Color',
    abiType: 'uint8',
  },
  'Subject.Inner immutable i': {
    type: { kind: 'below', bound: 1 },
    declared: 'enum Subject.Inner',
    abiType: 'uint8',
  },
  'bytes3 immutable j': {
    type: { kind: 'leading', bytes: 3 },
    declared: 'bytes3',
    abiType: 'bytes3',
  },
  'function(uint) internal view returns (bool) immutable k': {
    type: { kind: 'code_pointer' },
    declared: 'function (uint256) view returns (bool)',
    abiType: undefined,
  },
};

const SETTINGS: readonly (readonly [SolcVersion, object])[] = [
  ['0.6.12', {}],
  ['0.8.11', {}],
  ['0.8.37', {}],
  ['0.8.37', { viaIR: true, optimizer: { enabled: true } }],
];

describe('types of immutables', () => {
  test.each(SETTINGS)('are read from the AST of solc %s %j', async (version, settings) => {
    const hasValueTypes = isAtLeast(version, '0.8.8');
    const declared: typeof DECLARED = {
      ...DECLARED,
      ...(hasValueTypes && {
        'Price immutable l': {
          ...{ type: { kind: 'unsigned', bits: 96 }, declared: 'Price', abiType: 'uint96' },
        },
      }),
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
    const types = readImmutableTypes(asts, version);
    const references = output?.contracts['a.sol']?.['Subject']?.evm.deployedBytecode;
    const ids = Object.keys(references?.immutableReferences ?? {});
    expect(ids).toHaveLength(names.length);
    // Ids ascend in declaration order.
    expect(ids.map((id) => types[id])).toEqual(
      Object.values(declared).map(({ type, declared: text }, index) => ({
        ...{ ...type, declared: text, name: names[index] },
        ...('kind' in type &&
          type.kind === 'signed' &&
          !isAtLeast(version, '0.8.9') && { zerosBefore: true }),
      })),
    );
    expect(ids.map((id) => types[id] && abiTypeOf(types[id]))).toEqual(
      Object.values(declared).map(({ abiType }) => abiType),
    );
  });

  test.each([[[]], [[undefined]], [[{ nodes: [{ nodes: 'x' }, null, 7] }]], [['text']]])(
    'are unknown without an AST: %j',
    (units) => {
      expect(readImmutableTypes(units, '0.8.37')).toEqual({});
    },
  );
});
