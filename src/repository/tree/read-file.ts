import { type Hex } from '../../lib/hex.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type ContractMatch } from '../matches/contract-match.ts';
import { FACT_FILES } from './fact-files.ts';
import { parseSections } from '../matches/contract-sections.ts';
import { readContract, readRecord } from '../matches/read-contract.ts';
import { SOURCES_FOLDER } from './read-files.ts';
import { findSourceName, mapSourcePaths } from './source-paths.ts';

const READ_SOURCE_NAMES = sql(
  'read source names',
  `SELECT path, source_hash
   FROM verified_contracts JOIN compiled_contracts_sources USING (compilation_id)
   WHERE verified_contracts.id = $1`,
);
const READ_SOURCE = sql('read source', `SELECT content FROM sources WHERE source_hash = $1`);

/** A file of a contract, with the match under which it is published. */
export interface ContractFile {
  readonly match: ContractMatch;
  /** Undefined if the contract has no such file. */
  readonly content: string | undefined;
}

/**
 * Reads one file of a contract's published tree; a source also by other spellings of its name (see {@link
 * findSourceName}). Reads only the sections that the file needs.
 * @param path below the contract's folder, such as `sources/contracts/Token.sol`
 * @returns undefined if the address (lower-case hex) has no match on the chain
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function readFile(
  database: Queryable,
  chainId: number,
  address: Hex,
  path: string,
): Promise<ContractFile | undefined> {
  const fact = FACT_FILES.get(path);
  if (fact !== undefined) {
    const { presence } = fact;
    if (presence !== undefined) {
      // Rendering it may need all sources: they are read only if the file exists.
      const known = await readRecord(database, chainId, address, presence.sections);
      if (known === undefined) return undefined;
      if (!presence.isThere(parseSections(known.sections))) {
        return { match: known.match, content: undefined };
      }
    }
    const record = await readRecord(database, chainId, address, fact.sections);
    return record && { match: record.match, content: fact.render(parseSections(record.sections)) };
  }
  const match = await readContract(database, chainId, address);
  if (match === undefined) return undefined;
  if (match.matchId === undefined || !path.startsWith(SOURCES_FOLDER)) {
    return { match, content: undefined };
  }
  const sourcePath = path.slice(SOURCES_FOLDER.length);
  return { match, content: await readSource(database, match.matchId, sourcePath) };
}

async function readSource(
  database: Queryable,
  matchId: string,
  path: string,
): Promise<string | undefined> {
  const rows = await database.query<{ path: string; source_hash: Buffer }>(READ_SOURCE_NAMES, [
    matchId,
  ]);
  const hashes = new Map(rows.map((row) => [row.path, row.source_hash]));
  const name = findSourceName(mapSourcePaths(hashes.keys()), path);
  if (name === undefined) return undefined;
  const [source] = await database.query<{ content: string }>(READ_SOURCE, [hashes.get(name)]);
  return source?.content;
}
