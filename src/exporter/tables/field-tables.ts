import { keccak256 } from '../../lib/keccak.ts';
import {
  audit,
  binary,
  boolean,
  type FieldColumn,
  type FieldTable,
  int32,
  int64,
  json,
  microsOf,
  string,
  timestamp,
  uuid,
} from './field-table.ts';

/** Unknown bytecode has the empty hash, which refers to a row without bytecode. */
const UNKNOWN_CODE = `'\\x'::bytea`;
/** A deployment refers to a contract even if neither bytecode is known. */
const UNKNOWN_CONTRACT = `'00000000-0000-8000-8000-000000000000'::uuid`;
/** Author and time of rows that have no row of their own in our schema. */
const NO_TIME = `'epoch'::timestamptz`;
const NO_WRITER = `'fullmatch'`;

/** The columns of {@link audit} for a row that may not exist in our schema. */
const auditOr = (table: string): readonly FieldColumn[] => [
  timestamp('created_at', `coalesce(${table}.created_at, ${NO_TIME})`),
  timestamp('updated_at', `coalesce(${table}.updated_at, ${NO_TIME})`),
  string('created_by', `coalesce(${table}.created_by, ${NO_WRITER})`),
  string('updated_by', `coalesce(${table}.updated_by, ${NO_WRITER})`),
];

const BY_CREATION = (key: string): FieldTable['order'] => ({ at: 'created_at', key });
const hexText = `encode(key, 'hex')`;
const uuidText = 'key::text';
const numberText = `lpad(key::text, 20, '0')`;
const ID_OF_SOURCE = `encode(substring(sha256(convert_to(listed.compilation_id::text || ' ' || listed.path, 'UTF8')) FOR 16), 'hex')::uuid`;

const CODE: FieldTable = {
  name: 'code',
  columns: [
    binary('code_hash', `decode(wanted.key, 'hex')`),
    binary('code', 'code.code'),
    binary('code_hash_keccak', `coalesce(code.code_hash_keccak, ${UNKNOWN_CODE})`),
    ...auditOr('code'),
  ],
  order: BY_CREATION('code_hash'),
  keys: `SELECT created_at AS at, code_hash AS key FROM code WHERE code_hash IN (
      SELECT creation_code_hash FROM contracts WHERE id IN (SELECT contract_id FROM scope)
      UNION SELECT runtime_code_hash FROM contracts WHERE id IN (SELECT contract_id FROM scope)
      UNION SELECT creation_code_hash FROM compiled_contracts WHERE id IN (SELECT compilation_id FROM scope)
      UNION SELECT runtime_code_hash FROM compiled_contracts WHERE id IN (SELECT compilation_id FROM scope))
    AND code_hash <> ${UNKNOWN_CODE}
    UNION ALL SELECT ${NO_TIME}, ${UNKNOWN_CODE}`,
  keyText: hexText,
  from: `LEFT JOIN code ON code_hash = decode(wanted.key, 'hex') AND wanted.key <> ''`,
  rowsPerFile: 100_000,
  rowsAtOnce: 500,
};

const CONTRACTS: FieldTable = {
  name: 'contracts',
  columns: [
    uuid('id', 'wanted.key'),
    binary('creation_code_hash', 'contracts.creation_code_hash'),
    binary('runtime_code_hash', `coalesce(contracts.runtime_code_hash, ${UNKNOWN_CODE})`),
    ...auditOr('contracts'),
  ],
  order: BY_CREATION('id'),
  keys: `SELECT created_at AS at, id AS key FROM contracts WHERE id IN (SELECT contract_id FROM scope)
    UNION ALL SELECT ${NO_TIME}, ${UNKNOWN_CONTRACT} WHERE EXISTS (SELECT FROM scope WHERE contract_id IS NULL)`,
  keyText: uuidText,
  from: 'LEFT JOIN contracts ON contracts.id = wanted.key::uuid',
  rowsPerFile: 1_000_000,
  rowsAtOnce: 5_000,
};

const BLOCK_NUMBER = 'coalesce(block_number, claimed_block_number)';
const GENESIS_MARK = `'\\x00'::bytea`;
const HASH_BYTES = 32;

/**
 * A genesis allocation (block number -1) has no transaction. The schema stores the Keccak-256 of both
 * bytecode hashes instead, which SQL cannot compute.
 */
const TRANSACTION_HASH: FieldColumn = {
  ...binary(
    'transaction_hash',
    `CASE WHEN transaction_hash IS NULL AND ${BLOCK_NUMBER} = -1 THEN (
       SELECT ${GENESIS_MARK} || coalesce(creation_code_hash, ${UNKNOWN_CODE}) || coalesce(runtime_code_hash, ${UNKNOWN_CODE})
       FROM contracts WHERE id = coalesce(contract_id, claimed_contract_id))
     ELSE transaction_hash END`,
  ),
  finish: (value) =>
    Buffer.isBuffer(value) && value.length !== HASH_BYTES
      ? Buffer.from(keccak256(value.subarray(1)))
      : value,
};

const CONTRACT_DEPLOYMENTS: FieldTable = {
  name: 'contract_deployments',
  columns: [
    uuid('id', 'deployment.id'),
    int64('chain_id'),
    binary('address'),
    TRANSACTION_HASH,
    int64('block_number', BLOCK_NUMBER, 'numeric'),
    int32('transaction_index', 'coalesce(transaction_index, claimed_transaction_index)'),
    binary('deployer', 'coalesce(deployer, claimed_deployer)'),
    uuid('contract_id', `coalesce(contract_id, claimed_contract_id, ${UNKNOWN_CONTRACT})`),
    ...audit('deployment'),
  ],
  order: BY_CREATION('id'),
  changes: true,
  keys: `SELECT created_at AS at, id AS key, updated_at AS version FROM contract_deployments
    WHERE id IN (SELECT deployment_id FROM scope)`,
  keyText: uuidText,
  from: 'JOIN contract_deployments AS deployment ON deployment.id = wanted.key::uuid',
  rowsPerFile: 1_000_000,
  rowsAtOnce: 5_000,
};

const COMPILED_CONTRACTS: FieldTable = {
  name: 'compiled_contracts',
  columns: [
    uuid('id', 'compiled.id'),
    ...audit('compiled'),
    ...[string('compiler'), string('version'), string('language'), string('name')],
    string('fully_qualified_name'),
    json('compiler_settings'),
    json('compilation_artifacts'),
    binary('creation_code_hash', `coalesce(creation_code_hash, ${UNKNOWN_CODE})`),
    json('creation_code_artifacts'),
    binary('runtime_code_hash', `coalesce(runtime_code_hash, ${UNKNOWN_CODE})`),
    json('runtime_code_artifacts'),
    json('additional_input'),
  ],
  order: BY_CREATION('id'),
  keys: `SELECT created_at AS at, id AS key FROM compiled_contracts WHERE id IN (SELECT compilation_id FROM scope)`,
  keyText: uuidText,
  from: 'JOIN compiled_contracts AS compiled ON compiled.id = wanted.key::uuid',
  rowsPerFile: 10_000,
  rowsAtOnce: 100,
};

const COMPILED_CONTRACTS_SOURCES: FieldTable = {
  name: 'compiled_contracts_sources',
  columns: [
    uuid('id', ID_OF_SOURCE),
    uuid('compilation_id', 'listed.compilation_id'),
    binary('source_hash', 'listed.source_hash'),
    string('path', 'listed.path'),
    timestamp('created_at', 'compiled.created_at'),
  ],
  order: BY_CREATION('id'),
  lookup: 'compilation_id',
  // Sources are linked to a compilation when it is stored. Their ids are random in the field's database; here
  // they are deterministic.
  keys: `SELECT compiled.created_at AS at, ${ID_OF_SOURCE} AS key, compiled.id AS lookup
    FROM compiled_contracts AS compiled JOIN compiled_contracts_sources AS listed ON listed.compilation_id = compiled.id
    WHERE compiled.id IN (SELECT compilation_id FROM scope)`,
  keyText: uuidText,
  from: `JOIN compiled_contracts AS compiled ON compiled.id = wanted.lookup::uuid
    JOIN compiled_contracts_sources AS listed ON listed.compilation_id = compiled.id AND ${ID_OF_SOURCE} = wanted.key::uuid`,
  rowsPerFile: 1_000_000,
  rowsAtOnce: 5_000,
};

const SOURCES: FieldTable = {
  name: 'sources',
  columns: [
    binary('source_hash'),
    binary('source_hash_keccak'),
    string('content'),
    ...audit('sources'),
  ],
  order: BY_CREATION('source_hash'),
  keys: `SELECT created_at AS at, source_hash AS key FROM sources WHERE source_hash IN (
      SELECT source_hash FROM compiled_contracts_sources WHERE compilation_id IN (SELECT compilation_id FROM scope))`,
  keyText: hexText,
  from: `JOIN sources ON source_hash = decode(wanted.key, 'hex')`,
  rowsPerFile: 10_000,
  rowsAtOnce: 100,
};

/** Columns that are only set for a matching comparison. */
const judged = (side: 'creation' | 'runtime'): readonly FieldColumn[] => [
  boolean(`${side}_match`),
  json(`${side}_values`, `CASE WHEN ${side}_match THEN coalesce(${side}_values, '{}') END`),
  json(
    `${side}_transformations`,
    `CASE WHEN ${side}_match THEN coalesce(${side}_transformations, '[]') END`,
  ),
];

const VERIFIED_CONTRACTS: FieldTable = {
  name: 'verified_contracts',
  columns: [
    int64('id', 'verified.id'),
    ...audit('verified'),
    ...[uuid('deployment_id'), uuid('compilation_id')],
    ...judged('creation'),
    ...judged('runtime'),
    boolean('runtime_metadata_match'),
    boolean('creation_metadata_match'),
  ],
  order: BY_CREATION('id'),
  changes: true,
  keys: `SELECT created_at AS at, id AS key, updated_at AS version FROM verified_contracts
    WHERE id IN (SELECT verified_contract_id FROM scope)`,
  keyText: numberText,
  from: 'JOIN verified_contracts AS verified ON verified.id = wanted.key::bigint',
  rowsPerFile: 1_000_000,
  rowsAtOnce: 2_000,
};

const levelOf = (match: string): string =>
  `CASE ${match} WHEN 'full' THEN 'perfect' WHEN 'partial' THEN 'partial' END`;

const SOURCIFY_MATCHES: FieldTable = {
  name: 'sourcify_matches',
  columns: [
    int64('id', 'verified.id'),
    int64('verified_contract_id', 'verified.id'),
    string('creation_match', levelOf('current.creation_match')),
    string('runtime_match', levelOf('current.runtime_match')),
    timestamp('created_at', 'current.first_matched_at'),
    timestamp('updated_at', 'current.updated_at'),
    // Stored as text, since the hash in the bytecode covers its bytes.
    string('metadata', 'compiled.metadata', 'json'),
  ],
  order: { at: 'updated_at', key: 'id' },
  keys: `SELECT shown_at AS at, verified_contract_id AS key FROM scope WHERE shown_at IS NOT NULL`,
  keyText: numberText,
  from: `JOIN verified_contracts AS verified ON verified.id = wanted.key::bigint
    JOIN contract_deployments AS deployment ON deployment.id = verified.deployment_id
    JOIN compiled_contracts AS compiled ON compiled.id = verified.compilation_id
    JOIN current_matches AS current ON current.chain_id = deployment.chain_id AND current.address = deployment.address
      AND current.verified_contract_id = verified.id
      AND ${microsOf('current.updated_at')} = wanted.at::bigint`,
  rowsPerFile: 100_000,
  rowsAtOnce: 500,
};

const FULLMATCH_MATCHES: FieldTable = {
  name: 'fullmatch_matches',
  columns: [
    int64('event_id', 'event.id'),
    timestamp('recorded_at', 'event.recorded_at'),
    string('kind', 'event.kind'),
    int64('chain_id', 'event.chain_id'),
    binary('address', 'event.address'),
    string('match', 'event.match_after'),
    string('runtime_match', `CASE WHEN event.match_after IS NOT NULL THEN event.runtime_match END`),
    string(
      'creation_match',
      `CASE WHEN event.match_after IS NOT NULL THEN event.creation_match END`,
    ),
    string('origin', 'event.origin'),
    string(
      'trust',
      'CASE WHEN event.match_after IS NOT NULL THEN trust_of_event(event.trust, event.origin) END',
    ),
    string('source', 'verified.source'),
    int64(
      'verified_contract_id',
      'CASE WHEN event.match_after IS NOT NULL THEN event.verified_contract_id END',
    ),
    string('reason', 'event.reason'),
    json(
      'claimed_creation_values',
      'CASE WHEN NOT verified.creation_match THEN verified.creation_values END',
    ),
    json('code_reading', 'verified.code_reading'),
  ],
  order: { at: 'recorded_at', key: 'event_id' },
  // The last event of an address tells that it is no longer verified.
  keys: `SELECT event.recorded_at AS at, event.id AS key FROM places
    CROSS JOIN LATERAL (
      SELECT id, recorded_at FROM match_events
      WHERE chain_id = places.chain_id AND address = places.address AND kind <> 'corrected' ORDER BY id DESC LIMIT 1
    ) AS event`,
  keyText: numberText,
  from: `JOIN match_events AS event ON event.id = wanted.key::bigint
    LEFT JOIN verified_contracts AS verified ON verified.id = event.verified_contract_id`,
  rowsPerFile: 1_000_000,
  rowsAtOnce: 2_000,
};

/**
 * The tables of https://github.com/sourcifyeth/parquet-export, version 2, with its names, types and column
 * order, sorted so that a database can load them in sequence; plus `fullmatch_matches`, whose newest row
 * gives the state of an address.
 */
export const FIELD_TABLES: readonly FieldTable[] = [
  CODE,
  SOURCES,
  COMPILED_CONTRACTS,
  CONTRACTS,
  COMPILED_CONTRACTS_SOURCES,
  CONTRACT_DEPLOYMENTS,
  VERIFIED_CONTRACTS,
  SOURCIFY_MATCHES,
  FULLMATCH_MATCHES,
];
