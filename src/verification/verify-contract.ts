import { readTrailingAuxdata } from '../bytecode/auxdata.ts';
import { judgeContract, type ContractJudgement } from '../bytecode/judge-contract.ts';
import { toCodeTemplate } from '../bytecode/recompiled-code.ts';
import { type CodeVerdict } from '../bytecode/verdict.ts';
import { type CreationSearch } from '../chains/creation/creation-search.ts';
import { type Creation } from '../chains/rpc/creation.ts';
import { type DeployedCode } from '../chains/rpc/deployed-code.ts';
import { isDelegation } from '../chains/rpc/delegation.ts';
import { type RegisteredChain } from '../chains/registry/registered-chain.ts';
import { type StandardJsonInput } from '../solidity/standard-json.ts';
import { bytesToHex, checksumAddress } from '../lib/hex.ts';
import { isStorableJson } from '../lib/storable-text.ts';
import type { Compilation, VerifiedContract } from '../repository/repository.ts';
import { readConfiguredLibraries } from './compilation/configured-libraries.ts';
import { chooseTarget } from './compilation/choose-target.ts';
import { type CompilationTask, isUnknownTarget } from './compilation/compilation-task.ts';
import { describeCompilation } from './compilation/describe-compilation.ts';
import {
  compileTarget,
  type CompiledTarget,
  type ContractCompiler,
} from './compilation/compile-contract.ts';
import { requireBytecodeSize } from './code-size.ts';
import { dependsOnOtherFiles } from './compilation/extra-file.ts';
import { removeUnprovenSettings } from './compilation/drop-unused-settings.ts';
import { tryOtherFileOrder } from './compilation/file-order.ts';
import { tryOtherLineEndings } from './compilation/line-endings.ts';
import { type JobReader } from './compilation/job-reader.ts';
import { linkedBySettings, requireDeployedLibraries } from './compilation/linked-libraries.ts';
import { type Attempt, findNeededSources } from './compilation/needed-sources.ts';
import { type VerificationTask } from './compilation/read-compilation-task.ts';
import { type ContractKeys } from './compilation/read-contract-keys.ts';
import { type ContractReading, readContract, type ReadingParts } from './read-on-chain.ts';
import { requireStorableSize } from './compilation/source-size.ts';
import {
  describeDiagnosis,
  type Diagnosis,
  diagnoseMismatch,
} from './diagnosis/diagnose-mismatch.ts';
import {
  describeOtherLibraries,
  findOtherLibraryAddresses,
  type OtherLibraryAddress,
} from './diagnosis/other-library-addresses.ts';
import { VerificationFailure, type ComparedCodes } from './verification-failure.ts';
import { type Deployment } from './verification-request.ts';

/** Dependencies of a verification. */
export interface VerificationParts extends ReadingParts {
  readonly compilers: ContractCompiler;
  readonly reader: JobReader;
  /** Limit on the source text of a contract, in bytes. */
  readonly sourceBytes: number;
  /** Returns a chain on which contracts may be verified, or undefined. */
  readonly findSupportedChain: (chainId: number) => RegisteredChain | undefined;
  /** Whether other jobs are waiting, which shortens the diagnosis of a failure; if absent, none are. */
  readonly doOthersWait?: () => boolean;
}

/** A verification that found a match. */
export interface VerificationResult {
  readonly contract: VerifiedContract;
  readonly compileTimeMs: number;
  /** Other contracts of the stored sources, such as those that this one creates; indexed by their bytecode. */
  readonly others?: readonly ContractKeys[];
  /** Paths of submitted sources that the compilation does not need; they are not published. */
  readonly droppedSources: readonly string[];
}

/** Returns whether the runtime or the creation match is full. */
export const isFullMatch = ({
  runtimeMatch,
  creationMatch,
}: Pick<VerifiedContract, 'runtimeMatch' | 'creationMatch'>): boolean =>
  runtimeMatch === 'full' || creationMatch === 'full';

/** Data read from the chain: the runtime bytecode, the creation if known, and the steps of the creation search. */
export interface OnChain {
  readonly deployed: DeployedCode;
  readonly creation: Creation | undefined;
  readonly methods: CreationSearch['methods'];
}

/**
 * Verifies a deployment against a compilation: reads the bytecode on chain while the compiler loads, compiles
 * during the creation search, and compares runtime and creation bytecode byte for byte. Stores nothing.
 * @param given a reading of the contract; if absent, starts its own
 * @returns a contract whose runtime bytecode matches.
 * @throws VerificationFailure if it does not match, or the check could not be completed; FullmatchError of
 * the parts, which {@link toVerificationFailure} converts; the reason of `signal`.
 */
export async function verifyContract(
  parts: VerificationParts,
  deployment: VerificationTask,
  signal: AbortSignal,
  given?: ContractReading,
): Promise<VerificationResult> {
  const chain = requireSupportedChain(parts, deployment);
  const reading = given ?? readContract(parts, chain, deployment, signal);
  void reading.creation();
  const giveUpCompiler = parts.compilers.prepare(deployment.task);
  try {
    return await compare(parts, chain, deployment, reading, signal);
  } finally {
    giveUpCompiler();
    if (given === undefined) reading.stop();
  }
}

/** @throws VerificationFailure unsupported_chain */
export function requireSupportedChain(
  { findSupportedChain }: Pick<VerificationParts, 'findSupportedChain'>,
  { chainId }: Deployment,
): RegisteredChain {
  const chain = findSupportedChain(chainId);
  if (chain !== undefined) return chain;
  throw new VerificationFailure(
    'unsupported_chain',
    `Contracts of chain ${chainId} cannot be verified here.`,
  );
}

async function compare(
  parts: VerificationParts,
  chain: RegisteredChain,
  asked: VerificationTask,
  reading: ContractReading,
  signal: AbortSignal,
): Promise<VerificationResult> {
  // If the contract is not on chain, there is no need to compile.
  const deployed = await reading.deployed();
  requireBytecodeSize('on chain', deployed.code.length);
  if (isDelegation(deployed.code)) throw describeDelegation(asked, deployed);
  const target = isUnknownTarget(asked.task.target)
    ? await chooseTarget(parts, asked.task, deployed.code, signal)
    : asked.task.target;
  const task = { ...asked.task, target };
  const deployment = { ...asked, task };
  const compileFor =
    (each: CompilationTask) =>
    (input: StandardJsonInput, within = signal): Promise<CompiledTarget> =>
      compileTarget(parts, each, input, within);
  const compile = compileFor(task);
  const first = await compileTarget(parts, task, task.input, signal, { withOthers: true });
  const { creation, methods } = await reading.creation();
  const onChain: OnChain = { deployed, creation, methods };
  const byName = {
    compile,
    judge: (input: StandardJsonInput, compiled: CompiledTarget) =>
      judge(deployment, input, compiled, onChain),
    hasSameMetadata: (compiled: CompiledTarget) => hasSameMetadata(compiled, onChain),
  };
  const given = await findNeededSources(task, first, byName);
  const { found: needed, trial } = await tryOtherFileOrder(
    task,
    { found: await tryOtherLineEndings(task, given, byName), trial: byName },
    compileFor,
  );
  if (needed.judgement.match === null) {
    const isFilesFault =
      isOtherCode(needed.judgement) &&
      hasSameMetadata(needed.compiled, onChain) &&
      (await dependsOnOtherFiles(task, needed.input, needed.compiled, compile));
    const libraries = await findOtherLibraryAddresses({
      ...{ ...needed, compile: trial.compile, judge: trial.judge },
      onChain: {
        runtime: deployed.code,
        ...(creation && { creation: creation.creationCode }),
      },
    }).catch(() => {
      signal.throwIfAborted();
      return [];
    });
    const diagnosis =
      isFilesFault || libraries.length > 0 || !isOtherCode(needed.judgement)
        ? {}
        : await diagnoseMismatch(
            parts,
            {
              ...{ task, input: needed.input, compiled: needed.compiled, onChain: deployed.code },
              compile: (other, input, within) =>
                compileTarget(parts, { ...task, target: other }, input, within),
              judge: trial.judge,
            },
            signal,
          );
    throw describeMismatch(needed, onChain, { isFilesFault, libraries, diagnosis });
  }
  const found = await removeUnprovenSettings(parts.reader, needed, trial, signal);
  const configured = linkedBySettings(found.input, found.compiled);
  await requireDeployedLibraries(parts, chain, configured, found.judgement, signal);
  requireStorableNames(found.compiled);
  requireGivenArguments(deployment, found.judgement.creation);
  const compilation = describeCompilation(task, found.input, found.compiled);
  const contract = {
    ...toVerifiedContract(deployment, compilation, onChain, found.judgement),
    ...(deployment.origin && { origin: deployment.origin }),
  };
  requireStorableSize(contract.compilation.sources, parts.sourceBytes);
  const others = first.others.filter(({ path }) => Object.hasOwn(found.input.sources, path));
  const { compileTimeMs } = found;
  return { contract, others, compileTimeMs, droppedSources: needed.dropped };
}

/**
 * A Yul program can use escapes to put text into the names of immutables and libraries that its source must
 * not contain.
 * @throws VerificationFailure invalid_compiler_input
 */
function requireStorableNames({ evm: { bytecode, deployedBytecode } }: CompiledTarget): void {
  const names = [
    bytecode.linkReferences,
    deployedBytecode.linkReferences,
    deployedBytecode.immutableReferences,
  ];
  if (isStorableJson(names)) return;
  throw new VerificationFailure(
    'invalid_compiler_input',
    'The name of an immutable or library contains a NUL or invalid Unicode; use another name.',
  );
}

/**
 * Compares the constructor arguments from the request, if any, with those in matching creation bytecode.
 * @throws VerificationFailure constructor_arguments_differ
 */
function requireGivenArguments(
  { constructorArguments: given }: VerificationTask,
  creation: CodeVerdict | undefined,
): void {
  if (given === undefined || creation === undefined || creation.match === null) return;
  const { constructorArguments: found = '0x' } = creation.values;
  if (found === given) return;
  throw new VerificationFailure(
    'constructor_arguments_differ',
    'The code matches, but the constructor arguments in the creation transaction differ from those in the request. Send a correct constructor argument list, or leave the arguments out: they are read from the chain.',
    { data: { constructorArguments: found } },
  );
}

function describeDelegation(
  { chainId, address }: Deployment,
  { code, blockNumber }: DeployedCode,
): VerificationFailure {
  const target = bytesToHex(Buffer.from(code).subarray(-20));
  return new VerificationFailure(
    'delegated_account',
    `The address ${checksumAddress(address)} on chain ${chainId} is an account that runs the code of ${checksumAddress(target)} (EIP-7702), not a contract. Verify that contract.`,
    { data: { blockNumber, delegatesTo: checksumAddress(target) } },
  );
}

function judge(
  { address, task: { language } }: VerificationTask,
  { settings }: StandardJsonInput,
  { contract, codes, version }: CompiledTarget,
  { deployed, creation }: OnChain,
): ContractJudgement {
  if (creation) requireBytecodeSize('that created it', creation.creationCode.length);
  return judgeContract({
    address,
    abi: contract.abi,
    compiler: { language, version },
    runtime: { recompiled: codes.runtime, onChain: deployed.code },
    ...(creation && { creation: { recompiled: codes.creation, onChain: creation.creationCode } }),
    libraries: readConfiguredLibraries(settings),
  });
}

/**
 * Returns whether both runtime bytecodes end with the same auxdata: the sources are then identical, although
 * the bytecode differs.
 */
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
    ...(creation && {
      onchainCreationCode: bytesToHex(creation.creationCode),
      creationTransactionHash: creation.transactionHash,
    }),
  };
}

const REASON_TEXTS = {
  compiled_bytecode_is_zero:
    'The compilation produces no bytecode: an interface or an abstract contract cannot be deployed.',
  bytecode_length_mismatch: 'The bytecode on chain and the compiled bytecode differ in length.',
  no_match: 'The bytecode on chain differs from the compiled bytecode.',
  immutable_out_of_range:
    'The code on chain has an immutable whose value is outside the range of its type. Only the creation transaction can prove such a value; provide its hash.',
  immutable_not_proven:
    'The code on chain has an immutable that holds an internal function or has an unknown type. Only the creation transaction can prove its value; provide its hash.',
  library_not_deployed:
    'The code on chain links a library at an address where no contract can be deployed.',
  call_protection_missing:
    'The code on chain is a library with zeros instead of its own address: these sources did not create it, and its functions can be called directly.',
} as const;

/**
 * Messages for bytecode that is equal, while the creation bytecode that should prove an immutable does not
 * come from the sources.
 */
const OTHER_CREATION_TEXTS: Readonly<Record<string, string>> = {
  immutable_not_proven:
    'The code on chain has an immutable that holds an internal function or has an unknown type, and the creation code does not match these sources. It is not proven that their constructor set the value.',
  immutable_out_of_range:
    'The code on chain has an immutable whose value is outside the range of its type, and the creation code does not match these sources. It is not proven that their constructor set the value.',
};

/** Returns whether bytes of the runtime bytecode differ outside the explained values. */
function isOtherCode({ runtime }: ContractJudgement): boolean {
  const reason = runtime?.match === null ? runtime.reason : 'no_match';
  return reason === 'no_match' || reason === 'bytecode_length_mismatch';
}

/** The cause of a mismatch, as far as it is known. */
interface MismatchCause {
  /** Whether the bytecode was found to depend on files that are not imported. */
  readonly isFilesFault: boolean;
  /** Libraries whose addresses are the only difference. */
  readonly libraries: readonly OtherLibraryAddress[];
  readonly diagnosis: Diagnosis;
}

/**
 * Builds the failure of the runtime bytecode. A matching creation is reported with it: the constructor
 * returned different code.
 */
function describeMismatch(
  { judgement: { runtime, creation }, compiled }: Attempt,
  onChain: OnChain,
  { isFilesFault, libraries, diagnosis }: MismatchCause,
): VerificationFailure {
  const codes = comparedCodes(compiled, onChain);
  const data = {
    runtime: runtime?.match === null ? runtime : undefined,
    creation: creation?.match ? { match: creation.match } : creation,
    ...(Object.keys(diagnosis).length > 0 && { diagnosis }),
  };
  if (libraries.length > 0) return describeOtherLibraries(libraries, { codes, data });
  const reason = runtime?.match === null ? runtime.reason : 'no_match';
  if (isFilesFault) {
    return new VerificationFailure(
      'extra_file_input_bug',
      'The metadata matches the code on chain, but the code does not. The code depends on files that the contract does not import. Verify with the complete standard JSON input of the original compilation.',
      { codes, data },
    );
  }
  const otherCreation = creation && OTHER_CREATION_TEXTS[reason];
  if (otherCreation !== undefined) {
    const code = reason === 'immutable_not_proven' ? 'no_match' : reason;
    return new VerificationFailure(code, otherCreation, { codes, data });
  }
  const more = creation?.match
    ? ' The creation code matches these sources, but the constructor returned different code.'
    : '';
  const message = REASON_TEXTS[reason] + more + describeDiagnosis(diagnosis);
  return new VerificationFailure(reason, message, { codes, data });
}

/** Returns the stored form of a matching verdict. */
export function toStoredVerdict(verdict: CodeVerdict | undefined): VerifiedContract['runtime'] {
  if (verdict === undefined || verdict.match === null) return undefined;
  return {
    transformations: verdict.transformations.map((each) => ({ ...each })),
    values: { ...verdict.values },
  };
}

/** Builds the stored form of a contract from a compilation that matches. */
export function toVerifiedContract(
  { chainId, address }: Deployment,
  compilation: Compilation,
  { deployed, creation, methods }: OnChain,
  judgement: ContractJudgement,
): VerifiedContract {
  const { runtime, creation: created } = judgement;
  const { blockNumber, blockHash, endpoints, witnesses } = deployed;
  const runtimeTransformed = toStoredVerdict(runtime);
  const creationTransformed = toStoredVerdict(created);
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
    compilation,
    ...(runtimeTransformed && { runtime: runtimeTransformed }),
    ...(creationTransformed && { creation: creationTransformed }),
    codeReading: { blockNumber, blockHash, endpoints, witnesses },
    // A transaction that was named but is not the creation is not recorded.
    creationSearch: methods.map(({ method, outcome, detail, durationMs }) => ({
      method,
      outcome,
      ...(detail !== undefined && { detail }),
      durationMs,
    })),
  };
}
