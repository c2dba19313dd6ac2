import { readTrailingAuxdata } from '../bytecode/auxdata.ts';
import { judgeContract, type ContractJudgement } from '../bytecode/judge-contract.ts';
import { toCodeTemplate } from '../bytecode/recompiled-code.ts';
import { type CodeVerdict } from '../bytecode/verdict.ts';
import { type CreationSearch } from '../chains/creation/creation-search.ts';
import { type Creation } from '../chains/rpc/creation.ts';
import { type DeployedCode } from '../chains/rpc/deployed-code.ts';
import { type RegisteredChain } from '../chains/registered-chain.ts';
import { type StandardJsonInput } from '../compilers/standard-json.ts';
import { bytesToHex } from '../lib/hex.ts';
import { type VerifiedContract } from '../repository/verified-contract.ts';
import { readConfiguredLibraries } from './configured-libraries.ts';
import { describeCompilation } from './describe-compilation.ts';
import { type CompilationTask } from './compilation-task.ts';
import { compileTarget, type CompiledTarget, type ContractCompiler } from './compile-contract.ts';
import { readCompilationTask } from './read-compilation-task.ts';
import { startReading, type ChainReaders, type ChainReading } from './read-on-chain.ts';
import { requireKeptSize } from './source-size.ts';
import { VerificationFailure, type ComparedCodes } from './verification-failure.ts';
import { type VerificationRequest } from './verification-request.ts';

/** What a verification needs of the rest of the service. */
export interface VerificationParts extends ChainReaders {
  readonly compilers: ContractCompiler;
  /** How much source text of a contract is kept, in bytes. */
  readonly sourceBytes: number;
  /** The chain of an id where contracts may be verified, or undefined. */
  readonly findSupportedChain: (chainId: number) => RegisteredChain | undefined;
}

/** A verification that found a match. */
export interface VerificationResult {
  readonly contract: VerifiedContract;
  readonly compileTimeMs: number;
}

/** The codes on chain: what runs, and what created it where that is known; and how it was looked for. */
interface OnChain {
  readonly deployed: DeployedCode;
  readonly creation: Creation | undefined;
  readonly methods: CreationSearch['methods'];
}

/**
 * Verifies a deployment against a compilation: reads the code on chain, compiles while the creation is looked for, and
 * compares both codes byte for byte. Stores nothing.
 * @returns a contract of which at least one code matches.
 * @throws VerificationFailure where none does, or where it could not be found out; FullmatchError of the parts, which
 * {@link toVerificationFailure} turns into one; the reason of `signal`.
 */
export async function verifyContract(
  parts: VerificationParts,
  request: VerificationRequest,
  signal: AbortSignal,
): Promise<VerificationResult> {
  const chain = parts.findSupportedChain(request.chainId);
  if (chain === undefined) {
    throw new VerificationFailure(
      'unsupported_chain',
      `Contracts of chain ${request.chainId} are not verified here.`,
    );
  }
  const task = readCompilationTask(request, parts.sourceBytes);
  const reading = startReading(parts, chain, request, signal);
  try {
    return await compare(parts, request, task, reading, signal);
  } finally {
    reading.stop();
  }
}

async function compare(
  parts: VerificationParts,
  request: VerificationRequest,
  task: CompilationTask,
  reading: ChainReading,
  signal: AbortSignal,
): Promise<VerificationResult> {
  // What does not stand on chain is not compiled.
  const deployed = await reading.deployed;
  let input = task.input;
  let compiled = await compileTarget(parts.compilers, task, input, signal);
  const { creation, methods } = await reading.creation;
  const onChain: OnChain = { deployed, creation, methods };
  let compileTimeMs = compiled.compileTimeMs;
  let judgement = judge(request, input, compiled, onChain);
  const { withAllSources } = task;
  if (judgement.match === null && withAllSources && hasSameMetadata(compiled, onChain)) {
    input = withAllSources;
    compiled = await compileTarget(parts.compilers, task, input, signal);
    compileTimeMs += compiled.compileTimeMs;
    judgement = judge(request, input, compiled, onChain);
  }
  if (judgement.match === null) throw describeMismatch(judgement, compiled, onChain);
  const contract = toVerifiedContract(request, task, input, compiled, onChain, judgement);
  requireKeptSize(contract.compilation.sources, parts.sourceBytes);
  return { contract, compileTimeMs };
}

function judge(
  { address }: VerificationRequest,
  { settings }: StandardJsonInput,
  { contract, codes }: CompiledTarget,
  { deployed, creation }: OnChain,
): ContractJudgement {
  return judgeContract({
    address,
    abi: contract.abi,
    runtime: { recompiled: codes.runtime, onChain: deployed.code },
    ...(creation && { creation: { recompiled: codes.creation, onChain: creation.creationCode } }),
    libraries: readConfiguredLibraries(settings),
  });
}

/** Whether both runtime codes end with the same auxdata: the sources are the very same, and yet the code differs. */
function hasSameMetadata({ codes }: CompiledTarget, { deployed }: OnChain): boolean {
  const recompiled = toCodeTemplate(codes.runtime).bytes;
  const ours = readTrailingAuxdata(recompiled);
  const theirs = readTrailingAuxdata(deployed.code);
  if (ours?.metadataHash === undefined || theirs?.metadataHash === undefined) return false;
  return recompiled
    .subarray(ours.offset)
    .equals(Buffer.from(deployed.code).subarray(theirs.offset));
}

function comparedCodes({ codes }: CompiledTarget, { deployed, creation }: OnChain): ComparedCodes {
  return {
    recompiledRuntimeCode: bytesToHex(toCodeTemplate(codes.runtime).bytes),
    recompiledCreationCode: bytesToHex(toCodeTemplate(codes.creation).bytes),
    onchainRuntimeCode: bytesToHex(deployed.code),
    ...(creation && { onchainCreationCode: bytesToHex(creation.creationCode) }),
  };
}

const REASON_TEXTS = {
  compiled_bytecode_is_zero:
    'The compilation gives no code: an interface or an abstract contract is never deployed.',
  bytecode_length_mismatch:
    'The code on chain is longer or shorter than the code of these sources.',
  no_match: 'The code on chain is not the code of these sources.',
} as const;

/** The fault is told by the code that runs, since everybody has that one. */
function describeMismatch(
  { runtime, creation }: ContractJudgement,
  compiled: CompiledTarget,
  onChain: OnChain,
): VerificationFailure {
  const codes = comparedCodes(compiled, onChain);
  const describe = (verdict: CodeVerdict | undefined): object | undefined =>
    verdict?.match === null ? verdict : undefined;
  const data = { runtime: describe(runtime), creation: describe(creation) };
  if (hasSameMetadata(compiled, onChain)) {
    return new VerificationFailure(
      'extra_file_input_bug',
      'The metadata is that of the code on chain, and the code is not: the compiler was given more files. Verify with the whole standard JSON input of that compilation.',
      { codes, data },
    );
  }
  const reason = runtime?.match === null ? runtime.reason : 'no_match';
  return new VerificationFailure(reason, REASON_TEXTS[reason], { codes, data });
}

function toVerifiedContract(
  request: VerificationRequest,
  task: CompilationTask,
  input: StandardJsonInput,
  compiled: CompiledTarget,
  { deployed, creation, methods }: OnChain,
  judgement: ContractJudgement,
): VerifiedContract {
  const { chainId, address } = request;
  const { runtime, creation: created } = judgement;
  const { blockNumber, blockHash, endpoints } = deployed;
  const transformed = (
    verdict: CodeVerdict | undefined,
  ): VerifiedContract['runtime'] | undefined =>
    verdict === undefined || verdict.match === null
      ? undefined
      : {
          transformations: verdict.transformations.map((each) => ({ ...each })),
          values: { ...verdict.values },
        };
  const runtimeTransformed = transformed(runtime);
  const creationTransformed = transformed(created);
  return {
    chainId,
    address,
    runtimeMatch: judgement.runtimeMatch,
    creationMatch: judgement.creationMatch,
    origin: 'verified',
    deployment: {
      runtimeCode: deployed.code,
      ...(creation && {
        transactionHash: creation.transactionHash,
        blockNumber: creation.blockNumber,
        transactionIndex: creation.transactionIndex,
        deployer: creation.deployer,
        creationCode: creation.creationCode,
      }),
    },
    compilation: describeCompilation(task, input, compiled),
    ...(runtimeTransformed && { runtime: runtimeTransformed }),
    ...(creationTransformed && { creation: creationTransformed }),
    codeReading: { blockNumber, blockHash, endpoints },
    // A transaction that was named and is not the creation leaves no trace.
    creationSearch: methods.map(({ method, outcome, detail, durationMs }) => ({
      method,
      outcome,
      ...(detail !== undefined && { detail }),
      durationMs,
    })),
  };
}
