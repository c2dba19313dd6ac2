import { FullmatchError } from '../errors.ts';
import { type Hex } from '../lib/hex.ts';
import { type Match, type Source } from '../repository/repository.ts';
import { type Queryable, sql, type Statement } from '../store/database.ts';
import {
  type DeliveredContract,
  type DeliveredFacts,
  type DeliveredMatches,
} from './delivered-contract.ts';
import { BatchedReads } from './batched-reads.ts';
import { type ImportLimits } from './import-limits.ts';
import { Refusal } from './refusal.ts';
import { toTreeEntry, type TreeEntry } from './repository-tree.ts';

const PAGE = 1_000;
const TABLES = [
  ...['verified_contracts', 'contract_deployments', 'contracts', 'code'],
  ...['compiled_contracts', 'compiled_contracts_sources', 'sources'],
];
const OWN_TABLE = 'fullmatch_matches';
const HAS_TABLES = sql(
  'import: look for tables',
  `SELECT name, to_regclass(quote_ident(name)) IS NOT NULL AS is_there FROM unnest($1::text[]) AS name`,
);
const HAS_INPUT = sql(
  'import: look for the additional input',
  `SELECT FROM pg_attribute WHERE attrelid = to_regclass('compiled_contracts') AND attname = 'additional_input'
     AND NOT attisdropped`,
);
const COUNT = sql(
  'import: count matches',
  'SELECT count(*)::float8 AS total FROM verified_contracts',
);
const LIST_SOURCIFY = sql(
  'import: list matches',
  `SELECT matched.id::text AS id, chain_id::text AS chain_id, '0x' || encode(address, 'hex') AS address,
     sourcify_matches.runtime_match AS runtime_match, sourcify_matches.creation_match AS creation_match
   FROM verified_contracts AS matched
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   JOIN sourcify_matches ON verified_contract_id = matched.id
   WHERE matched.id > $1::bigint ORDER BY matched.id LIMIT ${PAGE}`,
);
// These tables have no metadata; that of a full match is derived when the match is read.
const LIST_ALLIANCE = sql(
  'import: list matches without metadata',
  `SELECT matched.id::text AS id, chain_id::text AS chain_id, '0x' || encode(address, 'hex') AS address,
     CASE WHEN NOT runtime_match THEN NULL WHEN runtime_metadata_match THEN 'perfect' ELSE 'partial' END AS runtime_match,
     CASE WHEN NOT creation_match THEN NULL WHEN creation_metadata_match THEN 'perfect' ELSE 'partial' END AS creation_match
   FROM verified_contracts AS matched
   JOIN contract_deployments ON contract_deployments.id = deployment_id
   WHERE matched.id > $1::bigint ORDER BY matched.id LIMIT ${PAGE}`,
);
// State of each address in an export of Fullmatch; rows of verified_contracts may be outdated.
const LIST_OWN = sql(
  'import: list matches of an export',
  `SELECT matched.id::text AS id, stated.chain_id::text AS chain_id, '0x' || encode(stated.address, 'hex') AS address,
     CASE stated.runtime_match WHEN 'full' THEN 'perfect' ELSE stated.runtime_match END AS runtime_match,
     CASE stated.creation_match WHEN 'full' THEN 'perfect' ELSE stated.creation_match END AS creation_match
   FROM fullmatch_matches AS stated
   JOIN verified_contracts AS matched ON matched.id = stated.verified_contract_id
   WHERE matched.id > $1::bigint ORDER BY matched.id LIMIT ${PAGE}`,
);
const readFacts = (
  metadata: string,
  input: string,
  creationValues = 'creation_values',
): Statement =>
  sql(
    'import: read match',
    `SELECT matched.id::text AS id, compilation_id::text AS compilation_id, lower(language) AS language, compiler, version, name,
       fully_qualified_name, compiler_settings::text AS settings, compilation_artifacts::text AS artifacts,
       runtime_code_artifacts::text AS runtime_artifacts, recompiled.code AS recompiled, deployed.code AS on_chain,
       runtime_transformations::text AS runtime_transformations, runtime_values::text AS runtime_values,
       creation_code_artifacts::text AS creation_artifacts, recompiled_creation.code AS recompiled_creation,
       created.code AS creation_on_chain, contracts.creation_code_hash IS NOT NULL AS has_creation,
       creation_transformations::text AS creation_transformations, ${creationValues}::text AS creation_values,
       ${metadata} AS metadata, ${input} AS additional_input, block_number::float8 AS block_number,
       transaction_index::float8 AS transaction_index, '0x' || encode(deployer, 'hex') AS deployer,
       CASE WHEN block_number >= 0 OR block_number IS NULL THEN '0x' || encode(transaction_hash, 'hex') END AS transaction_hash,
       (SELECT sum(octet_length(content))::float8 FROM compiled_contracts_sources AS listed
        JOIN sources USING (source_hash) WHERE listed.compilation_id = matched.compilation_id) AS source_bytes
     FROM verified_contracts AS matched
     JOIN contract_deployments ON contract_deployments.id = deployment_id
     JOIN contracts ON contracts.id = contract_id
     JOIN code AS deployed ON deployed.code_hash = contracts.runtime_code_hash
     JOIN compiled_contracts ON compiled_contracts.id = compilation_id
     JOIN code AS recompiled ON recompiled.code_hash = compiled_contracts.runtime_code_hash
     LEFT JOIN code AS created ON created.code_hash = contracts.creation_code_hash
     LEFT JOIN code AS recompiled_creation ON recompiled_creation.code_hash = compiled_contracts.creation_code_hash
     WHERE matched.id = ANY ($1::bigint[])`,
  );
const METADATA =
  '(SELECT metadata::text FROM sourcify_matches WHERE verified_contract_id = matched.id)';
const OWN_METADATA =
  '(SELECT metadata FROM fullmatch_compilations WHERE compilation_id = matched.compilation_id)';
// Constructor arguments can be known even if the creation bytecode was not compared.
const OWN_VALUES = `coalesce(creation_values::text,
  (SELECT claimed_creation_values::text FROM fullmatch_matches WHERE verified_contract_id = matched.id))`;
const READ_SOURCES = sql(
  'import: read sources',
  `SELECT path, content FROM compiled_contracts_sources JOIN sources USING (source_hash)
   WHERE compilation_id = $1::uuid LIMIT $2`,
);

interface ListedMatch {
  readonly id: string;
  readonly chain_id: string;
  readonly address: string;
  readonly runtime_match: string | null;
  readonly creation_match: string | null;
}

interface MatchFacts extends DeliveredFacts {
  readonly id: string;
  readonly compilation_id: string;
  /** null if no sources are listed. */
  readonly source_bytes: number | null;
}

/** A database of another service, and whether it has Sourcify's tables in addition to the Verifier Alliance's. */
export interface Alliance {
  readonly database: Queryable;
  readonly hasMetadata: boolean;
  /** Whether Fullmatch exported it, with its extra tables. */
  readonly isOwn: boolean;
  /** Whether another writer changed the whitespace and escapes of the metadata. */
  readonly isRewritten: boolean;
  /** Sourcify's matches by id. */
  readonly facts: BatchedReads<MatchFacts>;
}

/**
 * Detects the Verifier Alliance tables of a database (https://github.com/verifier-alliance/database-specs).
 * @throws FullmatchError `import_path_unusable` with the missing tables, and those of the database
 */
export async function openAlliance(
  database: Queryable,
  name: string,
  isRewritten: boolean,
): Promise<Alliance> {
  const tables = await database.query<{ name: string; is_there: boolean }>(HAS_TABLES, [
    [...TABLES, 'sourcify_matches', OWN_TABLE],
  ]);
  const missing = tables.flatMap((table) => (table.is_there ? [] : [table.name]));
  const needed = missing.filter((table) => TABLES.includes(table));
  if (needed.length === 0) {
    const isOwn = !missing.includes(OWN_TABLE);
    const hasMetadata = !missing.includes('sourcify_matches');
    const hasInput = (await database.query(HAS_INPUT)).length > 0;
    const read = readFacts(
      hasMetadata ? METADATA : isOwn ? OWN_METADATA : 'NULL::text',
      hasInput ? 'additional_input::text' : 'NULL::text',
      isOwn ? OWN_VALUES : undefined,
    );
    const facts = new BatchedReads<MatchFacts>(database, read);
    return { database, hasMetadata, isOwn, isRewritten, facts };
  }
  throw new FullmatchError(
    'import_path_unusable',
    `cannot import ${name}: it has no table ${needed.join(', ')}, as the Verifier Alliance names them`,
    { details: { path: name, missing: needed } },
  );
}

/** Counts the matches; an address may have several. */
export async function countAlliance({ database }: Alliance): Promise<number> {
  const [row] = await database.query<{ total: number }>(COUNT);
  return row?.total ?? 0;
}

/**
 * Walks the matches in id order. Each is converted to the files of a published tree, so that it passes the
 * same checks, after its bytecode is checked. If the metadata of a full match is missing, it is derived; if
 * the derived metadata does not hash to the value in the bytecode, the match becomes partial.
 */
export async function* walkAlliance(
  alliance: Alliance,
): AsyncGenerator<TreeEntry, void, undefined> {
  const { database, hasMetadata, isOwn } = alliance;
  const list = isOwn ? LIST_OWN : hasMetadata ? LIST_SOURCIFY : LIST_ALLIANCE;
  for (let after = '0'; ;) {
    const page: ListedMatch[] = await database.query<ListedMatch>(list, [after]);
    for (const listed of page) yield asTreeEntry(alliance, listed);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.id;
  }
}

function asTreeEntry(alliance: Alliance, listed: ListedMatch): TreeEntry {
  const path = `verified_contracts/${listed.id}`;
  const matches = {
    runtime: matchOf(listed.runtime_match),
    creation: matchOf(listed.creation_match),
  };
  const match: Match = Object.values(matches).includes('full') ? 'full' : 'partial';
  return toTreeEntry(path, [listed.chain_id, listed.address], (place) => {
    if (listed.runtime_match === null) throw new Refusal('no_runtime_match', path);
    const list = (limits: ImportLimits): Promise<DeliveredContract> =>
      readMatch(alliance, listed, matches, limits);
    return { ...place, match, list };
  });
}

async function readMatch(
  { database, facts, isRewritten }: Alliance,
  { id, address }: ListedMatch,
  matches: DeliveredMatches,
  limits: ImportLimits,
): Promise<DeliveredContract> {
  const row = await facts.read(id);
  if (row === undefined) throw new Refusal('unreadable', id, 'its rows are not all there');
  if ((row.source_bytes ?? 0) > limits.contractBytes) {
    throw new Refusal('file_too_large', 'sources');
  }
  const values = [row.compilation_id, limits.sources + 1];
  const sources =
    row.source_bytes === null ? [] : await database.query<Source>(READ_SOURCES, values);
  return { address: address as Hex, facts: row, sources, matches, isRewritten };
}

function matchOf(text: string | null): Match | null {
  if (text === null) return null;
  return text === 'perfect' ? 'full' : 'partial';
}
