import { hexToBytes, type Hex } from '../../lib/hex.ts';
import { readSources } from './read-sources.ts';
import { sql, type Queryable } from '../../store/database.ts';
import {
  type ContractMatch,
  MATCH_COLUMNS,
  type MatchRow,
  QUALIFIED_MATCH_COLUMNS,
  toContractMatch,
} from './contract-match.ts';
import {
  type ContractSection,
  type SectionsRow,
  type SourceSize,
  type StoredSections,
} from './contract-sections.ts';

const READ_MATCH = sql(
  'read match',
  `SELECT ${MATCH_COLUMNS} FROM current_matches WHERE chain_id = $1 AND address = $2`,
);

const VERSIONED_TABLES = [
  'current_matches',
  'verified_contracts',
  'contract_deployments',
  'contracts',
  'compiled_contracts',
];
/**
 * Versions of all rows in a record. A written row gets the number of its transaction as `xmin`. A database
 * restored from a backup reuses transaction numbers and match numbers: ids, which are derived from content,
 * hashes and times with microseconds distinguish both histories. Bytecode and sources are stored by hash and
 * the sources of a compilation never change, so they are not included.
 */
const VERSION = `ROW(verified_contract_id, deployment_id, contract_id, verified_contracts.compilation_id, current_matches.text_hash,
     current_matches.runtime_code_hash, metadata_hash, ${VERSIONED_TABLES.map(
       (table) => `${table}.xmin, extract(epoch FROM ${table}.updated_at)`,
     ).join(', ')})::text`;
const FROM_MATCH = `FROM current_matches
   LEFT JOIN verified_contracts ON verified_contracts.id = verified_contract_id
   LEFT JOIN contract_deployments ON contract_deployments.id = deployment_id
   LEFT JOIN contracts ON contracts.id = contract_id
   LEFT JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   LEFT JOIN immutable_types ON immutable_types.compilation_id = compiled_contracts.id`;
const WHERE_MATCH = `WHERE current_matches.chain_id = $1 AND current_matches.address = $2`;

const READ_VERSION = sql(
  'read record version',
  `SELECT ${QUALIFIED_MATCH_COLUMNS}, ${VERSION} AS record_version ${FROM_MATCH} ${WHERE_MATCH}`,
);

/** Columns of one of the two bytecodes: on chain, recompiled, and the transformation between them. */
const codeColumns = (side: 'creation' | 'runtime', wanted: string): string =>
  [
    `(SELECT code FROM code WHERE code_hash = contracts.${side}_code_hash) AS ${side}_on_chain`,
    `(SELECT code FROM code WHERE code_hash = compiled_contracts.${side}_code_hash AND NOT are_codes_claimed) AS ${side}_recompiled`,
    `${side}_code_artifacts::text AS ${side}_artifacts`,
    `${side}_transformations::text AS ${side}_transformations`,
    `${side}_values::text AS ${side}_values`,
  ]
    .map((column) => column.replace(/^(.*) AS /s, `CASE WHEN ${wanted} THEN $1 END AS `))
    .join(', ');

// JSON is read as text, since parsing much of it belongs on another thread. Sections that were not requested
// are not read.
const READ_PARTS = sql(
  'read record',
  `SELECT ${QUALIFIED_MATCH_COLUMNS}, ${VERSION} AS record_version, verified_contracts.compilation_id,
     transaction_hash, block_number, transaction_index, deployer,
     language, compiler, version, name, fully_qualified_name, compiler_settings::text AS settings,
     CASE WHEN $3::boolean THEN compilation_artifacts::text END AS artifacts, CASE WHEN $4::boolean THEN metadata END AS metadata,
     contract_id IS NOT NULL AS is_code_read, jsonb_path_exists(compiler_settings, '$.libraries.*.*') AS has_configured_libraries,
     ${codeColumns('creation', '$5::boolean')}, ${codeColumns('runtime', '$6::boolean')},
     CASE WHEN $6::boolean THEN types::text END AS immutable_types
   ${FROM_MATCH} ${WHERE_MATCH}`,
);
// The length of a content is stored separately from its text.
const READ_SOURCE_SIZES = sql(
  'read source sizes',
  `SELECT path, octet_length(content) AS bytes FROM compiled_contracts_sources JOIN sources USING (source_hash)
   WHERE compilation_id = $1 ORDER BY path COLLATE "C"`,
);

/** A match, and a version that identifies the state of the contract's record. */
export interface RecordVersion {
  readonly match: ContractMatch;
  /** Changes with every committed change of anything in the record. */
  readonly version: string;
}

/** A verified contract: its match, and the requested sections of its evidence. */
export interface StoredRecord extends RecordVersion {
  readonly sections: StoredSections;
}

/**
 * The current match of a contract: one row.
 * @returns undefined if the address (lower-case hex) has no match on the chain
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function readContract(
  database: Queryable,
  chainId: number,
  address: Hex,
): Promise<ContractMatch | undefined> {
  const [row] = await database.query<MatchRow>(READ_MATCH, [chainId, hexToBytes(address)]);
  return row === undefined ? undefined : toContractMatch(row);
}

type VersionRow = MatchRow & { record_version: string };

const toVersion = (row: VersionRow): RecordVersion => ({
  match: toContractMatch(row),
  version: row.record_version,
});

/** The match of a contract and the version of its record, without reading the record. See {@link readContract}. */
export async function readRecordVersion(
  database: Queryable,
  chainId: number,
  address: Hex,
): Promise<RecordVersion | undefined> {
  const [row] = await database.query<VersionRow>(READ_VERSION, [chainId, hexToBytes(address)]);
  return row === undefined ? undefined : toVersion(row);
}

/** A verified contract with the requested sections, read in one snapshot. See {@link readContract}. */
export async function readRecord(
  database: Queryable,
  chainId: number,
  address: Hex,
  asked: readonly ContractSection[],
): Promise<StoredRecord | undefined> {
  const isAsked = new Set(asked);
  const [row] = await database.query<VersionRow & SectionsRow & { compilation_id: string | null }>(
    READ_PARTS,
    [
      chainId,
      hexToBytes(address),
      isAsked.has('artifacts'),
      isAsked.has('metadata'),
      isAsked.has('creationCode'),
      isAsked.has('runtimeCode'),
    ],
  );
  if (row === undefined) return undefined;
  const { compilation_id: id } = row;
  if (id === null) return { ...toVersion(row), sections: { asked } };
  const sources = isAsked.has('sources') ? await readSources(database, id) : undefined;
  const sizes = isAsked.has('sourceSizes')
    ? await database.query<SourceSize>(READ_SOURCE_SIZES, [id])
    : undefined;
  return {
    ...toVersion(row),
    sections: {
      ...{ asked, row },
      ...(sources && { sources }),
      ...(sizes && { sourceSizes: sizes }),
    },
  };
}
