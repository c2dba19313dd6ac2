import { judgeContract, type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { readTrailingAuxdata } from '../../bytecode/auxdata.ts';
import { templateOf } from '../../bytecode/recompiled-code.ts';
import { hexToBytes } from '../../lib/hex.ts';
import { EventLoopYielder } from '../../lib/event-loop-yielder.ts';
import { type MetadataChange } from '../../solidity/setting-changes.ts';
import { type CompilationTarget, type StandardJsonInput } from '../../solidity/standard-json.ts';
import { type CompilationTask } from '../compilation/compilation-task.ts';
import { type CompiledTarget } from '../compilation/compile-contract.ts';
import { compileAllBytecode } from '../compilation/compile-codes.ts';
import { compilerErrorFailure } from '../compilation/compiler-errors.ts';
import { readConfiguredLibraries } from '../compilation/configured-libraries.ts';
import { describeCompilation } from '../compilation/describe-compilation.ts';
import {
  describeOtherLibraries,
  findOtherLibraryAddresses,
} from '../diagnosis/other-library-addresses.ts';
import { removeUnprovenSettings } from '../compilation/drop-unused-settings.ts';
import { tryOtherFileOrder } from '../compilation/file-order.ts';
import {
  findMetadataChange,
  listMetadataChanges,
  withMetadata,
} from '../compilation/metadata-form.ts';
import { type Attempt, findNeededSources, type Trial } from '../compilation/needed-sources.ts';
import { type VerificationTask } from '../compilation/read-compilation-task.ts';
import { requireBytecodeSize } from '../code-size.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { type VerificationParts } from '../verify-contract.ts';
import { ResponseSizeLimiter } from './response-size-limiter.ts';
import { ContractRanking } from './contract-ranking.ts';
import {
  type SubmittedCodes,
  type SubmittedCodeMatch,
  type SubmittedCodeRequest,
} from './submitted-codes.ts';
import { RecentCompilations } from './recent-compilations.ts';

/** A contract of the compilation, how it was compiled, and the comparison with the submitted bytecode. */
interface Candidate {
  readonly task: Task;
  readonly trial: Trial;
  readonly attempt: Attempt;
}

type Task = VerificationTask['task'];
type Parts = Pick<VerificationParts, 'compilers' | 'reader' | 'sourceBytes'>;

/**
 * Compares submitted bytecode with the contracts of a compilation, the most similar first. As with a stored
 * match, the result contains only the sources and settings that the bytecode proves.
 * @returns the best match for each pair of bytecodes, or undefined
 * @throws VerificationFailure of the compilation, settings_not_proven for a single pair; FullmatchError of
 * the compilers, answer_too_large; the reason of `signal`
 */
export async function verifySubmittedCodes(
  parts: Parts,
  { request, codes }: SubmittedCodeRequest,
  signal: AbortSignal,
): Promise<readonly (SubmittedCodeMatch | undefined)[]> {
  const { reader, sourceBytes } = parts;
  const asked = await reader.ask({ read: 'task', bytes: request.packed, sourceBytes }, signal);
  if (asked.task === 'stored') throw new Error('submitted bytecode requires a compilation');
  for (const { creationCode, runtimeCode } of codes) {
    for (const code of [creationCode, runtimeCode]) {
      if (code !== undefined) requireBytecodeSize('that was sent', (code.length - 2) / 2);
    }
  }
  const { task, trySettings = false } = asked;
  // Up to 100 bytecodes are compared with up to thousands of contracts, on the main thread.
  const pauses = new EventLoopYielder();
  const search = { compilations: new RecentCompilations(parts, signal), pauses, signal };
  const compile = memoize((metadata) => compileWith(parts, task, metadata, signal));
  const size = new ResponseSizeLimiter();
  const found: (SubmittedCodeMatch | undefined)[] = [];
  // With several pairs, a failure of one must not affect the others.
  const pass = passCodes(codes.length > 1 ? ['settings_not_proven'] : []);
  for (const given of codes) {
    let match: SubmittedCodeMatch | undefined;
    let first: { task: Task; targets: readonly CompilationTarget[] } | undefined;
    for (const metadata of trySettings ? metadataChangesFor(task, given) : [undefined]) {
      const { task: changed, ranking } = await compile(metadata);
      const targets = await ranking.nearest(given);
      const best = await findBest(changed, given, targets, search);
      match = best && (await prove(parts, best, signal).catch(pass));
      if (match !== undefined) break;
      first ??= { task: changed, targets };
    }
    if (match === undefined && first !== undefined && codes.length === 1) {
      await requireGivenLibraries(first.task, given, first.targets, search);
    }
    if (match !== undefined) size.add(match);
    await pauses.take();
    found.push(match);
  }
  return found;
}

/** All contracts of a task, compiled with a change of its metadata settings. */
interface CompiledTask {
  readonly task: Task;
  readonly ranking: ContractRanking;
}

/** @throws VerificationFailure of the compilation */
async function compileWith(
  parts: Parts,
  given: Task,
  metadata: MetadataChange | undefined,
  signal: AbortSignal,
): Promise<CompiledTask> {
  const task = withMetadata(given, metadata);
  const { errors, codes } = await compileAllBytecode(parts, task, signal);
  if (errors.length > 0) throw compilerErrorFailure(errors);
  return { task, ranking: new ContractRanking(codes, signal) };
}

/** Returns a function that compiles once for each change of the metadata settings. */
function memoize(
  compile: (metadata: MetadataChange | undefined) => Promise<CompiledTask>,
): typeof compile {
  const known = new Map<string | undefined, Promise<CompiledTask>>();
  return (metadata) => {
    const key = JSON.stringify(metadata);
    const compiled = known.get(key) ?? compile(metadata);
    known.set(key, compiled);
    return compiled;
  };
}

/** Lists the metadata settings that a bytecode may have been compiled with: plain sources come without them. */
function metadataChangesFor(
  task: Task,
  { runtimeCode, creationCode = '0x' }: SubmittedCodes,
): readonly (MetadataChange | undefined)[] {
  return runtimeCode === undefined
    ? listMetadataChanges(task, hexToBytes(creationCode))
    : [findMetadataChange(task, hexToBytes(runtimeCode))];
}

/** A contract without bytecode cannot have been deployed. */
const withoutCode = passCodes(['no_compiler_output']);

/** Shared state of the search for the bytecodes of one request. */
interface Search {
  readonly compilations: RecentCompilations;
  readonly pauses: EventLoopYielder;
  readonly signal: AbortSignal;
}

async function findBest(
  open: Task,
  given: SubmittedCodes,
  targets: readonly CompilationTarget[],
  search: Search,
): Promise<Candidate | undefined> {
  let best: Candidate | undefined;
  for (const target of targets) {
    const task = { ...open, target };
    const trial = trialOf(task, given, search);
    const compiled = await trial.compile(task.input).catch(withoutCode);
    await search.pauses.take();
    if (compiled === undefined) continue;
    const judgement = trial.judge(task.input, compiled);
    const first = { input: task.input, compiled, judgement, dropped: [], compileTimeMs: 0 };
    const tried = await tryOtherFileOrder(
      task,
      { found: first, trial },
      (each) => trialOf(each, given, search).compile,
    );
    const { judgement: found } = tried.found;
    if (rankOf(found) <= rankOf(best?.attempt.judgement)) continue;
    best = {
      task: { ...task, input: tried.found.input },
      trial: tried.trial,
      attempt: tried.found,
    };
    if (found.match === 'full') break;
  }
  return best;
}

/** Returns functions that compile inputs of a task and compare them with the submitted bytecode. */
function trialOf(
  task: CompilationTask,
  given: SubmittedCodes,
  { compilations, signal }: Search,
): Trial {
  return {
    compile: (input, within = signal) => compilations.compile(task, input, within),
    judge: (input, compiled) => judge(task.language, input, given, compiled),
    hasSameMetadata: (compiled) => hasSameMetadata(compiled, given),
  };
}

/**
 * Returns whether a submitted bytecode has the metadata hash of a compilation; in creation bytecode,
 * constructor arguments may follow it.
 */
function hasSameMetadata(
  { codes }: CompiledTarget,
  { runtimeCode, creationCode = '0x' }: SubmittedCodes,
): boolean {
  const recompiled = templateOf(codes.runtime).bytes;
  const ours = readTrailingAuxdata(recompiled);
  if (ours?.metadataHash === undefined) return false;
  const auxdata = recompiled.subarray(ours.offset);
  if (runtimeCode === undefined) return hexToBytes(creationCode).includes(auxdata);
  const theirs = hexToBytes(runtimeCode);
  return theirs.subarray(-auxdata.length).equals(auxdata);
}

/**
 * Throws if a single bytecode without a match differs from the compilation only in library addresses.
 * @throws VerificationFailure library_address_differs
 */
async function requireGivenLibraries(
  open: Task,
  given: SubmittedCodes,
  targets: readonly CompilationTarget[],
  search: Search,
): Promise<void> {
  const { runtimeCode, creationCode } = given;
  for (const target of targets) {
    const { compile, judge } = trialOf({ ...open, target }, given, search);
    const compiled = await compile(open.input).catch(withoutCode);
    if (compiled === undefined) continue;
    const libraries = await findOtherLibraryAddresses({
      ...{ input: open.input, compiled, judgement: judge(open.input, compiled), compile, judge },
      onChain: {
        ...(runtimeCode && { runtime: hexToBytes(runtimeCode) }),
        ...(creationCode && { creation: hexToBytes(creationCode) }),
      },
    });
    if (libraries.length > 0) throw describeOtherLibraries(libraries);
    await search.pauses.take();
  }
}

/** Returns a handler that treats failures with these codes as no match. */
function passCodes(passed: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof VerificationFailure && passed.includes(error.code)) return undefined;
    throw error;
  };
}

/**
 * Reduces a match to the sources and settings that it needs.
 * @throws VerificationFailure settings_not_proven
 */
async function prove(
  parts: Parts,
  { task, trial, attempt }: Candidate,
  signal: AbortSignal,
): Promise<SubmittedCodeMatch> {
  const needed = await findNeededSources(task, attempt.compiled, trial);
  const proven = await removeUnprovenSettings(parts.reader, needed, trial, signal);
  const compilation = describeCompilation(task, proven.input, proven.compiled);
  return { compilation, judgement: proven.judgement };
}

function judge(
  language: string,
  input: StandardJsonInput,
  { address, creationCode, runtimeCode }: SubmittedCodes,
  { contract, codes, version }: CompiledTarget,
): ContractJudgement {
  return judgeContract({
    address,
    abi: contract.abi,
    compiler: { language, version },
    ...(runtimeCode !== undefined && {
      runtime: { recompiled: codes.runtime, onChain: hexToBytes(runtimeCode) },
    }),
    ...(creationCode !== undefined && {
      creation: { recompiled: codes.creation, onChain: hexToBytes(creationCode) },
    }),
    libraries: readConfiguredLibraries(input.settings),
  });
}

/** Ranks full before partial, and creation before runtime bytecode. */
function rankOf(judgement: ContractJudgement | undefined): number {
  const rank = { full: 2, partial: 1, none: 0 } as const;
  const { creationMatch = null, runtimeMatch = null, match = null } = judgement ?? {};
  const of = (each: 'full' | 'partial' | null): number => rank[each ?? 'none'];
  return 100 * of(match) + 10 * of(creationMatch) + of(runtimeMatch);
}
