import { compareVersions } from '../../compilers/compiler-version.ts';
import { FullmatchError } from '../../errors.ts';
import { type CompilationTask } from './compilation-task.ts';
import { findNeededSources, type NeededSources, type Trial } from './needed-sources.ts';

/**
 * The first release that compiles via IR, and the first whose IR output does not depend on the order of files
 * (0.8.22, changelog).
 */
const VIA_IR_SINCE = '0.7.5';
const FILE_ORDER_UNTIL = '0.8.22';

/** The parts of a compilation that decide whether file order matters. */
interface OrderedCompilation {
  readonly language: string;
  readonly version: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Returns whether the bytecode that a version writes depends on the order in which the compiler reads the files. */
export function dependsOnFileOrder({ language, version, settings }: OrderedCompilation): boolean {
  return (
    language === 'solidity' &&
    settings['viaIR'] === true &&
    compareVersions(version, VIA_IR_SINCE) >= 0 &&
    compareVersions(version, FILE_ORDER_UNTIL) < 0
  );
}

/** Native builds do not request imports. If no other build is available, this trial is skipped. */
function withoutCompiler(error: unknown): undefined {
  if (error instanceof FullmatchError && error.code === 'unsupported_compiler_version') return;
  throw error;
}

/** An attempt and its trial. */
interface Tried {
  readonly found: NeededSources;
  readonly trial: Trial;
}

/**
 * Compiles again in the other file order if the metadata matches the bytecode on chain but the code does not.
 * A command line names one file and the compiler finds the others by their imports; standard JSON lists all
 * of them.
 * @param compileFrom compiles an input starting from the target's source
 * @returns the attempt that matches, or the given one
 */
export async function tryOtherFileOrder(
  task: CompilationTask,
  { found, trial }: Tried,
  compileFrom: (task: CompilationTask) => Trial['compile'],
): Promise<Tried> {
  const { judgement, compiled, input } = found;
  const mayDiffer =
    judgement.match === null && dependsOnFileOrder({ ...task, settings: input.settings });
  if (!mayDiffer || !trial.hasSameMetadata(compiled)) return { found, trial };
  const alone: CompilationTask = { ...task, input, isRootAlone: true };
  const ordered = { ...trial, compile: compileFrom(alone) };
  const first = await ordered.compile(input).catch(withoutCompiler);
  if (first === undefined) return { found, trial };
  const needed = await findNeededSources(alone, first, ordered);
  if (needed.judgement.match === null) return { found, trial };
  const compileTimeMs = found.compileTimeMs + needed.compileTimeMs;
  return { found: { ...needed, compileTimeMs }, trial: ordered };
}
