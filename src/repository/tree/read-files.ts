import { type ContractPart, type ContractParts } from '../matches/contract-parts.ts';
import { FACT_FILES } from './fact-files.ts';
import { mapSourcePaths } from './source-paths.ts';

/** A file of the published tree. */
export interface RepositoryFile {
  /** Below the contract's folder, such as `sources/contracts/Token.sol`; safe on every file system. */
  readonly path: string;
  readonly content: string;
}

/** Where a contract's sources lie, relative to its own folder. */
export const SOURCES_FOLDER = 'sources/';

const FACT_PARTS = [...FACT_FILES.values()].flatMap(({ parts }) => parts);
/** The parts of the record that decide which files exist. */
export const FILE_PATH_PARTS: readonly ContractPart[] = [...new Set(FACT_PARTS)];
/** The parts of the record that the files are written from. */
export const FILE_PARTS: readonly ContractPart[] = [...FILE_PATH_PARTS, 'sources'];

/**
 * All files of a contract in layout V1, made from what is stored of it: metadata.json, sources/…, creator-tx-hash.txt,
 * constructor-args.txt, library-map.json, immutable-references.json, each where its fact is known, and
 * path-translation.json when a source does not keep its name. Sorted by path, each path once.
 * @param parts those of {@link FILE_PARTS}
 */
export function filesOf(parts: Partial<ContractParts>): readonly RepositoryFile[] {
  const { sources = [] } = parts;
  const paths = mapSourcePaths(sources.map(({ path }) => path));
  const files = [
    ...factFiles(parts),
    ...sources.map(({ path, content }) => ({
      path: `${SOURCES_FOLDER}${paths.get(path) ?? ''}`,
      content,
    })),
  ];
  return files.sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** The paths of {@link filesOf}, from {@link FILE_PATH_PARTS}: no source is read for them. */
export function filePathsOf(parts: Partial<ContractParts>): readonly string[] {
  const sources = [...mapSourcePaths(parts.sourcePaths ?? []).values()];
  const paths = [
    ...factFiles(parts).map(({ path }) => path),
    ...sources.map((path) => `${SOURCES_FOLDER}${path}`),
  ];
  return paths.sort((left, right) => (left < right ? -1 : 1));
}

function factFiles(parts: Partial<ContractParts>): readonly RepositoryFile[] {
  return [...FACT_FILES].flatMap(([path, { render }]) => {
    const content = render(parts);
    return content === undefined ? [] : [{ path, content }];
  });
}
