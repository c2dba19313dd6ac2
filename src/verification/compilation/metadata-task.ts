import { printableText } from '../../lib/printable-text.ts';
import { findSources, type FoundSources } from '../../solidity/find-sources.ts';
import {
  LANGUAGE_NAMES,
  type ListedSource,
  type Metadata,
  MetadataFault,
  readMetadata,
  toInputSettings,
} from '../../solidity/metadata.ts';
import { type StandardJsonInput } from '../../solidity/standard-json.ts';
import { type CompilationTask } from './compilation-task.ts';
import { SourceSizeLimiter } from './source-size.ts';
import { VerificationFailure } from '../verification-failure.ts';
import { type MetadataCompilation } from '../verification-request.ts';

const NAMES_SHOWN = 20;
const NAME_SHOWN_CHARACTERS = 200;

/**
 * Builds the compilation that a metadata document describes. Its sources are those that were sent, found by
 * path or by hash.
 * @throws VerificationFailure invalid_metadata, invalid_language, invalid_compiler_version,
 * invalid_compilation_target, missing_source, missing_or_invalid_source, sources_too_large.
 */
export function readMetadataTask(
  { metadata, sources: given }: MetadataCompilation,
  sourceBytes: number,
): CompilationTask {
  const { language, version, target, settings, sources } = readDocument(metadata);
  const found = findSources(sources, given, new SourceSizeLimiter(sourceBytes));
  requireAll(found, sources);
  const inputOf = (contents: ReadonlyMap<string, string>): StandardJsonInput => ({
    language: LANGUAGE_NAMES[language],
    sources: Object.fromEntries([...contents].map(([path, content]) => [path, { content }])),
    settings: toInputSettings(settings, version),
  });
  const unused = found.unused.map((path) => [path, given[path] ?? ''] as const);
  return {
    language,
    version,
    target,
    input: inputOf(found.contents),
    ...(unused.length > 0 && { withAllSources: inputOf(new Map([...unused, ...found.contents])) }),
  };
}

const FAULT_CODES = {
  object: 'invalid_metadata',
  language: 'invalid_language',
  version: 'invalid_compiler_version',
  target: 'invalid_compilation_target',
} as const;

function readDocument(metadata: unknown): Metadata {
  try {
    return readMetadata(metadata);
  } catch (error) {
    if (!(error instanceof MetadataFault)) throw error;
    throw new VerificationFailure(FAULT_CODES[error.part], error.message);
  }
}

/** @param listed the sources of the metadata, whose hashes identify the files */
function requireAll({ invalid, missing }: FoundSources, listed: readonly ListedSource[]): void {
  if (invalid.length === 0 && missing.length === 0) return;
  const show = (paths: readonly string[]): readonly string[] =>
    paths.slice(0, NAMES_SHOWN).map((path) => printableText(path, NAME_SHOWN_CHARACTERS));
  const hashes = new Map(listed.map(({ path, keccak256 }) => [path, keccak256]));
  const withHashes = (paths: readonly string[]): string =>
    paths
      .slice(0, NAMES_SHOWN)
      .map((path) => {
        const hash = printableText(hashes.get(path) ?? 'none', NAME_SHOWN_CHARACTERS);
        return `${printableText(path, NAME_SHOWN_CHARACTERS)} (keccak256 ${hash})`;
      })
      .join(', ');
  const parts = [
    ...(invalid.length > 0
      ? [`the content differs from the metadata: ${withHashes(invalid)}`]
      : []),
    ...(missing.length > 0 ? [`missing: ${withHashes(missing)}`] : []),
  ];
  throw new VerificationFailure(
    invalid.length > 0 ? 'missing_or_invalid_source' : 'missing_source',
    `The sources do not match the metadata: ${parts.join('; ')}.`,
    { data: { invalidSources: show(invalid), missingSources: show(missing) } },
  );
}
