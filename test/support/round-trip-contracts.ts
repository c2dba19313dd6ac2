import { type Hex } from '../../src/lib/hex.ts';
import {
  type Compilation,
  type VerifiedContract,
} from '../../src/repository/matches/verified-contract.ts';
import { compileInChild } from './compile-in-child.ts';
import { sampleAddress } from './sample-contracts.ts';

const PATH = 'contracts/Vault @1.sol';
const CONTENT = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
library Sums { function sum(uint256 a, uint256 b) public pure returns (uint256) { return a + b; } }
contract Vault { uint256 public immutable limit; constructor(uint256 most) { limit = most; } }
contract Linked { function three() external pure returns (uint256) { return Sums.sum(1, 2); } }
`;
const WORD: Hex = `0x${'2a'.padStart(64, '0')}`;
const LIBRARY: Hex = `0x${'c0ffee'.padStart(40, '0')}`;
const TRANSACTION: Hex = `0x${'7e'.repeat(32)}`;

interface Place {
  readonly start: number;
  readonly length: number;
}
type Links = Readonly<Record<string, Readonly<Record<string, readonly Place[]>>>>;
interface Output {
  readonly metadata: string;
  readonly abi: unknown;
  readonly evm: {
    readonly bytecode: { readonly object: string; readonly linkReferences: Links };
    readonly deployedBytecode: {
      readonly object: string;
      readonly linkReferences: Links;
      readonly immutableReferences: Readonly<Record<string, readonly Place[]>>;
    };
  };
}

async function compile(): Promise<Readonly<Record<string, Output>>> {
  const settings = { outputSelection: { '*': { '*': ['*'] } } };
  const input = { language: 'Solidity', sources: { [PATH]: { content: CONTENT } }, settings };
  const [output] = await compileInChild<{ contracts: Record<string, Record<string, Output>> }>(
    '0.8.37',
    [input],
  );
  return output!.contracts[PATH]!;
}

/** Bytecode with zeros in place of the libraries. */
const templateOf = (object: string): Buffer =>
  Buffer.from(object.replaceAll(/__\$[0-9a-f]{34}\$__/g, '00'.repeat(20)), 'hex');

function compilationOf(name: string, { metadata, abi, evm }: Output): Compilation {
  const { settings, compiler } = JSON.parse(metadata) as {
    settings: Record<string, unknown>;
    compiler: { version: string };
  };
  const rest = Object.fromEntries(
    Object.entries(settings).filter(([key]) => key !== 'compilationTarget'),
  );
  const { bytecode, deployedBytecode } = evm;
  return {
    ...{ language: 'solidity', compiler: 'solc', version: compiler.version, name, metadata },
    ...{ fullyQualifiedName: `${PATH}:${name}`, settings: rest },
    artifacts: { abi, sources: { [PATH]: { id: 0 } }, userdoc: null },
    creationCode: templateOf(bytecode.object),
    runtimeCode: templateOf(deployedBytecode.object),
    creationCodeArtifacts: { sourceMap: '1:2:3', linkReferences: bytecode.linkReferences },
    runtimeCodeArtifacts: {
      ...{ sourceMap: null, linkReferences: deployedBytecode.linkReferences },
      immutableReferences: deployedBytecode.immutableReferences,
    },
    sources: [{ path: PATH, content: CONTENT }],
  };
}

/** Compilations without metadata. */
const withoutMetadata = (
  language: 'vyper' | 'yul',
  path: string,
  content: string,
): Compilation => ({
  ...{ language, compiler: language === 'yul' ? 'solc' : 'vyper', name: 'Counter' },
  version: language === 'yul' ? '0.8.30+commit.73712a01' : '0.4.3+commit.bff19ea2',
  ...{ fullyQualifiedName: `${path}:Counter`, settings: { optimizer: { enabled: true } } },
  artifacts: { abi: [], sources: { [path]: { id: 0 } } },
  creationCode: Buffer.from([1, 2, path.length]),
  runtimeCode: Buffer.from([3, path.length]),
  sources: [{ path, content }],
});

/**
 * Contracts of every kind that an export must preserve: a full match with immutables and constructor
 * arguments, a partial one, linked libraries, Vyper, Yul without metadata, no creation match, and a claim
 * without bytecode. The last one is on a different chain from the first.
 */
export async function roundTripContracts(): Promise<readonly VerifiedContract[]> {
  const outputs = await compile();
  const vault = compilationOf('Vault', outputs['Vault']!);
  const linked = compilationOf('Linked', outputs['Linked']!);
  const recompiled = Buffer.from(vault.runtimeCode!);
  const immutables = Object.entries(
    outputs['Vault']!.evm.deployedBytecode.immutableReferences,
  ).flatMap(([id, places]) => places.map(({ start }) => ({ id, start })));
  const onChain = Buffer.from(recompiled);
  for (const { start } of immutables) Buffer.from(WORD.slice(2), 'hex').copy(onChain, start);
  const runtime = {
    transformations: immutables.map(({ id, start }) => ({
      ...{ type: 'replace', reason: 'immutable', offset: start, id },
    })),
    values: { immutables: { [immutables[0]!.id]: WORD } },
  };
  const creationCode = Buffer.concat([...[vault.creationCode!, Buffer.from(WORD.slice(2), 'hex')]]);
  const creation = {
    transformations: [
      { type: 'insert', reason: 'constructorArguments', offset: vault.creationCode!.length },
    ],
    values: { constructorArguments: WORD },
  };
  const auxdataAt = onChain.length - 2 - onChain.readUInt16BE(onChain.length - 2);
  const changed = Buffer.from(onChain);
  changed.writeUInt8(changed.readUInt8(auxdataAt + 20) ^ 1, auxdataAt + 20);
  const auxdata = `0x${changed.subarray(auxdataAt).toString('hex')}`;
  const linkedCode = Buffer.from(linked.runtimeCode!);
  const links = outputs['Linked']!.evm.deployedBytecode.linkReferences[PATH]!['Sums']!;
  for (const { start } of links) Buffer.from(LIBRARY.slice(2), 'hex').copy(linkedCode, start);
  const read = { transactionHash: TRANSACTION, blockNumber: 5, transactionIndex: 2 };
  const deployer = sampleAddress(0xde);
  const at = (number: number): Pick<VerifiedContract, 'chainId' | 'address' | 'origin'> => ({
    ...{ chainId: 1, address: sampleAddress(number), origin: 'verified' },
  });
  const claim = { ...vault, creationCode: undefined, runtimeCode: undefined };
  return [
    {
      ...{
        ...at(1),
        runtimeMatch: 'full',
        creationMatch: 'full',
        compilation: vault,
        runtime,
        creation,
      },
      deployment: { ...read, deployer, runtimeCode: onChain, creationCode },
    },
    {
      ...{ ...at(2), runtimeMatch: 'partial', creationMatch: null, compilation: vault },
      deployment: { runtimeCode: changed },
      runtime: {
        transformations: [
          ...runtime.transformations,
          { type: 'replace', reason: 'cborAuxdata', offset: auxdataAt, id: '1' },
        ],
        values: { ...runtime.values, cborAuxdata: { 1: auxdata } },
      },
    },
    {
      ...{ ...at(3), runtimeMatch: 'full', creationMatch: null, compilation: linked },
      deployment: { ...read, runtimeCode: linkedCode },
      runtime: {
        transformations: links.map(({ start }) => ({
          ...{ type: 'replace', reason: 'library', offset: start, id: `${PATH}:Sums` },
        })),
        values: { libraries: { [`${PATH}:Sums`]: LIBRARY } },
      },
    },
    ...(['vyper', 'yul'] as const).map((language, index): VerifiedContract => {
      const [path, content] =
        language === 'vyper'
          ? ['Counter.vy', '# a counter\n\tx: "é\\n"\n']
          : ['Counter.yul', 'object "Counter" { code {} }'];
      const compilation = withoutMetadata(language, path, content);
      return {
        ...{ ...at(4 + index), runtimeMatch: 'partial', creationMatch: null, compilation },
        deployment: { ...read, runtimeCode: compilation.runtimeCode! },
        runtime: { transformations: [], values: {} },
      };
    }),
    {
      ...{ ...at(6), origin: 'imported', runtimeMatch: 'full', creationMatch: null },
      compilation: {
        ...claim,
        creationCodeArtifacts: undefined,
        runtimeCodeArtifacts: {
          immutableReferences: vault.runtimeCodeArtifacts!['immutableReferences'],
        },
      } as unknown as Compilation,
      deployment: { transactionHash: TRANSACTION },
      creation: { transformations: [], values: { constructorArguments: WORD } },
    },
    {
      ...{
        ...at(1),
        chainId: 10,
        runtimeMatch: 'full',
        creationMatch: null,
        compilation: vault,
        runtime,
      },
      deployment: { runtimeCode: onChain },
    },
  ];
}
