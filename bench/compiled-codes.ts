import { createCompilers } from '../src/compilers/compilers.ts';
import { silentLogger } from '../src/log.ts';
import { type BenchmarkContract } from './compiler-inputs.ts';
import { compileParsed } from '../test/support/compile-parsed.ts';

/** The compiler version for benchmark contracts. */
export const NEWEST = '0.8.37';

/** Compiler output of a benchmark contract. Bytecode is hex without 0x. */
export interface CompiledCodes {
  readonly creationCode: string;
  readonly runtimeCode: string;
  /** Byte offsets of each immutable's value in the runtime bytecode. */
  readonly places: readonly (readonly number[])[];
}

/** Compiles a contract. */
export async function compileCodes({ input, target }: BenchmarkContract): Promise<CompiledCodes> {
  const compilers = await createCompilers({}, silentLogger);
  const selected = { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode'] } };
  const { output } = await compileParsed(compilers, {
    ...{ language: 'solidity', version: NEWEST },
    input: { ...input, settings: { ...input.settings, outputSelection: selected } },
  });
  await compilers.close();
  const evm = output.contracts?.[target.path]?.[target.name]?.evm;
  const { object = '', immutableReferences = {} } = evm?.deployedBytecode ?? {};
  return {
    creationCode: evm?.bytecode?.object ?? '',
    runtimeCode: object,
    places: Object.values(immutableReferences).map((each) => each.map(({ start }) => start)),
  };
}
