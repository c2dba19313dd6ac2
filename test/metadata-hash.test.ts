import { expect, test } from 'vitest';
import { readTrailingAuxdata } from '../src/bytecode/auxdata.ts';
import { hashMetadata } from '../src/bytecode/metadata-hash.ts';
import { compileInChild, type SolcVersion } from './support/compile-in-child.ts';

interface Output {
  readonly contracts: {
    readonly 'A.sol': {
      readonly A: {
        readonly metadata: string;
        readonly evm: { readonly deployedBytecode: { readonly object: string } };
      };
    };
  };
}

/** Compiles a contract whose metadata contains its source, with a comment of `padding` bytes. */
async function compilePadded(
  version: SolcVersion,
  kind: string | undefined,
  paddings: readonly number[],
): Promise<readonly Output['contracts']['A.sol']['A'][]> {
  const inputs = paddings.map((padding) => ({
    language: 'Solidity',
    sources: { 'A.sol': { content: `contract A {} //${'é'.repeat(9)}${'x'.repeat(padding)}` } },
    settings: {
      metadata: { useLiteralContent: true, ...(kind !== undefined && { bytecodeHash: kind }) },
      outputSelection: { '*': { '*': ['metadata', 'evm.deployedBytecode.object'] } },
    },
  }));
  const outputs = await compileInChild<Output>(version, inputs);
  return outputs.map(({ contracts }) => contracts['A.sol'].A);
}

const SWARM_CHUNK = 4096;
const SWARM_BRANCH = 128 * SWARM_CHUNK;
const IPFS_CHUNK = 256 * 1024;

test.each([
  ['0.4.11', undefined, [SWARM_CHUNK, SWARM_BRANCH + SWARM_CHUNK]],
  ['0.6.12', 'bzzr1', [SWARM_CHUNK, SWARM_BRANCH + SWARM_CHUNK]],
  ['0.8.37', 'ipfs', [IPFS_CHUNK, 2 * IPFS_CHUNK]],
] as const)(
  'the bytecode of solc %s contains the metadata hash that is computed here, for any size (%s)',
  { timeout: 120_000 },
  async (version, kind, sizes) => {
    const [plain] = await compilePadded(version, kind, [0]);
    const least = Buffer.byteLength(plain?.metadata ?? '');
    const paddings = sizes.flatMap((size) => [size - least, size - least + 1]);
    for (const { metadata, evm } of await compilePadded(version, kind, [0, ...paddings])) {
      const code = Buffer.from(evm.deployedBytecode.object, 'hex');
      const auxdata = readTrailingAuxdata(code);
      if (auxdata?.metadataHash === undefined) throw new Error('the code names no metadata');
      const start = auxdata.offset + auxdata.metadataHash.offset;
      const hash = Buffer.from(hashMetadata(auxdata.metadataHash.kind, metadata));
      const size = Buffer.byteLength(metadata);
      expect(hash.toString('hex'), `${auxdata.metadataHash.kind} of ${size} bytes`).toBe(
        code.subarray(start, start + 32).toString('hex'),
      );
    }
  },
);
