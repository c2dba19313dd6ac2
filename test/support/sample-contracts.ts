import { type Hex } from '../../src/lib/hex.ts';
import {
  type Match,
  type VerifiedContract,
} from '../../src/repository/matches/verified-contract.ts';

/** An address derived from a number: small numbers give few distinct addresses. */
export function sampleAddress(number: number): Hex {
  return `0x${number.toString(16).padStart(40, '0')}`;
}

/** An imported contract with its own sources; `variant` selects the compilation. */
export function sampleContract(
  chainId: number,
  address: Hex,
  matches: { runtimeMatch?: Match | null; creationMatch?: Match | null },
  { variant = 0, ...rest }: Partial<VerifiedContract> & { variant?: number } = {},
): VerifiedContract {
  return {
    chainId,
    address,
    runtimeMatch: matches.runtimeMatch ?? null,
    creationMatch: matches.creationMatch ?? null,
    origin: 'imported',
    deployment: {},
    compilation: {
      language: 'solidity',
      compiler: 'solc',
      version: '0.8.37+commit.00000000',
      name: 'Sample',
      fullyQualifiedName: 'contracts/Sample.sol:Sample',
      settings: { optimizer: { enabled: true, runs: 200 } },
      artifacts: { abi: [] },
      metadata: JSON.stringify({ variant }),
      sources: [
        { path: 'contracts/Sample.sol', content: `contract Sample { uint v = ${variant}; }` },
        { path: '../../odd "name" \\ {}, __proto__', content: 'library Odd {}' },
      ],
    },
    ...rest,
  };
}
