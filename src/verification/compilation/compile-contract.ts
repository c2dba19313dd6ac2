import { auxdataReaderOf } from '../../bytecode/auxdata-reader.ts';
import {
  toRecompiledCodes,
  type AuxdataReading,
  type CompiledContract,
  type RecompiledCodes,
} from '../../bytecode/compiled-contract.ts';
import { LIBRARY_ADDRESS_IMMUTABLE } from '../../bytecode/explained-value.ts';
import { type ImmutableType } from '../../bytecode/immutable-type.ts';
import { type AuxdataPositions, type RecompiledCode } from '../../bytecode/recompiled-code.ts';
import { readVyperAuxdata } from '../../bytecode/vyper-auxdata.ts';
import {
  selectImmutableDeclarations,
  selectOtherContracts,
  widenOutputSelection,
} from '../../compilers/output-selection.ts';
import { type RawOutput } from '../../compilers/parse-output.ts';
import { isSolarVersion } from '../../compilers/compiler-version.ts';
import { type ContractOutput, type StandardJsonInput } from '../../solidity/standard-json.ts';
import { FullmatchError } from '../../errors.ts';
import { hexToBytes } from '../../lib/hex.ts';
import { printableText } from '../../lib/printable-text.ts';
import { compileSelected } from './compile-selected.ts';
import { compilerErrorFailure } from './compiler-errors.ts';
import { requireBytecodeSize } from '../code-size.ts';
import { type AwaitedCompiler } from '../jobs/awaited-compilers.ts';
import { type CompilationTask } from './compilation-task.ts';
import { libraryEntries, readConfiguredLibraries } from './configured-libraries.ts';
import { type JobReader } from './job-reader.ts';
import { languageOf } from './languages/all-languages.ts';
import { selectTrees } from './languages/vyper.ts';
import { type ContractKeys } from './read-contract-keys.ts';
import { type TargetOutput, type VyperTrees } from './read-output.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { containsVerbatim } from './yul-program.ts';

/** A compiler, identified by language and version. */
type WantedCompiler = Pick<CompilationTask, 'language' | 'version'>;

/** The compiler functions that verification depends on; implemented in `compilers/`. */
export interface ContractCompiler {
  /** Preloads a compiler that a job will probably need. The returned function ends it if no compilation used it. */
  prepare(wanted: WantedCompiler): () => void;
  /** Lists the long versions of the available compilers of a language, newest first. */
  listVersions(language: string): Promise<readonly string[]>;
  /**
   * Starts the download of a compiler that is not on this machine. Returns undefined if it is, or if
   * compiling will report the error.
   */
  obtain(wanted: WantedCompiler): Promise<AwaitedCompiler | undefined>;
  /**
   * Compiles within limits of time and memory. Rejects with a FullmatchError of the compilers, or the reason
   * of `signal`.
   */
  compileToBytes(request: {
    readonly language: string;
    readonly version: string;
    readonly input: StandardJsonInput;
    /** The only source passed to the compiler, which requests the others as it reads their imports. */
    readonly rootSource?: string;
    readonly signal?: AbortSignal;
  }): Promise<RawOutput & { readonly compileTimeMs: number }>;
}

/** A compiled contract, ready to be compared with the bytecode on chain. */
export interface CompiledTarget {
  readonly contract: ContractOutput;
  readonly evm: CompiledContract['evm'];
  readonly codes: RecompiledCodes;
  /**
   * The bytecode compiled without the libraries of the settings, if those may be linked and no assembly names
   * them: Yul has none, and via IR versions up to 0.8.4 write none.
   */
  readonly unlinked?: CompiledContract['evm'];
  /** The other contracts of the same compilation, if requested. */
  readonly others: readonly ContractKeys[];
  /** Source path -> id that source maps use for it. */
  readonly sourceIds: Readonly<Record<string, { readonly id: number }>>;
  /** The compiler's long version, without `v`. */
  readonly version: string;
  readonly compileTimeMs: number;
}

const WORD_BITS = 256;

/**
 * Compiles the target of a task and locates its auxdata. If one compilation is not enough for that, compiles
 * it again with different metadata. If the bytecode has immutables, one more compilation reads their types.
 * @param options whether to return the bytecode of the other contracts as well: see {@link
 * selectOtherContracts}
 * @throws VerificationFailure compiler_error, no_compiler_output, contract_not_found_in_compiler_output.
 * @throws FullmatchError as the compilers do; the reason of `signal`.
 */
export async function compileTarget(
  {
    compilers,
    reader: outputs,
  }: { readonly compilers: ContractCompiler; readonly reader: JobReader },
  task: CompilationTask,
  input: StandardJsonInput,
  signal: AbortSignal,
  { withOthers = false }: { readonly withOthers?: boolean } = {},
): Promise<CompiledTarget> {
  const reader = auxdataReaderOf(task.language);
  const language = languageOf(task.language);
  let compileTimeMs = 0;
  const compile = async (edited: StandardJsonInput): Promise<RawOutput> => {
    signal.throwIfAborted();
    const compiled = await compilers.compileToBytes({
      language: task.language,
      version: task.version,
      input: edited,
      ...(task.isRootAlone && { rootSource: task.target.path }),
      signal,
    });
    compileTimeMs += compiled.compileTimeMs;
    return compiled;
  };
  const compileCodes = async (
    edited: StandardJsonInput,
    asked = { withOthers: false },
  ): Promise<{ output: TargetOutput; version: string }> => {
    const selected = language.selectTarget(edited, task.target, task.outputSelection);
    const others = asked.withOthers && selected[0] && selectOtherContracts(selected[0]);
    return compileSelected([...(others ? [others] : []), ...selected], async (narrowed) => {
      const raw = await compile(narrowed);
      const output = await outputs.ask(
        { read: 'target', ...raw, target: task.target, ...asked },
        signal,
      );
      return { output, version: raw.version, errors: output.errors ?? [] };
    });
  };
  const { output, version } = await compileCodes(input, {
    withOthers: withOthers && task.language === 'solidity' && !isSolarVersion(task.version),
  });
  const contract = findContract(output, task);
  const compiled = requireCodes(contract, task);
  requireReferences(compiled, version);
  let reading: AuxdataReading = reader.read({ ...compiled, version });
  if (reading.state === 'edit_needed') {
    const second = await compileCodes(reader.changeMetadata(input));
    const edited = requireCodes(findContract(second.output, task), task);
    reading = reader.read({ ...compiled, version }, edited);
  }
  if (task.language === 'vyper') {
    const { path } = task.target;
    reading = await readTrees(input, path, reading, async (paths) =>
      outputs.ask(
        {
          read: 'vyper_trees',
          ...(await compile(selectTrees(input, paths))),
          main: path,
          sources: Object.keys(input.sources),
        },
        signal,
      ),
    );
  }
  const unlinked = mayLinkUnseen(input, compiled)
    ? requireCodes(findContract((await compileCodes(withoutLibraries(input))).output, task), task)
    : undefined;
  const immutableTypes = await readTypes(task, input, compiled, async () => {
    const selected = widenOutputSelection(selectImmutableDeclarations(input), task.outputSelection);
    const { types } = await compileSelected(selected, async (narrowed) =>
      outputs.ask({ read: 'immutables', ...(await compile(narrowed)) }, signal),
    );
    return types;
  });
  return {
    contract,
    evm: compiled.evm,
    codes: toRecompiledCodes(compiled, reading, immutableTypes),
    ...(unlinked && { unlinked: unlinked.evm }),
    others: output.others ?? [],
    sourceIds: output.sources ?? {},
    version,
    compileTimeMs,
  };
}

/**
 * Adds what only the syntax trees of Vyper contain: the types of the values appended to the runtime bytecode,
 * and whether the integrity hash covers all sources. A hash that does not cover them is treated as ordinary
 * code. If the trees are too large to be read, the types stay unknown and the hash proves nothing.
 */
async function readTrees(
  { sources, interfaces }: StandardJsonInput,
  main: string,
  reading: AuxdataReading,
  read: (paths: readonly string[]) => Promise<VyperTrees>,
): Promise<AuxdataReading> {
  if (reading.state !== 'located') return reading;
  const others = Object.keys(sources).filter((path) => path !== main);
  const mayHideText =
    (others.length > 0 || interfaces !== undefined) && holdsIntegrityHash(reading.creation);
  if (!mayHideText && reading.appendedImmutableBytes === undefined) return reading;
  const modules = mayHideText ? others.filter((path) => path.endsWith('.vy')) : [];
  const trees = await read([main, ...modules]).catch((error: unknown): VyperTrees => {
    const isTooLarge =
      error instanceof FullmatchError && error.code === 'compiler_output_too_large';
    if (isTooLarge) return { isEverySourceHashed: false };
    throw error;
  });
  const isShown = !mayHideText || (interfaces === undefined && trees.isEverySourceHashed);
  const { appendedTypes } = trees;
  return {
    ...reading,
    ...(!isShown && { creation: {} }),
    ...(appendedTypes && { appendedTypes }),
  };
}

function holdsIntegrityHash(positions: AuxdataPositions): boolean {
  return Object.values(positions).some(
    ({ value }) => readVyperAuxdata(hexToBytes(value))?.integrityOffset !== undefined,
  );
}

/** Returns whether the compiler may have linked libraries of the settings without naming them in its output. */
function mayLinkUnseen({ settings }: StandardJsonInput, { evm }: CompiledContract): boolean {
  return (
    evm.legacyAssembly === undefined && libraryEntries(readConfiguredLibraries(settings)).length > 0
  );
}

/** Returns the input without library addresses, so that the compiler leaves placeholders. */
export function withoutLibraries(input: StandardJsonInput): StandardJsonInput {
  return { ...input, settings: { ...input.settings, libraries: {} } };
}

/**
 * Returns the types of the immutables in a bytecode. Those of Yul are words: nothing in the language jumps to
 * a value. Bytes of `verbatim` can do what the language cannot, so in a program with `verbatim` an immutable
 * counts as a code pointer. If the compiler output is too large to be read, the types stay unknown, and a
 * match needs the creation bytecode to prove the values.
 */
async function readTypes(
  { language }: CompilationTask,
  input: StandardJsonInput,
  { evm }: CompiledContract,
  readDeclared: () => Promise<NonNullable<RecompiledCode['immutableTypes']>>,
): Promise<NonNullable<RecompiledCode['immutableTypes']>> {
  const ids = Object.keys(evm.deployedBytecode.immutableReferences ?? {}).filter(
    (id) => id !== LIBRARY_ADDRESS_IMMUTABLE,
  );
  if (ids.length === 0) return {};
  if (language !== 'solidity') {
    const type: ImmutableType = containsVerbatim(input)
      ? { kind: 'code_pointer' }
      : { kind: 'unsigned', bits: WORD_BITS };
    return Object.fromEntries(ids.map((id) => [id, type]));
  }
  try {
    return await readDeclared();
  } catch (error) {
    if (error instanceof FullmatchError && error.code === 'compiler_output_too_large') return {};
    throw error;
  }
}

function findContract(output: TargetOutput, { target }: CompilationTask): ContractOutput {
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) {
    throw compilerErrorFailure(errors);
  }
  const { contracts = {}, sources = {} } = output;
  // A selection that fits no contract returns no contracts, but still the sources.
  if (Object.keys(contracts).length === 0 && Object.keys(sources).length === 0) {
    throw new VerificationFailure('no_compiler_output', 'The compiler returned no contracts.');
  }
  const file = Object.hasOwn(contracts, target.path) ? contracts[target.path] : undefined;
  const contract =
    file !== undefined && Object.hasOwn(file, target.name) ? file[target.name] : undefined;
  if (contract !== undefined) return contract;
  throw new VerificationFailure(
    'contract_not_found_in_compiler_output',
    `The compiler's output has no contract ${printableText(target.name)} in ${printableText(target.path)}.`,
  );
}

/**
 * Versions of solc omit references if there are none. Solar writes every selected list, or does not support
 * it at all.
 * @throws VerificationFailure unsupported_compiler_version
 */
function requireReferences(
  { evm: { bytecode, deployedBytecode } }: CompiledContract,
  version: string,
): void {
  if (!isSolarVersion(version)) return;
  const codes = [bytecode, deployedBytecode];
  const missing = [
    ...(codes.some(({ linkReferences }) => linkReferences === undefined) ? ['linkReferences'] : []),
    ...(deployedBytecode.immutableReferences === undefined ? ['immutableReferences'] : []),
  ];
  if (missing.length === 0) return;
  throw new VerificationFailure(
    'unsupported_compiler_version',
    `Solar ${version} is not supported: its output has no ${missing.join(' and no ')}, which comparing the code requires.`,
  );
}

function requireCodes({ evm }: ContractOutput, { target }: CompilationTask): CompiledContract {
  if (evm?.bytecode === undefined || evm.deployedBytecode === undefined) {
    throw new VerificationFailure(
      'no_compiler_output',
      `The compiler returned no code for ${printableText(target.name)}.`,
    );
  }
  const { bytecode, deployedBytecode, legacyAssembly } = evm;
  // A library placeholder has as many characters as the address that replaces it.
  requireBytecodeSize('of these sources', deployedBytecode.object.length / 2);
  requireBytecodeSize('of these sources that creates the contract', bytecode.object.length / 2);
  return { evm: { bytecode, deployedBytecode, legacyAssembly } };
}
