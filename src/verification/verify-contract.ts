import { readTrailingAuxdata } from '../bytecode/auxdata.ts';
import { judgeContract, type ContractJudgement } from '../bytecode/judge-contract.ts';
import { toCodeTemplate } from '../bytecode/recompiled-code.ts';
import { type CodeVerdict } from '../bytecode/verdict.ts';
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
import { findMetadataChange, withMetadata } from './compilation/metadata-form.ts';
import { linkedBySettings, requireDeployedLibraries } from './compilation/linked-libraries.ts';
import { findNeededSources, type NeededSources, type Trial } from './compilation/needed-sources.ts';
import { type VerificationTask } from './compilation/read-compilation-task.ts';
import { type ContractKeys } from './compilation/read-contract-keys.ts';
import {
  type ContractReading,
  type OnChain,
  readContract,
  type ReadingParts,
} from './read-on-chain.ts';
import { requireStorableSize } from './compilation/source-size.ts';
import {
  describeMismatch,
  isOtherCode,
  type MismatchFacts,
} from './diagnosis/describe-mismatch.ts';
import { diagnoseMismatch } from './diagnosis/diagnose-mismatch.ts';
import { findOtherLibraryAddresses } from './diagnosis/other-library-addresses.ts';
import { type SettingChanges } from '../solidity/setting-changes.ts';
import { VerificationFailure } from './verification-failure.ts';
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
  /** How long a failure is diagnosed, in milliseconds; 0 to try nothing. */
  readonly diagnosisMs: number;
}

/** A verification that found a match. */
export interface VerificationResult {
  readonly contract: VerifiedContract;
  readonly compileTimeMs: number;
  /** Other contracts of the stored sources, such as those that this one creates; indexed by their bytecode. */
  readonly others?: readonly ContractKeys[];
  /** Paths of submitted sources that the compilation does not need; they are not published. */
  readonly droppedSources: readonly string[];
  /** Settings that were changed for the match; absent if the submitted ones match. */
  readonly changedSettings?: SettingChanges;
}

/** Returns whether the runtime or the creation match is full. */
export const isFullMatch = ({
  runtimeMatch,
  creationMatch,
}: Pick<VerifiedContract, 'runtimeMatch' | 'creationMatch'>): boolean =>
  runtimeMatch === 'full' || creationMatch === 'full';

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
  const metadata =
    asked.trySettings === true ? findMetadataChange(asked.task, deployed.code) : undefined;
  const given = withMetadata(asked.task, metadata);
  const target = isUnknownTarget(given.target)
    ? await chooseTarget(parts, given, deployed.code, signal)
    : given.target;
  const submitted = { ...asked, task: { ...given, target } };
  // Compiles during the creation search.
  const first = await compileWithOthers(parts, submitted.task, signal);
  const { creation, methods } = await reading.creation();
  const onChain: OnChain = { deployed, creation, methods };
  const result = await findMatch(parts, submitted, { first, onChain }, signal);
  const { task, needed, trial } = result;
  const deployment = { ...submitted, task };
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
  const others = result.first.others.filter(({ path }) => Object.hasOwn(found.input.sources, path));
  const changes = { ...(metadata && { metadata }), ...result.changes };
  return {
    ...{ contract, others, compileTimeMs: found.compileTimeMs, droppedSources: needed.dropped },
    ...(Object.keys(changes).length > 0 && { changedSettings: changes }),
  };
}

const compileWithOthers = (
  parts: VerificationParts,
  task: CompilationTask,
  signal: AbortSignal,
): Promise<CompiledTarget> => compileTarget(parts, task, task.input, signal, { withOthers: true });

/** A compilation that matches, with functions to compile and compare others of the same task. */
interface FoundMatch {
  readonly task: CompilationTask;
  /** The compilation of the task's input. */
  readonly first: CompiledTarget;
  readonly needed: NeededSources;
  readonly trial: Trial;
  /** Settings that were changed for the match. */
  readonly changes?: SettingChanges;
}

/**
 * Compares a compilation with the bytecode on chain, also with fewer files, in another order, or with other
 * line endings. If the request allows it, tries other settings too.
 * @throws VerificationFailure that describes the mismatch
 */
async function findMatch(
  parts: VerificationParts,
  submitted: VerificationTask,
  { first, onChain }: { readonly first: CompiledTarget; readonly onChain: OnChain },
  signal: AbortSignal,
): Promise<FoundMatch> {
  const given = await matchSources(parts, submitted, { first, onChain }, signal);
  if (given.needed.judgement.match !== null) return { task: submitted.task, first, ...given };
  const cause = await findCause(parts, submitted, { ...given, onChain }, signal);
  const { settings } = cause;
  if (settings === undefined || submitted.trySettings !== true) {
    throw describeMismatch(given.needed, onChain, cause);
  }
  const task = { ...settings.task, input: settings.input };
  const other = await compileWithOthers(parts, task, signal);
  const changed = { ...submitted, task };
  const found = await matchSources(parts, changed, { first: other, onChain }, signal);
  if (found.needed.judgement.match === null) {
    throw describeMismatch(given.needed, onChain, cause);
  }
  return { task, first: other, ...found, changes: settings.changes };
}

async function matchSources(
  parts: VerificationParts,
  deployment: VerificationTask,
  { first, onChain }: { readonly first: CompiledTarget; readonly onChain: OnChain },
  signal: AbortSignal,
): Promise<Pick<FoundMatch, 'needed' | 'trial'>> {
  const { task } = deployment;
  const compileFor =
    (each: CompilationTask) =>
    (input: StandardJsonInput, within = signal): Promise<CompiledTarget> =>
      compileTarget(parts, each, input, within);
  const byName = {
    compile: compileFor(task),
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
  return { needed, trial };
}

/** Looks for the cause of a mismatch: other files, other library addresses, or a common mistake. */
async function findCause(
  parts: VerificationParts,
  { task, trySettings }: VerificationTask,
  { needed, trial, onChain }: Pick<FoundMatch, 'needed' | 'trial'> & { readonly onChain: OnChain },
  signal: AbortSignal,
): Promise<MismatchFacts> {
  const { deployed, creation } = onChain;
  const { input, compiled, judgement } = needed;
  const isOther = isOtherCode(judgement);
  const isFilesFault =
    isOther &&
    hasSameMetadata(compiled, onChain) &&
    (await dependsOnOtherFiles(task, input, compiled, trial.compile));
  const libraries = await findOtherLibraryAddresses({
    ...{ input, compiled, judgement, compile: trial.compile, judge: trial.judge },
    onChain: {
      runtime: deployed.code,
      ...(creation && { creation: creation.creationCode }),
    },
  }).catch(() => {
    signal.throwIfAborted();
    return [];
  });
  if (isFilesFault || libraries.length > 0 || !isOther) {
    return { isFilesFault, libraries, diagnosis: {} };
  }
  const { diagnosis, found } = await diagnoseMismatch(
    parts,
    {
      ...{ task, input, compiled, onChain: deployed.code, judge: trial.judge },
      compile: (other, edited, within) => compileTarget(parts, other, edited, within),
    },
    signal,
    { willUseSettings: trySettings === true },
  );
  return { isFilesFault, libraries, diagnosis, ...(found && { settings: found }) };
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
