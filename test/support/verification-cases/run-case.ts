import { isDeepStrictEqual } from 'node:util';
import { bytesToHex, hexToBytes, type Hex } from '../../../src/lib/hex.ts';
import { type RegisteredChain } from '../../../src/chains/registry/registered-chain.ts';
import { type Creation } from '../../../src/chains/rpc/creation.ts';
import { type Compilers } from '../../../src/compilers/compilers.ts';
import { FullmatchError } from '../../../src/errors.ts';
import { type JobReader } from '../../../src/verification/compilation/job-reader.ts';
import { readVerificationTask } from '../../../src/verification/compilation/read-compilation-task.ts';
import { VerificationFailure } from '../../../src/verification/verification-failure.ts';
import {
  verifyContract,
  type VerificationResult,
} from '../../../src/verification/verify-contract.ts';
import { replayedCompilers } from './replayed-compilers.ts';
import { type ExpectedVerdict, type VerificationCase } from './verification-case.ts';

/** A difference from the case's expectation. */
export interface CaseDifference {
  readonly what: string;
  readonly expected: unknown;
  readonly got: unknown;
}

/** The result of a case. */
export interface CaseOutcome {
  readonly differences: readonly CaseDifference[];
  /** Whether the compiler ran or its output was replayed. */
  readonly compiler: 'real' | 'replayed';
  /** Why the case could not be run; absent otherwise. */
  readonly skipped?: string;
}

/** Parts for running a case. */
export interface CaseParts {
  readonly compilers: Compilers;
  readonly reader: JobReader;
  /** The folder whose cases replace missing compilers. */
  readonly folder: string;
}

const CHAIN_ID = 424242;
const ADDRESS: Hex = '0x5fbdb2315678afecb367f032d93f642f64180aa3';
const DEPLOYER: Hex = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const HASH: Hex = `0x${'11'.repeat(32)}`;
const SOURCE_BYTES = 64 * 2 ** 20;
const BLOCK = { blockNumber: 1, blockHash: HASH, endpoints: ['case'], witnesses: 1 } as const;

/** A chain with only the data in the case, for everything that a verification reads. */
function chainOf({ onchain }: VerificationCase) {
  const chain = { record: { chainId: CHAIN_ID }, endpoints: [] } as unknown as RegisteredChain;
  const creation: Creation = {
    ...BLOCK,
    transactionHash: HASH,
    creationCode: hexToBytes(onchain.creationBytecode),
    transactionIndex: 0,
    deployer: DEPLOYER,
    sender: DEPLOYER,
    method: 'transaction',
    isFinal: true,
  };
  return {
    findSupportedChain: () => chain,
    quorumOf: () => undefined,
    // Libraries have arbitrary bytecode.
    readDeployedCode: (_: unknown, address: Hex) =>
      Promise.resolve({
        ...BLOCK,
        code: hexToBytes(address === ADDRESS ? onchain.deployedBytecode : '0x00'),
      }),
    findCreation: () => Promise.resolve({ creation, methods: [] }),
  };
}

/** Verifies like the service, with the real judge, on a chain with the bytecode of the case. */
export async function runCase(each: VerificationCase, parts: CaseParts): Promise<CaseOutcome> {
  const { stdJsonInput, compilerVersion, contractIdentifier } = each.input;
  const compilers = replayedCompilers(parts.compilers, parts.folder);
  const ended = (differences: readonly CaseDifference[]): CaseOutcome => ({
    differences,
    compiler: compilers.hasReplayed() ? 'replayed' : 'real',
  });
  try {
    const task = readVerificationTask(
      {
        chainId: CHAIN_ID,
        address: ADDRESS,
        compilation: {
          ...{ kind: 'standard_json', input: stdJsonInput, compilerVersion, contractIdentifier },
        },
      },
      SOURCE_BYTES,
    );
    const result = await verifyContract(
      {
        ...chainOf(each),
        compilers,
        reader: parts.reader,
        sourceBytes: SOURCE_BYTES,
        diagnosisMs: 0,
      },
      task,
      AbortSignal.timeout(120_000),
    );
    return ended(compare(expectedOf(each), gotOf(result)));
  } catch (error) {
    const isKnown = error instanceof VerificationFailure || error instanceof FullmatchError;
    if (!isKnown) throw error;
    if (error.code === 'unsupported_language') {
      return { ...ended([]), skipped: error.message };
    }
    return ended([
      { what: 'verdict', expected: each.verification, got: `${error.code}: ${error.message}` },
    ]);
  }
}

type Facts = Readonly<Record<string, unknown>>;

function expectedOf({ output, verification }: VerificationCase): ExpectedVerdict & Facts {
  return {
    ...verification,
    runtimeCode: output.deployedBytecode,
    creationCode: output.creationBytecode,
    runtimeAuxdata: output.runtimeCodeArtifacts.cborAuxdata ?? {},
    creationAuxdata: output.creationCodeArtifacts.cborAuxdata ?? {},
    abi: output.compilationArtifacts.abi,
  };
}

const WORDS = { full: 'exact_match', partial: 'match' } as const;

function gotOf({ contract }: VerificationResult): Facts {
  const { runtimeMatch, creationMatch, runtime, creation, compilation } = contract;
  const auxdataOf = (artifacts: Facts = {}): unknown => artifacts['cborAuxdata'] ?? {};
  return {
    runtimeMatch: runtimeMatch && WORDS[runtimeMatch],
    creationMatch: creationMatch && WORDS[creationMatch],
    runtimeTransformations: runtime?.transformations ?? null,
    creationTransformations: creation?.transformations ?? null,
    runtimeValues: runtime?.values ?? null,
    creationValues: creation?.values ?? null,
    runtimeCode: compilation.runtimeCode && bytesToHex(compilation.runtimeCode),
    creationCode: compilation.creationCode && bytesToHex(compilation.creationCode),
    runtimeAuxdata: auxdataOf(compilation.runtimeCodeArtifacts),
    creationAuxdata: auxdataOf(compilation.creationCodeArtifacts),
    abi: compilation.artifacts['abi'],
  };
}

/** Members whose order is unspecified compare as equal in any order. */
function compare(expected: Facts, got: Facts): readonly CaseDifference[] {
  return Object.keys(got)
    .filter((what) => !isDeepStrictEqual(expected[what], got[what]))
    .map((what) => ({ what, expected: expected[what], got: got[what] }));
}
