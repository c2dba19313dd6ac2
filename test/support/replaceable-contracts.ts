import { bytesToHex, hexToBytes, type Hex } from '../../src/lib/hex.ts';
import { keccak256 } from '../../src/lib/keccak.ts';
import { computeCreate2Address } from '../../src/chains/rpc/contract-address.ts';
import { type Anvil, type AnvilReceipt } from './anvil.ts';
import { compileInChild } from './compile-in-child.ts';
import { callOf, DEPLOYMENT_PROXY, word } from './creation-deployments.ts';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

/// Makes a contract of any code at one address: the creation code asks its maker for the runtime code.
contract Metamorphic {
    bytes public code;
    function make(bytes calldata runtime) external returns (address made) {
        code = runtime;
        bytes memory init = hex"5f5f5f5f335afa503d5f5f3e3d5ff3";
        assembly { made := create2(0, add(init, 32), mload(init), 0) }
    }
    fallback() external {
        bytes memory runtime = code;
        assembly { return(add(runtime, 32), mload(runtime)) }
    }
}

/// Gone and made anew it begins with its first nonce again: any creation code may follow at the same address.
contract Maker {
    function make(bytes calldata init) external returns (address made) {
        bytes memory code = init;
        assembly { made := create(0, add(code, 32), mload(code)) }
    }
    function makeAndCall(bytes calldata init) external {
        bytes memory code = init;
        assembly {
            let made := create2(0, add(code, 32), mload(code), 0)
            pop(call(gas(), made, 0, 0, 0, 0, 0))
        }
    }
    function end() external { selfdestruct(payable(msg.sender)); }
}

/// Takes what the deployment proxy takes, and says nothing where it creates nothing.
contract QuietProxy {
    fallback() external {
        assembly {
            let size := sub(calldatasize(), 32)
            calldatacopy(0, 32, size)
            pop(create2(0, 0, size, calldataload(0)))
        }
    }
}
`;

interface Output {
  readonly contracts: Readonly<
    Record<string, Record<string, { evm: { bytecode: { object: string } } }>>
  >;
}

/** Factories that let one address have different bytecode over time, where SELFDESTRUCT still removes it. */
export interface ReplaceableContracts {
  /** Creates a contract with this runtime bytecode at {@link metamorphic}'s address. */
  readonly makeMetamorphic: (runtimeCode: Hex) => Promise<AnvilReceipt>;
  readonly metamorphic: Hex;
  /** Deploys the maker with CREATE2, lets it run this creation bytecode with its first nonce, and destroys it. */
  readonly makeByNonce: (creationCode: Hex) => Promise<AnvilReceipt>;
  readonly madeByNonce: Hex;
  /** Runs creation bytecode with CREATE2 and calls the created contract, in one transaction. */
  readonly makeAndCall: (creationCode: Hex) => Promise<AnvilReceipt>;
  readonly maker: Hex;
  readonly quietProxy: Hex;
  /** Calls a contract without data, which destroys one that begins with CALLER SELFDESTRUCT. */
  readonly call: (address: Hex) => Promise<AnvilReceipt>;
}

function bytesArgument(bytes: Hex): string {
  const hex = bytes.slice(2);
  const padding = '00'.repeat((32 - ((hex.length / 2) % 32)) % 32);
  return `${word(32)}${word(hex.length / 2)}${hex}${padding}`;
}

/** Compiles the factories and deploys them. */
export async function createReplaceableContracts(anvil: Anvil): Promise<ReplaceableContracts> {
  const [output] = await compileInChild<Output>('0.8.37', [
    {
      language: 'Solidity',
      sources: { 'Replaceable.sol': { content: SOURCE } },
      settings: {
        evmVersion: 'shanghai',
        outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
      },
    },
  ]);
  const codeOf = (name: string): string =>
    output?.contracts['Replaceable.sol']?.[name]?.evm.bytecode.object ?? '';
  const deploy = async (name: string): Promise<Hex> => {
    const { contractAddress } = await anvil.send({ data: `0x${codeOf(name)}` });
    if (contractAddress === null) throw new Error(`${name} was not created`);
    return contractAddress;
  };
  const factory = await deploy('Metamorphic');
  const quietProxy = await deploy('QuietProxy');
  const init = Buffer.from('5f5f5f5f335afa503d5f5f3e3d5ff3', 'hex');
  const makerCode = Buffer.from(codeOf('Maker'), 'hex');
  const maker = computeCreate2Address(DEPLOYMENT_PROXY, Buffer.alloc(32), makerCode);
  const deployMaker = (): Promise<AnvilReceipt> =>
    anvil.send({ to: DEPLOYMENT_PROXY, data: `0x${word(0)}${codeOf('Maker')}` });
  const firstOf = (address: Hex): Hex => {
    const encoded = Buffer.concat([Buffer.of(0xd6, 0x94), hexToBytes(address), Buffer.of(1)]);
    return bytesToHex(keccak256(encoded).subarray(12));
  };
  return {
    makeMetamorphic: (code) =>
      anvil.send({ to: factory, data: callOf('make(bytes)', bytesArgument(code)) }),
    metamorphic: computeCreate2Address(factory, Buffer.alloc(32), init),
    makeByNonce: async (code) => {
      await deployMaker();
      const made = await anvil.send({
        to: maker,
        data: callOf('make(bytes)', bytesArgument(code)),
      });
      await anvil.send({ to: maker, data: callOf('end()') });
      return made;
    },
    madeByNonce: firstOf(maker),
    makeAndCall: async (code) => {
      await deployMaker();
      return anvil.send({ to: maker, data: callOf('makeAndCall(bytes)', bytesArgument(code)) });
    },
    maker,
    quietProxy,
    call: (address) => anvil.send({ to: address }),
  };
}
