import { type ContractJudgement } from '../../bytecode/judge-contract.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import type { Match } from '../../repository/repository.ts';
import { type CompilationTask } from './compilation-task.ts';
import { type CompiledTarget } from './compile-contract.ts';
import { languageOf } from './languages/all-languages.ts';
import { VerificationFailure } from '../verification-failure.ts';

/** An input, the output of the compiler for it, and how that compares with the code on chain. */
export interface Attempt {
  readonly input: StandardJsonInput;
  readonly compiled: CompiledTarget;
  readonly judgement: ContractJudgement;
}

/** How an input is tried. */
export interface Trial {
  /** @throws VerificationFailure of the compiler */
  readonly compile: (input: StandardJsonInput, signal?: AbortSignal) => Promise<CompiledTarget>;
  readonly judge: (input: StandardJsonInput, compiled: CompiledTarget) => ContractJudgement;
  /** Whether the code on chain holds the metadata hash of this compilation. */
  readonly hasSameMetadata: (compiled: CompiledTarget) => boolean;
}

/** The attempt with the fewest sources that gives the best match. */
export interface NeededSources extends Attempt {
  /** Paths of the sources that were given and are not needed. */
  readonly dropped: readonly string[];
  /** The time of all compilations together. */
  readonly compileTimeMs: number;
}

/** Compilations in which single files are left out end after so many, or so long. */
const MAX_REDUCTIONS = 12;
const REDUCTION_MS = 30_000;

/**
 * The paths of the sources that a compilation needs: those of its metadata, whose hashes the code may hold, or the
 * compiler's own list where there is no metadata. Undefined where neither says anything.
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

/** The paths of the sources that a compilation may be without, as far as its lists say. */
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
 * The paths of the input's sources that the compilation does not list, where it might. Solc numbers identifiers over all
 * sources, so that such a source changes a code that does not use it.
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
 * Finds the sources without which the code on chain does not come about. Sources that the compilation does not list
 * are left out, and what is compiled without them is judged again: solc numbers identifiers over all sources, so that
 * sources that a contract does not use can change its code. Only where they do, those that do are kept.
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
      // The compiler refuses this choice of sources, not those that were given.
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

/** Whether neither code matches less than it does in another judgement. */
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
 * Leaves out what it can of files that are needed together: halves of them, quarters and so on, down to single files.
 * No hash proves such a file, so nobody should be able to add one to those that the deployer had.
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
