import { type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import type { Match } from '../../repository/repository.ts';
import { type CompilationTask } from './compilation-task.ts';
import { type CompiledTarget } from './compile-contract.ts';
import { languageOf } from './languages/all-languages.ts';
import { VerificationFailure } from '../verification-failure.ts';

/** An input, its compiler output, and the comparison with the bytecode on chain. */
export interface Attempt {
  readonly input: StandardJsonInput;
  readonly compiled: CompiledTarget;
  readonly judgement: ContractJudgement;
}

/** Functions that compile and compare an input. */
export interface Trial {
  /** @throws VerificationFailure of the compiler */
  readonly compile: (input: StandardJsonInput, signal?: AbortSignal) => Promise<CompiledTarget>;
  readonly judge: (input: StandardJsonInput, compiled: CompiledTarget) => ContractJudgement;
  /** Returns whether the bytecode on chain has the metadata hash of this compilation. */
  readonly hasSameMetadata: (compiled: CompiledTarget) => boolean;
}

/** The attempt with the best match and the fewest sources. */
export interface NeededSources extends Attempt {
  /** Paths of the sources that were sent but are not needed. */
  readonly dropped: readonly string[];
  /** Time of all compilations in total. */
  readonly compileTimeMs: number;
}

/** Limits on the number and time of compilations that leave out single files. */
const MAX_REDUCTIONS = 12;
const REDUCTION_MS = 30_000;

/**
 * Returns the paths of the sources that a compilation lists: those in its metadata, whose hashes the bytecode
 * may contain, or the compiler's own list if there is no metadata. Returns undefined if there is neither.
 */
function listedSources({
  contract,
  sourceIds,
}: Pick<CompiledTarget, 'contract' | 'sourceIds'>): ReadonlySet<string> | undefined {
  const { metadata } = contract;
  const listed =
    typeof metadata === 'string' && metadata !== ''
      ? (JSON.parse(metadata) as { sources?: object }).sources
      : sourceIds;
  const paths = Object.keys(listed ?? {});
  return paths.length === 0 ? undefined : new Set(paths);
}

/** Returns the paths of the sources that a compilation may not need, according to its lists. */
function spareSources(
  { language, target, version }: CompilationTask,
  input: StandardJsonInput,
  compiled: CompiledTarget,
): readonly string[] {
  if (languageOf(language).listsImports(version)) {
    return unlistedSources(input, compiled);
  }
  return Object.keys(input.sources).filter((path) => path !== target.path);
}

/**
 * Returns the paths of the input's sources that the compilation does not list, if its compiler writes a list.
 * Solc numbers identifiers over all sources, so such a source can change bytecode that does not use it.
 */
export function unlistedSources(
  input: StandardJsonInput,
  compiled: Pick<CompiledTarget, 'contract' | 'sourceIds'>,
): readonly string[] {
  if (languageOf(input.language).compiler !== 'solc') return [];
  const listed = listedSources(compiled);
  return listed === undefined ? [] : Object.keys(input.sources).filter((path) => !listed.has(path));
}

/**
 * Finds the sources that are needed to reproduce the bytecode on chain. Compiles without the sources that the
 * compilation does not list, and compares again. Solc numbers identifiers over all sources, so sources that a
 * contract does not use can change its bytecode; only those that do are kept.
 * @param first the compilation of `task.input`.
 */
export async function findNeededSources(
  task: CompilationTask,
  first: CompiledTarget,
  trial: Trial,
): Promise<NeededSources> {
  const all = task.withAllSources ?? task.input;
  let compileTimeMs = first.compileTimeMs;
  const attempt = async (input: StandardJsonInput): Promise<Attempt | undefined> => {
    try {
      const compiled = await trial.compile(input);
      compileTimeMs += compiled.compileTimeMs;
      return { input, compiled, judgement: trial.judge(input, compiled) };
    } catch (error) {
      // The compiler rejects this subset of the sources, not the sources that were sent.
      if (error instanceof VerificationFailure && error.code === 'compiler_error') return undefined;
      throw error;
    }
  };
  const end = (best: Attempt): NeededSources => ({
    ...best,
    dropped: Object.keys(all.sources).filter((path) => !Object.hasOwn(best.input.sources, path)),
    compileTimeMs,
  });
  const given: Attempt = {
    input: task.input,
    compiled: first,
    judgement: trial.judge(task.input, first),
  };
  if (given.judgement.match === null && !trial.hasSameMetadata(first)) return end(given);
  let best = given;
  const unlisted = spareSources(task, task.input, first);
  if (unlisted.length > 0) {
    const trimmed = await attempt(withoutSources(task.input, unlisted));
    best = isAsGood(trimmed, given) ? trimmed : await reduce(given, unlisted, attempt);
  }
  if (best.judgement.match === null && task.withAllSources !== undefined) {
    const whole = await attempt(all);
    if (whole !== undefined && whole.judgement.match !== null) {
      best = await reduce(whole, spareSources(task, all, whole.compiled), attempt);
    }
  }
  return end(best);
}

const RANKS: Readonly<Record<Match | 'none', number>> = { none: 0, partial: 1, full: 2 };
const rank = (match: Match | null): number => RANKS[match ?? 'none'];

/** Returns whether the runtime and the creation match are each at least as good as in another judgement. */
export function matchesAsWell(judgement: ContractJudgement, other: ContractJudgement): boolean {
  return (['runtimeMatch', 'creationMatch'] as const).every(
    (key) => rank(judgement[key]) >= rank(other[key]),
  );
}

function isAsGood(attempt: Attempt | undefined, other: Attempt): attempt is Attempt {
  return attempt !== undefined && matchesAsWell(attempt.judgement, other.judgement);
}

function withoutSources(input: StandardJsonInput, paths: readonly string[]): StandardJsonInput {
  const left = new Set(paths);
  return {
    ...input,
    sources: Object.fromEntries(Object.entries(input.sources).filter(([path]) => !left.has(path))),
  };
}

/**
 * Removes as many unneeded files as possible: halves of the list, quarters and so on, down to single files.
 * No hash proves these files, so submitters must not be able to add any to those that the deployer had.
 */
async function reduce(
  whole: Attempt,
  unlisted: readonly string[],
  attempt: (input: StandardJsonInput) => Promise<Attempt | undefined>,
): Promise<Attempt> {
  const until = performance.now() + REDUCTION_MS;
  let best = whole;
  let kept = unlisted;
  let trials = 0;
  for (let size = Math.ceil(kept.length / 2); ; size = Math.ceil(size / 2)) {
    for (let start = 0; start < kept.length && size < kept.length;) {
      if (trials === MAX_REDUCTIONS || performance.now() > until) return best;
      trials += 1;
      const fewer = await attempt(withoutSources(best.input, kept.slice(start, start + size)));
      if (isAsGood(fewer, best)) {
        best = fewer;
        kept = kept.toSpliced(start, size);
      } else start += size;
    }
    if (size <= 1) return best;
  }
}
