import { auxdataReaderOf } from '../../../src/bytecode/auxdata-reader.ts';
import {
  toRecompiledCodes,
  type AuxdataReading,
  type CompiledContract,
  type RecompiledCodes,
} from '../../../src/bytecode/compiled-contract.ts';
import { readImmutableTypes } from '../../../src/bytecode/solidity-immutables.ts';
import { type AbiParameter } from '../../../src/solidity/strict-encoding.ts';
import { compileInChild, type SolcVersion } from '../compile-in-child.ts';
import { experimentalSource, isAtLeast, suiteSource, YUL_SOURCE } from './suite-source.ts';

export interface AbiEntry {
  readonly type: string;
  readonly name?: string;
  readonly inputs?: readonly (AbiParameter & { readonly name: string })[];
}

export interface CompiledOutput extends CompiledContract {
  /** Absent for Yul. */
  readonly abi?: readonly AbiEntry[];
  readonly metadata: string;
}

export interface SolcInput {
  readonly language: 'Solidity' | 'Yul';
  readonly sources: Readonly<Record<string, { readonly content: string }>>;
  readonly settings: Readonly<Record<string, unknown>>;
}

interface SolcOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, CompiledOutput>>>>;
  readonly sources?: Readonly<Record<string, { readonly ast?: unknown }>>;
}

/** A contract compiled by a real solc, with everything that matching reads. */
export interface CompiledSample {
  /** `0.8.20 optimized Linked`: the version, the settings and the contract. */
  readonly id: string;
  readonly version: SolcVersion;
  readonly variant: string;
  readonly name: string;
  readonly path: string;
  readonly input: SolcInput;
  readonly output: CompiledOutput;
  readonly reading: AuxdataReading;
  readonly recompiled: RecompiledCodes;
  /** The same contract of the input with different metadata. */
  readonly edited: CompiledOutput;
}

/**
 * The contract as deployed by somebody who changed a comment: its on-chain bytecode, with the sample's own
 * references.
 */
export function withChangedMetadata(sample: CompiledSample): CompiledSample {
  const { evm } = sample.edited;
  const { runtime, creation } = sample.recompiled;
  return {
    ...sample,
    recompiled: {
      runtime: { ...runtime, code: evm.deployedBytecode.object, auxdata: {} },
      creation: { ...creation, code: evm.bytecode.object, auxdata: {} },
    },
  };
}

const SELECTION = {
  '*': {
    '': ['ast'],
    '*': ['abi', 'metadata', 'evm.legacyAssembly', 'evm.bytecode', 'evm.deployedBytecode'],
  },
};

/** Compiles with the output selection shared by all tests, so that they share a cached output. */
export async function compileAll(
  version: SolcVersion,
  inputs: readonly SolcInput[],
): Promise<SolcOutput[]> {
  const outputs = await compileInChild<SolcOutput>(
    version,
    inputs.map(({ language, sources, settings }) => ({
      language,
      sources,
      settings: { ...settings, outputSelection: SELECTION },
    })),
  );
  for (const { errors = [] } of outputs) {
    const failures = errors.filter(({ severity }) => severity === 'error');
    if (failures.length > 0) {
      throw new Error(
        `solc ${version}: ${failures.map(({ formattedMessage }) => formattedMessage).join('\n')}`,
      );
    }
  }
  return outputs;
}

/** Compiles inputs and their edited twins, and reads every contract with bytecode. */
export async function compileSamples(
  version: SolcVersion,
  variants: Readonly<Record<string, SolcInput>>,
): Promise<CompiledSample[]> {
  const entries = Object.entries(variants);
  const inputs = entries.flatMap(([, input]) => [
    input,
    auxdataReaderOf(input.language).changeMetadata(input),
  ]);
  const outputs = await compileAll(version, inputs);
  return entries.flatMap(([variant, input], index) => {
    const [output, edited] = outputs.slice(2 * index, 2 * index + 2);
    const types = readImmutableTypes(
      Object.values(output?.sources ?? {}).map(({ ast }) => ast),
      version,
    );
    return Object.entries(output?.contracts ?? {}).flatMap(([path, contracts]) =>
      Object.entries(contracts).map(([name, contract]) => {
        const reader = auxdataReaderOf(input.language);
        const alone = reader.read(contract);
        const twin = edited?.contracts?.[path]?.[name] ?? contract;
        const reading = alone.state === 'edit_needed' ? reader.read(contract, twin) : alone;
        return {
          id: `${version} ${variant} ${name}`,
          version,
          variant,
          name,
          path,
          input,
          output: contract,
          reading,
          recompiled: toRecompiledCodes(contract, reading, types),
          edited: twin,
        };
      }),
    );
  });
}

function solidity(
  version: SolcVersion,
  settings: Readonly<Record<string, unknown>>,
  content = suiteSource(version),
): SolcInput {
  return { language: 'Solidity', sources: { 'contracts/Suite.sol': { content } }, settings };
}

/** The settings under which the suite is compiled with a version: those that it supports. */
function suiteVariants(version: SolcVersion): Record<string, SolcInput> {
  const optimizer = { enabled: true, runs: 200 };
  return {
    plain: solidity(version, { optimizer: { enabled: false, runs: 200 } }),
    optimized: solidity(version, { optimizer }),
    ...(isAtLeast(version, '0.6') && {
      hashless: solidity(version, { optimizer, metadata: { bytecodeHash: 'none' } }),
      swarm: solidity(version, { optimizer, metadata: { bytecodeHash: 'bzzr1' } }),
    }),
    ...(isAtLeast(version, '0.8.18') && {
      cborless: solidity(version, { optimizer, metadata: { appendCBOR: false } }),
    }),
    ...(isAtLeast(version, '0.8.13') && { ir: solidity(version, { optimizer, viaIR: true }) }),
    ...(isAtLeast(version, '0.4.16') && {
      experimental: solidity(version, { optimizer }, experimentalSource(version)),
    }),
    ...(isAtLeast(version, '0.8') && {
      yul: {
        language: 'Yul' as const,
        sources: { 'Echo.yul': { content: YUL_SOURCE } },
        settings: { optimizer },
      },
    }),
  };
}

/**
 * Versions under which the suite is compiled with all settings: the first and last of each series in which
 * solc changed code generation.
 */
export const SUITE_VERSIONS = [
  '0.4.11',
  '0.4.26',
  '0.5.17',
  '0.6.12',
  '0.7.6',
  '0.8.4',
  '0.8.20',
  '0.8.37',
] as const satisfies readonly SolcVersion[];

const suites = new Map<SolcVersion, Promise<CompiledSample[]>>();

/**
 * Every contract of the suite, under every setting that the version supports or under the optimizer only.
 * Compiled once per test file.
 */
export function compileSuite(version: SolcVersion): Promise<CompiledSample[]> {
  const known = suites.get(version);
  if (known !== undefined) return known;
  const { optimized, ...others } = suiteVariants(version);
  const isThorough = (SUITE_VERSIONS as readonly SolcVersion[]).includes(version);
  const compiled = compileSamples(version, {
    ...(optimized && { optimized }),
    ...(isThorough && others),
  });
  suites.set(version, compiled);
  return compiled;
}
