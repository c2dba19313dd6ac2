import { judgeContract, type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { hexToBytes } from '../../lib/hex.ts';
import { Pauses } from '../../lib/pauses.ts';
import { type CompilationTarget, type StandardJsonInput } from '../../solidity/standard-json.ts';
import { type CompiledTarget } from '../compilation/compile-contract.ts';
import { compileCodes } from '../compilation/compile-codes.ts';
import { refusedByCompiler } from '../compilation/compiler-errors.ts';
import { readConfiguredLibraries } from '../compilation/configured-libraries.ts';
import { describeCompilation } from '../compilation/describe-compilation.ts';
import { withoutUnusedSettings } from '../compilation/drop-unused-settings.ts';
import { findNeededSources } from '../compilation/needed-sources.ts';
import { type VerificationTask } from '../compilation/read-compilation-task.ts';
import { requireBounded } from '../code-size.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { type VerificationParts } from '../verify-contract.ts';
import { AnswerSize } from './answer-size.ts';
import { ContractRanking } from './contract-ranking.ts';
import { type GivenCodes, type GivenMatch, type GivenRequest } from './given-codes.ts';
import { RecentCompilations } from './recent-compilations.ts';

/** A contract of the compilation, and how it compares with given codes. */
interface Candidate {
  readonly target: CompilationTarget;
  readonly compiled: CompiledTarget;
  readonly judgement: ContractJudgement;
}

type Task = VerificationTask['task'];
type Parts = Pick<VerificationParts, 'compilers' | 'reader' | 'sourceBytes'>;

/**
 * Judges given codes by the contracts of a compilation: all of them are tried, the nearest first. Of a match only what
 * the code proves is told, as of one that is stored: no sources and settings that it does not need.
 * @returns for each pair of codes the best match, or undefined
 * @throws VerificationFailure of the compilation, settings_not_proven of a single pair; FullmatchError of the compilers,
 * answer_too_large; the reason of `signal`
 */
export async function verifyGivenCodes(
  parts: Parts,
  { request, codes }: GivenRequest,
  signal: AbortSignal,
): Promise<readonly (GivenMatch | undefined)[]> {
  const asked = await parts.reader.readTask(request.packed, parts.sourceBytes, signal);
  if (asked.task === 'stored') throw new Error('given codes come with a compilation');
  const { task } = asked;
  for (const { creationCode, runtimeCode } of codes) {
    for (const code of [creationCode, runtimeCode]) {
      if (code !== undefined) requireBounded('that was sent', (code.length - 2) / 2);
    }
  }
  const { errors, codes: compiled } = await compileCodes(parts, task, signal);
  if (errors.length > 0) throw refusedByCompiler(errors);
  // Codes of up to 100 contracts are compared with those of up to thousands, on the thread that serves.
  const pauses = new Pauses();
  const ranking = new ContractRanking(compiled, signal);
  const compilations = new RecentCompilations(parts, task, signal);
  const size = new AnswerSize();
  const found: (GivenMatch | undefined)[] = [];
  // One among several stands in no other's way.
  const pass = passCodes(codes.length > 1 ? ['settings_not_proven'] : []);
  for (const given of codes) {
    const nearest = await ranking.nearest(given);
    const best = await findBest(task, given, nearest, { compilations, pauses });
    const match = best && (await prove(parts, task, given, best, compilations, signal).catch(pass));
    if (match !== undefined) size.add(match);
    await pauses.take();
    found.push(match);
  }
  return found;
}

/** A contract that gives no code is none that was deployed. */
const withoutCode = passCodes(['no_compiler_output']);

async function findBest(
  task: Task,
  given: GivenCodes,
  targets: readonly CompilationTarget[],
  { compilations, pauses }: { readonly compilations: RecentCompilations; readonly pauses: Pauses },
): Promise<Candidate | undefined> {
  let best: Candidate | undefined;
  for (const target of targets) {
    const compiled = await compilations.compile(target, task.input).catch(withoutCode);
    await pauses.take();
    if (compiled === undefined) continue;
    const judgement = judge(task.language, task.input, given, compiled);
    if (rankOf(judgement) <= rankOf(best?.judgement)) continue;
    best = { target, compiled, judgement };
    if (judgement.match === 'full') break;
  }
  return best;
}

/** Takes failures of these codes for no match. */
function passCodes(passed: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof VerificationFailure && passed.includes(error.code)) return undefined;
    throw error;
  };
}

/** The match with the sources and settings that it needs alone. @throws VerificationFailure settings_not_proven */
async function prove(
  parts: Parts,
  open: Task,
  given: GivenCodes,
  { target, compiled: first }: Candidate,
  compilations: RecentCompilations,
  signal: AbortSignal,
): Promise<GivenMatch> {
  const task = { ...open, target };
  const trial = {
    compile: (input: StandardJsonInput, within = signal) =>
      compilations.compile(target, input, within),
    judge: (input: StandardJsonInput, compiled: CompiledTarget) =>
      judge(task.language, input, given, compiled),
    hasSameMetadata: () => false,
  };
  const needed = await findNeededSources(task, first, trial);
  const proven = await withoutUnusedSettings(parts.reader, needed, trial, signal);
  const compilation = describeCompilation(task, proven.input, proven.compiled);
  return { compilation, judgement: proven.judgement };
}

function judge(
  language: string,
  input: StandardJsonInput,
  { address, creationCode, runtimeCode }: GivenCodes,
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

/** Full before partial; the creation code before the running code. */
function rankOf(judgement: ContractJudgement | undefined): number {
  const rank = { full: 2, partial: 1, none: 0 } as const;
  const { creationMatch = null, runtimeMatch = null, match = null } = judgement ?? {};
  const of = (each: 'full' | 'partial' | null): number => rank[each ?? 'none'];
  return 100 * of(match) + 10 * of(creationMatch) + of(runtimeMatch);
}
