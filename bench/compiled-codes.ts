import { createCompilers } from '../src/compilers/compilers.ts';
import { silentLogger } from '../src/log.ts';
import { type BenchmarkContract } from './compiler-inputs.ts';

/** The version that contracts of benchmarks are compiled with. */
export const NEWEST = '0.8.37';

/** What a compiler makes of the contract of a benchmark. Codes are hex without 0x. */
export interface CompiledCodes {
  readonly creationCode: string;
  readonly runtimeCode: string;
  /** For each immutable the places of its value in the runtime code, in bytes. */
  readonly places: readonly (readonly number[])[];
}

/** Compiles a contract. */
export async function compileCodes({ input, target }: BenchmarkContract): Promise<CompiledCodes> {
  const compilers = await createCompilers({}, silentLogger);
  const selected = { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode'] } };
  const { output } = await compilers.compile({
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
