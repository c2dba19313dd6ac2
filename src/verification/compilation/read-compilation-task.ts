import { splitQualifiedName } from '../../solidity/library-id.ts';
import { type CompilationTarget, type StandardJsonInput } from '../../solidity/standard-json.ts';
import { printableText } from '../../lib/printable-text.ts';
import { isBoundedName, MAX_NAME_BYTES } from '../../lib/source-path.ts';
import { isStorableJson, isStorableText } from '../../lib/storable-text.ts';
import { type CompilationTask, UNKNOWN_TARGET } from './compilation-task.ts';
import { type Language } from './languages/language.ts';
import { languageOf } from './languages/all-languages.ts';
import { readMetadataTask } from './metadata-task.ts';
import { VerificationFailure } from '../verification-failure.ts';
import {
  type Deployment,
  type SimilarityRequest,
  type StandardJsonCompilation,
  type VerificationRequest,
} from '../verification-request.ts';
import { requireNoRawBytecode } from './yul-program.ts';

const NAME_SHOWN_CHARACTERS = 120;

/** Formats a name from the input for messages; it may contain any text. */
function showName(name: string): string {
  return `"${printableText(name, NAME_SHOWN_CHARACTERS)}"`;
}

/** A deployment and its compilation. */
export interface VerificationTask
  extends Deployment, Pick<VerificationRequest, 'constructorArguments'> {
  readonly task: CompilationTask;
  readonly origin?: VerificationRequest['origin'];
  /** See {@link StandardJsonCompilation}. */
  readonly trySettings?: boolean;
}

/** A deployment to be verified against stored contracts. */
export interface SimilarityTask extends Deployment {
  readonly task: 'stored';
}

/**
 * Reads a queued request.
 * @throws as {@link readVerificationTask}
 */
export function readTask(
  request: VerificationRequest | SimilarityRequest,
  sourceBytes: number,
): VerificationTask | SimilarityTask {
  const { compilation, ...deployment } = request;
  if (compilation.kind === 'stored') return { ...deployment, task: 'stored' };
  return readVerificationTask({ ...request, compilation }, sourceBytes);
}

/**
 * Reads the compilation of a request.
 * @throws as {@link readCompilationTask}
 */
export function readVerificationTask(
  request: VerificationRequest,
  sourceBytes: number,
): VerificationTask {
  const { chainId, address, creationTransactionHash, origin, constructorArguments } = request;
  return {
    chainId,
    address,
    ...(creationTransactionHash !== undefined && { creationTransactionHash }),
    ...(origin !== undefined && { origin }),
    ...(constructorArguments !== undefined && { constructorArguments }),
    ...(isTrying(request) && { trySettings: true }),
    task: readCompilationTask(request, sourceBytes),
  };
}

const isTrying = ({ compilation }: VerificationRequest): boolean =>
  compilation.kind === 'standard_json' && compilation.trySettings === true;

/**
 * Reads the compilation that a request describes.
 * @param sourceBytes limit on the size of the sources that the metadata names
 * @throws VerificationFailure invalid_compilation_target, invalid_language, invalid_metadata, missing_source,
 * missing_or_invalid_source, sources_too_large, invalid_compiler_input, unsupported_setting,
 * verbatim_not_allowed; FullmatchError unsupported_language, invalid_compiler_version.
 */
function readCompilationTask(
  { compilation }: VerificationRequest,
  sourceBytes: number,
): CompilationTask {
  const task =
    compilation.kind === 'metadata'
      ? readMetadataTask(compilation, sourceBytes)
      : readStandardJsonTask(compilation);
  if (!isBoundedName(task.target.name)) {
    throw new VerificationFailure(
      'invalid_compilation_target',
      `The name of the contract, ${showName(task.target.name)}, is longer than ${MAX_NAME_BYTES} bytes.`,
    );
  }
  const { sources, settings } = task.withAllSources ?? task.input;
  for (const [path, { content = '' }] of Object.entries(sources)) {
    if (isStorableText(path) && isStorableText(content)) continue;
    throw new VerificationFailure(
      'missing_or_invalid_source',
      `The source ${showName(path)} contains a NUL or invalid Unicode; send it as it was compiled, in UTF-8.`,
    );
  }
  requireFewEntries(settings);
  if (!isStorableJson(settings)) {
    throw new VerificationFailure(
      'invalid_compiler_input',
      'The settings contain a NUL or invalid Unicode.',
    );
  }
  return clean(task, languageOf(task.language));
}

/** Returns the task with publishable settings, the same in both inputs. */
function clean(task: CompilationTask, { cleanSettings, moreMembers }: Language): CompilationTask {
  const { language, version, input, withAllSources } = task;
  if (language === 'yul') requireNoRawBytecode(withAllSources ?? input);
  const settings = cleanSettings(input.settings, version);
  const more = moreMembers.flatMap((name) => {
    const value = input[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  if (!isStorableJson(more)) {
    throw new VerificationFailure(
      'invalid_compiler_input',
      'The input contains a NUL or invalid Unicode.',
    );
  }
  const { sources } = input;
  const { outputSelection } = input.settings;
  return {
    ...task,
    ...(outputSelection !== undefined && { outputSelection }),
    input: { language: input.language, sources, settings, ...Object.fromEntries(more) },
    ...(withAllSources && { withAllSources: { ...withAllSources, settings } }),
  };
}

/** More than any project has; each is compared with the sources or the bytecode. */
const SETTING_ENTRIES = 1000;

/** @throws VerificationFailure invalid_compiler_input */
function requireFewEntries({ libraries, remappings }: StandardJsonInput['settings']): void {
  const named = typeof libraries === 'object' && libraries !== null ? Object.values(libraries) : [];
  const count = named.reduce(
    (sum: number, each: unknown) =>
      sum + 1 + (typeof each === 'object' && each !== null ? Object.keys(each).length : 0),
    Array.isArray(remappings) ? remappings.length : 0,
  );
  if (count <= SETTING_ENTRIES) return;
  throw new VerificationFailure(
    'invalid_compiler_input',
    `The settings name ${count} libraries and remappings; the limit is ${SETTING_ENTRIES}.`,
  );
}

function readStandardJsonTask(compilation: StandardJsonCompilation): CompilationTask {
  const { input, compilerVersion, contractIdentifier } = compilation;
  return {
    language: input.language.toLowerCase(),
    version: compilerVersion,
    target:
      contractIdentifier === undefined ? UNKNOWN_TARGET : readTarget(contractIdentifier, input),
    input,
  };
}

/** Splits at the last colon: a path may contain colons, a name cannot. */
function readTarget(identifier: string, input: StandardJsonInput): CompilationTarget {
  const [path, name] = splitQualifiedName(identifier);
  if (name === '') {
    throw new VerificationFailure(
      'invalid_compilation_target',
      `${showName(identifier)} is not a contract; write it as path:Name, such as contracts/Token.sol:Token.`,
    );
  }
  if (!Object.hasOwn(input.sources, path)) {
    throw new VerificationFailure(
      'invalid_compilation_target',
      `The contract ${showName(name)} should be in ${showName(path)}, which is not one of the sources.`,
    );
  }
  return { path, name };
}
