import { compareVersions } from '../../compilers/compiler-version.ts';
import { FullmatchError } from '../../errors.ts';
import { type CompilationTask } from './compilation-task.ts';
import { findNeededSources, type NeededSources, type Trial } from './needed-sources.ts';

/** The first release that compiles via IR, and the first whose code via IR does not follow the order of files (0.8.22, changelog). */
const VIA_IR_SINCE = '0.7.5';
const FILE_ORDER_UNTIL = '0.8.22';

/** What of a compilation says how its code is written. */
interface OrderedCompilation {
  readonly language: string;
  readonly version: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Whether the code that a version writes follows the order in which files come to the compiler. */
export function followsFileOrder({ language, version, settings }: OrderedCompilation): boolean {
  return (
    language === 'solidity' &&
    settings['viaIR'] === true &&
    compareVersions(version, VIA_IR_SINCE) >= 0 &&
    compareVersions(version, FILE_ORDER_UNTIL) < 0
  );
}

/** A native build does not ask for imports: where no other is here, this is not tried. */
function withoutCompiler(error: unknown): undefined {
  if (error instanceof FullmatchError && error.code === 'unsupported_compiler_version') return;
  throw error;
}

/** An attempt, and how it was tried. */
interface Tried {
  readonly found: NeededSources;
  readonly trial: Trial;
}

/**
 * Command lines name one file, and the compiler comes upon the others by their imports; standard JSON names all of them.
 * Where the metadata is that of the code on chain and the code is not, the other order is tried.
 * @param compileFrom compiles an input so that its sources are found from the target's on
 * @returns the attempt that matches, or the given one
 */
export async function withOtherFileOrder(
  task: CompilationTask,
  { found, trial }: Tried,
  compileFrom: (task: CompilationTask) => Trial['compile'],
): Promise<Tried> {
  const { judgement, compiled, input } = found;
  const mayDiffer =
    judgement.match === null && followsFileOrder({ ...task, settings: input.settings });
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
