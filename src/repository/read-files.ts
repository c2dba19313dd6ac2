import { type Hex } from '../lib/hex.ts';
import { type Queryable } from '../store/database.ts';
import { type ContractMatch } from './contract-match.ts';
import { FACT_FILES } from './fact-files.ts';
import { readContract } from './read-contract.ts';
import { mapSourcePaths } from './source-paths.ts';

/** A file of the published tree. */
export interface RepositoryFile {
  /** Below the contract's folder, such as `sources/contracts/Token.sol`; safe on every file system. */
  readonly path: string;
  readonly content: string;
}

/** What the published tree has of a contract, in layout V1. */
export interface ContractFiles {
  readonly match: ContractMatch;
  /** Sorted by path, each path once. */
  readonly files: readonly RepositoryFile[];
}

/** The folder of the sources in a contract's folder. */
export const SOURCES_FOLDER = 'sources/';

/**
 * All files of a contract, made from what is stored of it: metadata.json, sources/…, creator-tx-hash.txt,
 * constructor-args.txt, library-map.json, immutable-references.json, each where its fact is known, and
 * path-translation.json when a source does not keep its name.
 * @returns undefined when the address (lower-case hex) has no match on the chain
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function readFiles(
  database: Queryable,
  chainId: number,
  address: Hex,
): Promise<ContractFiles | undefined> {
  const needed = new Set([...FACT_FILES.values()].flatMap(({ parts }) => parts));
  const contract = await readContract(database, chainId, address, [...needed.add('sources')]);
  if (contract === undefined) return undefined;
  const { match, parts } = contract;
  const { sources = [] } = parts;
  const paths = mapSourcePaths(sources.map(({ path }) => path));
  const files = [
    ...[...FACT_FILES].flatMap(([path, { render }]) => {
      const content = render(parts);
      return content === undefined ? [] : [{ path, content }];
    }),
    ...sources.map(({ path, content }) => ({
      path: `${SOURCES_FOLDER}${paths.get(path) ?? ''}`,
      content,
    })),
  ];
  return { match, files: files.sort((left, right) => (left.path < right.path ? -1 : 1)) };
}
