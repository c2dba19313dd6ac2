import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { readSources } from './read-sources.ts';
import { sql, type Queryable } from '../../store/database.ts';
import { type Match } from './verified-contract.ts';

/** Another text that compiles to the bytecode of a partial match. */
export interface Alternative {
  /** Number of its evidence. */
  readonly matchId: string;
  readonly name: string;
  readonly fullyQualifiedName: string;
  readonly language: string;
  readonly compilerVersion: string;
  readonly runtimeMatch: Match | null;
  readonly creationMatch: Match | null;
  readonly recordedAt: Date;
}

/** Another text with its settings and sources. */
export interface AlternativeText extends Alternative {
  readonly settings: Readonly<Record<string, unknown>>;
  /** Path → content. */
  readonly sources: ReadonlyMap<string, string>;
}

const FROM = `FROM alternative_matches
   JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   WHERE chain_id = $1 AND address = $2`;
const COLUMNS = `verified_contract_id, name, fully_qualified_name, language, version, recorded_at, compilation_id,
     CASE WHEN runtime_metadata_match THEN 'full' WHEN runtime_match THEN 'partial' END AS runtime_match,
     CASE WHEN creation_metadata_match THEN 'full' WHEN creation_match THEN 'partial' END AS creation_match`;
const READ_ALTERNATIVES = sql(
  'read alternatives',
  `SELECT ${COLUMNS} ${FROM} ORDER BY verified_contract_id`,
);
const READ_ALTERNATIVE = sql(
  'read alternative',
  `SELECT ${COLUMNS}, compiler_settings ${FROM} AND verified_contract_id = $3::text::numeric`,
);

interface Row {
  verified_contract_id: string;
  name: string;
  fully_qualified_name: string;
  language: string;
  version: string;
  recorded_at: Date;
  compilation_id: string;
  runtime_match: Match | null;
  creation_match: Match | null;
}

const toAlternative = (row: Row): Alternative => ({
  matchId: row.verified_contract_id,
  name: row.name,
  fullyQualifiedName: row.fully_qualified_name,
  language: row.language,
  compilerVersion: row.version,
  runtimeMatch: row.runtime_match,
  creationMatch: row.creation_match,
  recordedAt: row.recorded_at,
});

/**
 * The other texts that compile to the bytecode of a contract's partial match, oldest first: a few at most.
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function readAlternatives(
  database: Queryable,
  chainId: number,
  address: Hex,
): Promise<readonly Alternative[]> {
  const rows = await database.query<Row>(READ_ALTERNATIVES, [chainId, hexToBytes(address)]);
  return rows.map(toAlternative);
}

/**
 * One of the other texts, by the number of its evidence in decimal digits.
 * @returns undefined if the contract has no such alternative
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function readAlternative(
  database: Queryable,
  chainId: number,
  address: Hex,
  matchId: string,
): Promise<AlternativeText | undefined> {
  const [row] = await database.query<Row & { compiler_settings: AlternativeText['settings'] }>(
    READ_ALTERNATIVE,
    [chainId, hexToBytes(address), matchId],
  );
  if (row === undefined) return undefined;
  const sources = await readSources(database, row.compilation_id);
  return {
    ...toAlternative(row),
    settings: row.compiler_settings,
    sources: new Map(sources.map(({ path, content }) => [path, content])),
  };
}
