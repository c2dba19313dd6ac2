import { type Compilers, type CompileRequest } from '../../src/compilers/compilers.ts';
import { parseOutput } from '../../src/compilers/parse-output.ts';
import { type StandardJsonOutput } from '../../src/solidity/standard-json.ts';

/** The parsed output of a compilation. */
export interface ParsedCompilation {
  readonly output: StandardJsonOutput;
  readonly version: string;
  readonly compileTimeMs: number;
}

/** Compiles and parses the output on this thread. Rejects as the compilers and {@link parseOutput} do. */
export async function compileParsed(
  compilers: Pick<Compilers, 'compileToBytes'>,
  request: CompileRequest,
): Promise<ParsedCompilation> {
  const { bytes, ...result } = await compilers.compileToBytes(request);
  return { output: parseOutput(bytes, result.version), ...result };
}
