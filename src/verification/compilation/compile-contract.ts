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
import { refusedByCompiler } from './compiler-errors.ts';
import { requireBounded } from '../code-size.ts';
import { type AwaitedCompiler } from '../jobs/awaited-compilers.ts';
import { type CompilationTask } from './compilation-task.ts';
import { entriesOf, readConfiguredLibraries } from './configured-libraries.ts';
import { type JobReader } from './job-reader.ts';
import { languageOf } from './languages/all-languages.ts';
import { selectTrees } from './languages/vyper.ts';
import { type RunningCode } from './read-running-codes.ts';
import { type TargetOutput, type VyperTrees } from './read-output.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { holdsVerbatim } from './yul-program.ts';

/** A version of a language's compiler. */
type WantedCompiler = Pick<CompilationTask, 'language' | 'version'>;

/** What verification needs of compilers. `compilers/` has it. */
export interface ContractCompiler {
  /** Loads a compiler that will probably be needed; the function given back ends it when no compilation took it. */
  prepare(wanted: WantedCompiler): () => void;
  /** Long versions of the compilers of a language that can be had, newest first. */
  listVersions(language: string): Promise<readonly string[]>;
  /** Begins to download a compiler that is not here; undefined where it is, and where compiling says what is wrong. */
  obtain(wanted: WantedCompiler): Promise<AwaitedCompiler | undefined>;
  /** Compiles in bounded time and memory. Rejects with a FullmatchError of the compilers, or the reason of `signal`. */
  compileToBytes(request: {
    readonly language: string;
    readonly version: string;
    readonly input: StandardJsonInput;
    /** The source that the compiler is given alone; it asks for the others by their imports. */
    readonly rootSource?: string;
    readonly signal?: AbortSignal;
  }): Promise<RawOutput & { readonly compileTimeMs: number }>;
}

/** One contract, compiled and ready to be held against the code on chain. */
export interface CompiledTarget {
  readonly contract: ContractOutput;
  readonly evm: CompiledContract['evm'];
  readonly codes: RecompiledCodes;
  /**
   * The codes without the libraries of the settings, where those may be linked and no assembly says which are: Yul has
   * none, and via IR versions up to 0.8.4 write none.
   */
  readonly unlinked?: CompiledContract['evm'];
  /** The other contracts that were compiled with it, where they were asked for. */
  readonly others: readonly RunningCode[];
  /** Source path → the id under which source maps name it. */
  readonly sourceIds: Readonly<Record<string, { readonly id: number }>>;
  /** The compiler's long version, without `v`. */
  readonly version: string;
  readonly compileTimeMs: number;
}

const WORD_BITS = 256;

/**
 * Compiles the target of a task, and locates its auxdatas: where one compilation does not tell, by a second one with
 * other metadata. Where the code has immutables, one more says their types.
 * @param options whether the codes of other contracts in the sources are asked for: see {@link selectOtherContracts}
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
      const output = await outputs.readTarget(raw, task.target, signal, asked);
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
      outputs.readVyperTrees(
        await compile(selectTrees(input, paths)),
        path,
        Object.keys(input.sources),
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
      outputs.readImmutables(await compile(narrowed), signal),
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
 * What the syntax trees add to what the codes of Vyper say: the types of the values behind the running code, and whether the
 * integrity hash shows all sources. A hash that does not is code like any other. Where the trees are too large to be read the
 * types stay unknown and the hash shows nothing.
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

/** Whether the compiler may have linked libraries of the settings, and wrote nothing that names them. */
function mayLinkUnseen({ settings }: StandardJsonInput, { evm }: CompiledContract): boolean {
  return (
    evm.legacyAssembly === undefined && entriesOf(readConfiguredLibraries(settings)).length > 0
  );
}

/** The input with the places of its libraries left open. */
export function withoutLibraries(input: StandardJsonInput): StandardJsonInput {
  return { ...input, settings: { ...input.settings, libraries: {} } };
}

/**
 * The types of the immutables that a code has. Those of Yul are words: nothing in the language jumps to a value. Bytes of
 * `verbatim` may do what the language does not: beside them a value counts as a place in the code. Where the compiler's
 * answer is too large to be read the types stay unknown, and a match needs the creation to prove the values.
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
    const type: ImmutableType = holdsVerbatim(input)
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
    throw refusedByCompiler(errors);
  }
  const { contracts = {}, sources = {} } = output;
  // A selection that fits no contract gives none, and still the sources.
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
 * Versions of solc leave references out where they know none. Solar says each that was selected, or cannot say it at all.
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
  // Placeholders of libraries have as many characters as the addresses that stand in for them.
  requireBounded('of these sources', deployedBytecode.object.length / 2);
  requireBounded('of these sources that creates the contract', bytecode.object.length / 2);
  return { evm: { bytecode, deployedBytecode, legacyAssembly } };
}
