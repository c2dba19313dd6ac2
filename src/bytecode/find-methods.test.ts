import fc from 'fast-check';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { findMethods } from './find-methods.ts';

interface Output {
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly evm: {
              readonly deployedBytecode: { readonly object: string; readonly sourceMap: string };
              readonly methodIdentifiers: Readonly<Record<string, string>>;
            };
          }
        >
      >
    >
  >;
}
const { compile } = createRequire(import.meta.url)('solc') as {
  readonly compile: (input: string) => string;
};

const SOURCE = `contract Shop {
  mapping(address => uint256) public owed;
  function buy(uint256 n) external payable { owed[msg.sender] += n; }
  function pay(address to) external { owed[to] = 0; }
  function total() external view returns (uint256) { return address(this).balance; }
}`;

function compiled(settings: object) {
  const outputSelection = { '*': { '*': ['evm.deployedBytecode', 'evm.methodIdentifiers'] } };
  const input = {
    language: 'Solidity',
    sources: { 'Shop.sol': { content: SOURCE } },
    settings: { ...settings, outputSelection },
  };
  const { contracts } = JSON.parse(compile(JSON.stringify(input))) as Output;
  const evm = contracts['Shop.sol']?.['Shop']?.evm;
  if (evm === undefined) throw new Error('it compiles');
  return evm;
}

describe('Methods in runtime bytecode', () => {
  test.each([
    ['not optimized', {}],
    ['optimized', { optimizer: { enabled: true, runs: 200 } }],
    ['optimized for size', { optimizer: { enabled: true, runs: 1 } }],
  ])('are found at their source positions: %s', (_what, settings) => {
    const { deployedBytecode, methodIdentifiers } = compiled(settings);
    const selectors = new Map(
      Object.entries(methodIdentifiers).map(([name, hex]) => [parseInt(hex, 16), name]),
    );
    const code = Buffer.from(deployedBytecode.object, 'hex');
    const found = findMethods(code, deployedBytecode.sourceMap, new Set(selectors.keys()));
    expect(found.size).toBe(4);
    for (const [selector, { file, offset, length }] of found) {
      expect(file).toBe(0);
      const [name = ''] = (selectors.get(selector) ?? '').split('(');
      expect(SOURCE.slice(offset, offset + length)).toContain(name);
    }
  });

  test('are not found for an unknown selector, and arbitrary bytes take linear time', () => {
    const { deployedBytecode } = compiled({});
    const code = Buffer.from(deployedBytecode.object, 'hex');
    expect(findMethods(code, deployedBytecode.sourceMap, new Set([1])).size).toBe(0);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.string(), (bytes, map) => {
        expect(findMethods(bytes, map, new Set([0xdeadbeef])).size).toBeLessThanOrEqual(1);
      }),
    );
    const large = Buffer.alloc(1_000_000, 0x63);
    expect(findMethods(large, ';'.repeat(2_000_000), new Set([0x63636363])).size).toBe(0);
  });
});
