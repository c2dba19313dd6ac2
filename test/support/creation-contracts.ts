import { compileInChild } from './compile-in-child.ts';

/** The source of {@link compileCreationContracts}. */
export const CREATION_SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

contract Child {
    uint256 public immutable value;
    constructor(uint256 v) { value = v; }
}

contract Factory {
    function make(uint256 v) external returns (address) { return address(new Child(v)); }
    function makeBySalt(uint256 v, bytes32 salt) external returns (address) {
        return address(new Child{salt: salt}(v));
    }
    function makeAndFail(uint256 v) external { new Child(v); revert("no"); }
    function tryToMake(uint256 v) external { try this.makeAndFail(v) {} catch {} }
}

contract Parent {
    Child public child;
    constructor(Factory factory, uint256 v) {
        child = address(factory) == address(0) ? new Child(v) : Child(factory.make(v));
    }
}
`;

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Readonly<
    Record<string, Record<string, { evm: { bytecode: { object: string } } }>>
  >;
}

/** Creation bytecode, hex without 0x, of contracts that create contracts in every way. */
export interface CreationContracts {
  /** Constructor: uint256. */
  readonly Child: string;
  /** make(uint256), makeBySalt(uint256,bytes32), tryToMake(uint256) whose creation is reverted. */
  readonly Factory: string;
  /** Constructor: address of a factory (or zero: creates the child itself), uint256. */
  readonly Parent: string;
}

/** Compiles the contracts with solc 0.8.37 in a child process. */
export async function compileCreationContracts(): Promise<CreationContracts> {
  const [output] = await compileInChild<Output>('0.8.37', [
    {
      language: 'Solidity',
      sources: { 'Creation.sol': { content: CREATION_SOURCE } },
      settings: { outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
    },
  ]);
  const contracts = output?.contracts['Creation.sol'];
  const codeOf = (name: string): string => {
    const code = contracts?.[name]?.evm.bytecode.object;
    if (code === undefined) throw new Error(JSON.stringify(output?.errors));
    return code;
  };
  return { Child: codeOf('Child'), Factory: codeOf('Factory'), Parent: codeOf('Parent') };
}
