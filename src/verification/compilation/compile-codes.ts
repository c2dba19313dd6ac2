import { type CompilationTask } from './compilation-task.ts';
import { type ContractCompiler } from './compile-contract.ts';
import { compileSelected } from './compile-selected.ts';
import { type JobReader } from './job-reader.ts';
import { languageOf } from './languages/all-languages.ts';
import { type OutputCodes } from './read-output.ts';

/**
 * Compiles the bytecode of all contracts of a task; if some do not compile, that of the contracts that the
 * submitter selected.
 */
export function compileAllBytecode(
  { compilers, reader }: { readonly compilers: ContractCompiler; readonly reader: JobReader },
  { language, version, input, outputSelection }: CompilationTask,
  signal: AbortSignal,
): Promise<OutputCodes> {
  const selected = languageOf(language).selectCodes(input, outputSelection);
  return compileSelected(selected, async (narrowed) => {
    const raw = await compilers.compileToBytes({ language, version, input: narrowed, signal });
    return reader.ask({ read: 'output_codes', ...raw }, signal);
  });
}
