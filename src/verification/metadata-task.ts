import { groupByPath } from '../bytecode/library-id.ts';
import { type StandardJsonInput } from '../compilers/standard-json.ts';
import { isMembers, type Members } from '../lib/members.ts';
import { type CompilationTask } from './compilation-task.ts';
import { findSources } from './find-sources.ts';
import { VerificationFailure } from './verification-failure.ts';
import { type MetadataCompilation } from './verification-request.ts';

/** The languages of metadata, as standard JSON writes them. */
const LANGUAGES: ReadonlyMap<string, string> = new Map([
  ['solidity', 'Solidity'],
  ['yul', 'Yul'],
  ['vyper', 'Vyper'],
]);

/** These compilers write a setting into the metadata that they refuse in the input (Solidity 0.8.5, changelog). */
const INLINER_WRITERS = /^v?0\.8\.[234]\b/;

function membersOf(value: unknown, name: string): Members {
  if (isMembers(value)) return value;
  throw new VerificationFailure('invalid_metadata', `The metadata has no object "${name}".`);
}

/**
 * The compilation that a metadata document describes (Solidity documentation, "Contract Metadata"). The sources are
 * those that were given, found by path or by hash.
 * @throws VerificationFailure invalid_metadata, invalid_language, invalid_compiler_version,
 * invalid_compilation_target, missing_source, missing_or_invalid_source, sources_too_large.
 */
export function readMetadataTask(
  { metadata, sources }: MetadataCompilation,
  sourceBytes: number,
): CompilationTask {
  const document = membersOf(metadata, 'metadata');
  const settings = membersOf(document['settings'], 'settings');
  const language = readLanguage(document['language']);
  const version = readVersion(document['compiler']);
  const target = readTarget(settings['compilationTarget']);
  const found = findSources(membersOf(document['sources'], 'sources'), sources, sourceBytes);
  const inputOf = (contents: ReadonlyMap<string, string>): StandardJsonInput => ({
    language,
    sources: Object.fromEntries([...contents].map(([path, content]) => [path, { content }])),
    settings: readSettings(settings, version),
  });
  const unused = found.unused.map((path) => [path, sources[path] ?? ''] as const);
  return {
    language: language.toLowerCase(),
    version,
    target,
    input: inputOf(found.contents),
    ...(unused.length > 0 && { withAllSources: inputOf(new Map([...unused, ...found.contents])) }),
  };
}

function readLanguage(value: unknown): string {
  const language = typeof value === 'string' ? LANGUAGES.get(value.toLowerCase()) : undefined;
  if (language !== undefined) return language;
  throw new VerificationFailure(
    'invalid_language',
    'The metadata names no language that is known here; Solidity and Yul are.',
  );
}

function readVersion(compiler: unknown): string {
  const version = isMembers(compiler) ? compiler['version'] : undefined;
  if (typeof version === 'string') return version;
  throw new VerificationFailure(
    'invalid_compiler_version',
    'The metadata has no compiler.version, such as 0.8.30+commit.73712a01.',
  );
}

function readTarget(value: unknown): CompilationTask['target'] {
  const entries = isMembers(value) ? Object.entries(value) : [];
  const [path, name] = entries[0] ?? [];
  if (entries.length === 1 && path !== undefined && typeof name === 'string') return { path, name };
  throw new VerificationFailure(
    'invalid_compilation_target',
    'The metadata must have one entry in settings.compilationTarget: the path and the name of the contract.',
  );
}

/**
 * The settings as the compiler takes them: two members have another form in metadata than in the input. Libraries are
 * `path:Name` → address there; old compilers name no path.
 */
function readSettings(settings: Members, version: string): Members {
  const { libraries, optimizer } = settings;
  return {
    ...without(settings, ['compilationTarget', 'libraries', 'optimizer']),
    ...(optimizer !== undefined && { optimizer: readOptimizer(optimizer, version) }),
    ...(isMembers(libraries) && { libraries: groupByPath(Object.entries(libraries)) }),
  };
}

function readOptimizer(optimizer: unknown, version: string): unknown {
  if (!INLINER_WRITERS.test(version) || !isMembers(optimizer)) return optimizer;
  const { details } = optimizer;
  if (!isMembers(details)) return optimizer;
  return { ...optimizer, details: without(details, ['inliner']) };
}

function without(members: Members, keys: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([key]) => !keys.includes(key)));
}
