import { expect, test } from 'vitest';
import { readContractKeys } from './read-contract-keys.ts';

/** Builds a compiler output for contracts whose bytecode consists of constants only. */
function outputOf(contracts: number, constants: number): Uint8Array {
  const codeOf = (contract: number): object => {
    const object = `73${(contract + 1).toString(16).padStart(40, '0')}`.repeat(constants);
    return { evm: { deployedBytecode: { object } } };
  };
  const names = Array.from(
    { length: contracts },
    (_, index) => [`C${index}`, codeOf(index)] as const,
  );
  return Buffer.from(JSON.stringify({ contracts: { 'a.sol': Object.fromEntries(names) } }));
}

const VERSION = '0.8.30+commit.73712a01';

test('skips contracts beyond 100,000 constants per project', () => {
  const namesIn = (bytes: Uint8Array): string[] =>
    readContractKeys({ bytes, version: VERSION }).map(({ name }) => name);
  expect(namesIn(outputOf(100, 1_000))).toHaveLength(100);
  expect(namesIn(outputOf(5, 30_000))).toEqual(['C0', 'C1', 'C2']);
});
