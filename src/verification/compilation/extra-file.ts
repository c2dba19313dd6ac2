import { toCodeTemplate } from '../../bytecode/recompiled-code.ts';
import { FullmatchError } from '../../errors.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { type CompilationTask } from './compilation-task.ts';
import { type CompiledTarget } from './compile-contract.ts';
import { languageOf } from './languages/all-languages.ts';

/** Sorts before other names: declarations are numbered in the order of the sources. */
const ANOTHER_PATH = '!.sol';
/** Enough declarations to change the number of digits in later identifiers. */
const DECLARATIONS = 400;

const ANOTHER_SOURCE = `contract AnotherFile { ${Array.from(
  { length: DECLARATIONS },
  (_, index) => `uint256 a${index};`,
).join(' ')} }`;

/**
 * Returns whether a contract's bytecode depends on files that it does not import, by compiling it with an
 * additional file. Metadata lists only imports, so the bytecode should not change.
 * @param compile compiles in the same way as the input was compiled
 */
export async function dependsOnOtherFiles(
  { language, version }: Pick<CompilationTask, 'language' | 'version'>,
  input: StandardJsonInput,
  compiled: Pick<CompiledTarget, 'codes'>,
  compile: (input: StandardJsonInput) => Promise<Pick<CompiledTarget, 'codes'>>,
): Promise<boolean> {
  const isOld = language !== 'solidity' || !languageOf(language).listsImports(version);
  if (isOld || Object.hasOwn(input.sources, ANOTHER_PATH)) return false;
  const sources = { [ANOTHER_PATH]: { content: ANOTHER_SOURCE }, ...input.sources };
  try {
    const other = await compile({ ...input, sources });
    return !runtimeOf(other).equals(runtimeOf(compiled));
  } catch (error) {
    // If the trial fails, the mismatch is reported without this hint.
    const isOfCompiler = error instanceof VerificationFailure || error instanceof FullmatchError;
    if (isOfCompiler) return false;
    throw error;
  }
}

const runtimeOf = ({ codes }: Pick<CompiledTarget, 'codes'>): Buffer =>
  toCodeTemplate(codes.runtime).bytes;
