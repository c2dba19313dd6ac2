import { type ContractSection, type ContractSections } from '../matches/contract-sections.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { keccak256 } from '../../lib/keccak.ts';
import { FACT_FILES, FACT_PRESENCE_SECTIONS, findFactFile } from './fact-files.ts';
import { mapSourcePaths, TRANSLATION_FILE } from './source-paths.ts';

/** A file of the published tree. */
export interface RepositoryFile {
  /** Below the contract's folder, such as `sources/contracts/Token.sol`; safe on every file system. */
  readonly path: string;
  readonly content: string;
}

/** Folder of a contract's sources, relative to its own folder. */
export const SOURCES_FOLDER = 'sources/';

/** Sections of the record that decide which files exist. */
export const FILE_PATH_SECTIONS = FACT_PRESENCE_SECTIONS;
/** Sections of the record from which the files are rendered. */
export const FILE_SECTIONS: readonly ContractSection[] = [
  ...new Set([...FACT_FILES.values()].flatMap(({ sections }) => sections)).add('sources'),
];

/**
 * Renders all files of a contract in layout V1: metadata.json, or compilation.json without compiler metadata,
 * sources/…, creator-tx-hash.txt, constructor-args.txt, library-map.json, immutable-references.json, each if
 * its fact is known, and path-translation.json if a source is renamed. Sorted by path, each path once.
 * @param sections those of {@link FILE_SECTIONS}
 */
export function filesOf(sections: Partial<ContractSections>): readonly RepositoryFile[] {
  const { sources = [] } = sections;
  const paths = mapSourcePaths(sources.map(({ path }) => path));
  const named = sources.map(({ path, content }) => ({ path: paths.get(path) ?? '', content }));
  return sorted([...factFiles(sections), ...inSourcesFolder(named)]);
}

/**
 * Like {@link filesOf} in layout V2: each source is named by the Keccak-256 of its content, and the metadata
 * lists the paths.
 */
export function filesOfV2(sections: Partial<ContractSections>): readonly RepositoryFile[] {
  const { sources = [] } = sections;
  const hashed = new Map(
    sources.map(({ content }) => [bytesToHex(keccak256(Buffer.from(content))), content]),
  );
  const named = [...hashed].map(([path, content]) => ({ path, content }));
  const facts = factFiles(sections).filter(({ path }) => path !== TRANSLATION_FILE);
  return sorted([...facts, ...inSourcesFolder(named)]);
}

const inSourcesFolder = (files: readonly RepositoryFile[]): readonly RepositoryFile[] =>
  files.map(({ path, content }) => ({ path: `${SOURCES_FOLDER}${path}`, content }));

const sorted = (files: readonly RepositoryFile[]): readonly RepositoryFile[] =>
  [...files].sort((left, right) => (left.path < right.path ? -1 : 1));

/** A file of the published tree without its content. */
export interface ListedFile {
  readonly path: string;
  /** Absent if only rendering the file would tell. */
  readonly bytes?: number;
}

/** Like {@link filesOf} without contents, from {@link FILE_PATH_SECTIONS}: reads no source. */
export function listFiles(sections: Partial<ContractSections>): readonly ListedFile[] {
  const { sourceSizes = [] } = sections;
  const paths = mapSourcePaths(sourceSizes.map(({ path }) => path));
  const facts = [...FACT_FILES].flatMap(([path, fact]) => {
    const found = findFactFile(fact, sections);
    return found === undefined ? [] : [{ path, ...found }];
  });
  const sources = sourceSizes.map(({ path, bytes }) => ({
    ...{ path: `${SOURCES_FOLDER}${paths.get(path) ?? ''}`, bytes },
  }));
  return [...facts, ...sources].sort((left, right) => (left.path < right.path ? -1 : 1));
}

function factFiles(sections: Partial<ContractSections>): readonly RepositoryFile[] {
  return [...FACT_FILES].flatMap(([path, { render }]) => {
    const content = render(sections);
    return content === undefined ? [] : [{ path, content }];
  });
}
