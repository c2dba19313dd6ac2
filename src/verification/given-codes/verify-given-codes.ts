import { judgeContract, type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { type CompilationTarget } from '../../solidity/standard-json.ts';
import type { Compilation } from '../../repository/repository.ts';
import { countSame } from '../compilation/choose-target.ts';
import { compileTarget, type CompiledTarget } from '../compilation/compile-contract.ts';
import { refusedByCompiler } from '../compilation/compiler-errors.ts';
import { readConfiguredLibraries } from '../compilation/configured-libraries.ts';
import { describeCompilation } from '../compilation/describe-compilation.ts';
import { languageOf } from '../compilation/languages/all-languages.ts';
import { type VerificationTask } from '../compilation/read-compilation-task.ts';
import { type ContractCodes } from '../compilation/read-output.ts';
import { requireBounded } from '../code-size.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { type PackedRequest } from '../verification-request.ts';
import { type VerificationParts } from '../verify-contract.ts';

/** The codes of a deployment by the word of whoever asks: nothing of a chain is read, and nothing is stored. */
export interface GivenCodes {
  /** Lower-case hex; of a library its own address is in its code. */
  readonly address: Hex;
  readonly creationCode?: Hex;
  readonly runtimeCode?: Hex;
}

/** A compilation without a place, and the codes that may come of it. */
export interface GivenRequest {
  readonly request: PackedRequest;
  readonly codes: readonly GivenCodes[];
}

/** The contract of a compilation that given codes come of. */
export interface GivenMatch {
  readonly compilation: Compilation;
  readonly judgement: ContractJudgement;
}

/** Contracts of a compilation that are compiled whole for one pair of codes, those nearest to them first. */
const MOST_TRIED = 8;
/** Codes that have less in common come of other sources: values and metadata are a small part of any. */
const LEAST_SAME = 0.2;

/**
 * Judges given codes by the contracts of a compilation: all of them are tried, the nearest first.
 * @returns for each pair of codes the best match, or undefined
 * @throws VerificationFailure of the compilation; FullmatchError of the compilers; the reason of `signal`
 */
export async function verifyGivenCodes(
  parts: Pick<VerificationParts, 'compilers' | 'reader' | 'sourceBytes'>,
  { request, codes }: GivenRequest,
  signal: AbortSignal,
): Promise<readonly (GivenMatch | undefined)[]> {
  const asked = await parts.reader.readTask(request.packed, parts.sourceBytes, signal);
  if (asked.task === 'stored') throw new Error('given codes come with a compilation');
  const { task } = asked;
  const { language, version, input } = task;
  for (const { creationCode, runtimeCode } of codes) {
    for (const code of [creationCode, runtimeCode]) {
      if (code !== undefined) requireBounded('that was sent', hexToBytes(code).length);
    }
  }
  const raw = await parts.compilers.compileToBytes({
    ...{ language, version, signal },
    input: languageOf(language).selectCodes(input),
  });
  const { errors, codes: compiled } = await parts.reader.readOutputCodes(raw, signal);
  if (errors.length > 0) throw refusedByCompiler(errors);
  const known = new Map<string, Promise<CompiledTarget | undefined>>();
  const compileOnce = (target: CompilationTarget): Promise<CompiledTarget | undefined> => {
    const key = JSON.stringify([target.path, target.name]);
    const found = known.get(key) ?? compileOrPass(parts, { ...task, target }, signal);
    known.set(key, found);
    return found;
  };
  const found: (GivenMatch | undefined)[] = [];
  for (const given of codes) {
    found.push(
      await findBest({ ...task, target: { path: '', name: '' } }, given, compiled, compileOnce),
    );
  }
  return found;
}

/** A contract that gives no code is none that was deployed. */
async function compileOrPass(
  parts: Pick<VerificationParts, 'compilers' | 'reader'>,
  task: VerificationTask['task'],
  signal: AbortSignal,
): Promise<CompiledTarget | undefined> {
  try {
    return await compileTarget(parts, task, task.input, signal);
  } catch (error) {
    if (error instanceof VerificationFailure && error.code === 'no_compiler_output')
      return undefined;
    throw error;
  }
}

async function findBest(
  task: VerificationTask['task'],
  given: GivenCodes,
  compiled: readonly ContractCodes[],
  compileOnce: (target: CompilationTarget) => Promise<CompiledTarget | undefined>,
): Promise<GivenMatch | undefined> {
  let best: GivenMatch | undefined;
  for (const target of nearest(given, compiled)) {
    const contract = await compileOnce(target);
    if (contract === undefined) continue;
    const judgement = judge(task, given, contract);
    if (rankOf(judgement) <= rankOf(best?.judgement)) continue;
    const compilation = describeCompilation({ ...task, target }, task.input, contract);
    best = { compilation, judgement };
    if (judgement.match === 'full') break;
  }
  return best;
}

function nearest(
  { creationCode, runtimeCode }: GivenCodes,
  compiled: readonly ContractCodes[],
): readonly CompilationTarget[] {
  const [key, code = '0x'] =
    runtimeCode === undefined
      ? (['creation', creationCode] as const)
      : (['runtime', runtimeCode] as const);
  return compiled
    .map((each) => ({ target: each.target, same: countSame(each[key], code.slice(2)) }))
    .filter(({ same }) => same >= LEAST_SAME)
    .sort((left, right) => right.same - left.same)
    .slice(0, MOST_TRIED)
    .map(({ target }) => target);
}

function judge(
  { input }: VerificationTask['task'],
  { address, creationCode, runtimeCode }: GivenCodes,
  { contract, codes }: CompiledTarget,
): ContractJudgement {
  return judgeContract({
    address,
    abi: contract.abi,
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
