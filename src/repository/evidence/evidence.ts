import { hexToBytes } from '../../lib/hex.ts';
import { keccak256InTurns } from '../../lib/steady-keccak.ts';
import { Turns } from '../../lib/turns.ts';
import { sql, type Queryable } from '../../store/database.ts';
import {
  codePairId,
  compilationId,
  deploymentId,
  hashOf,
  sha256,
} from '../matches/verified-contract-identity.ts';
import {
  type Compilation,
  type Match,
  type Transformed,
  type VerifiedContract,
} from '../matches/verified-contract.ts';

const FIND_COMPILATIONS = sql(
  'find stored compilations',
  'SELECT id FROM compiled_contracts WHERE id = ANY ($1::uuid[])',
);
const INSERT_SOURCES = sql(
  'insert sources',
  `INSERT INTO sources (source_hash, source_hash_keccak, content)
   SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::text[]) AS row (hash, keccak, content) ORDER BY hash
   ON CONFLICT DO NOTHING`,
);
const INSERT_CODE = sql(
  'insert code',
  `INSERT INTO code (code_hash, code_hash_keccak, code)
   SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) AS row (hash, keccak, code) ORDER BY hash
   ON CONFLICT DO NOTHING`,
);
const INSERT_CONTRACTS = sql(
  'insert contracts',
  `INSERT INTO contracts (id, creation_code_hash, runtime_code_hash)
   SELECT * FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS row (id, creation, runtime) ORDER BY id
   ON CONFLICT DO NOTHING`,
);
const INSERT_DEPLOYMENTS = sql(
  'insert deployments',
  `INSERT INTO contract_deployments
     (id, chain_id, address, transaction_hash, block_number, transaction_index, deployer, contract_id)
   SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bytea[], $4::bytea[], $5::numeric[], $6::numeric[], $7::bytea[], $8::uuid[])
     AS row (id, chain_id, address, transaction_hash, block_number, transaction_index, deployer, contract_id)
   ORDER BY id
   ON CONFLICT DO NOTHING`,
);
const INSERT_COMPILATIONS = sql(
  'insert compilations',
  `INSERT INTO compiled_contracts
     (id, compiler, version, language, name, fully_qualified_name, compiler_settings, compilation_artifacts,
      creation_code_hash, creation_code_artifacts, runtime_code_hash, runtime_code_artifacts, metadata, metadata_hash)
   SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::jsonb[],
     $9::bytea[], $10::jsonb[], $11::bytea[], $12::jsonb[], $13::text[], $14::bytea[])
     AS row (id, compiler, version, language, name, fully_qualified_name, settings, artifacts,
      creation, creation_artifacts, runtime, runtime_artifacts, metadata, metadata_hash)
   ORDER BY id
   ON CONFLICT DO NOTHING RETURNING id`,
);
const INSERT_COMPILATION_SOURCES = sql(
  'insert compilation sources',
  `INSERT INTO compiled_contracts_sources (compilation_id, path, source_hash)
   SELECT * FROM unnest($1::uuid[], $2::text[], $3::bytea[]) AS row (compilation_id, path, source_hash)
   ORDER BY compilation_id, path COLLATE "C"`,
);
// Also for a compilation of a version that did not keep them.
const INSERT_IMMUTABLE_TYPES = sql(
  'insert immutable types',
  `INSERT INTO immutable_types (compilation_id, types)
   SELECT * FROM unnest($1::uuid[], $2::jsonb[]) AS row (compilation_id, types) ORDER BY compilation_id
   ON CONFLICT DO NOTHING`,
);
const INSERT_VERIFIED_CONTRACTS = sql(
  'insert verified contracts',
  `INSERT INTO verified_contracts (deployment_id, compilation_id,
     creation_match, creation_metadata_match, creation_values, creation_transformations,
     runtime_match, runtime_metadata_match, runtime_values, runtime_transformations, code_reading, creation_search)
   SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::boolean[], $5::jsonb[], $6::jsonb[],
     $7::boolean[], $8::boolean[], $9::jsonb[], $10::jsonb[], $11::jsonb[], $12::jsonb[])
     AS row (deployment_id, compilation_id, c_match, c_metadata, c_values, c_transformations,
       r_match, r_metadata, r_values, r_transformations, code_reading, creation_search)
   ORDER BY compilation_id, deployment_id
   ON CONFLICT (compilation_id, deployment_id) DO UPDATE SET
     creation_match = excluded.creation_match, creation_metadata_match = excluded.creation_metadata_match,
     creation_values = excluded.creation_values, creation_transformations = excluded.creation_transformations,
     runtime_match = excluded.runtime_match, runtime_metadata_match = excluded.runtime_metadata_match,
     runtime_values = excluded.runtime_values, runtime_transformations = excluded.runtime_transformations,
     code_reading = coalesce(excluded.code_reading, verified_contracts.code_reading),
     creation_search = coalesce(excluded.creation_search, verified_contracts.creation_search),
     updated_at = now()
   RETURNING id, deployment_id, compilation_id`,
);

type Row = readonly unknown[];

/** Turns rows into the column arrays that `unnest` takes, one row for each distinct first column. */
function toColumns(rows: readonly Row[], width: number): unknown[][] {
  const distinct = [...new Map(rows.map((row) => [String(row[0]), row])).values()];
  return Array.from({ length: width }, (_, column) => distinct.map((row) => row[column]));
}

async function insertRows(
  transaction: Queryable,
  statement: typeof INSERT_SOURCES,
  rows: readonly Row[],
): Promise<void> {
  const width = rows[0]?.length;
  if (width !== undefined) await transaction.query(statement, toColumns(rows, width));
}

/** A hash as a row's first column: as hex, which tells rows apart as a string and which PostgreSQL reads as bytea. */
const byteaText = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString('hex')}`;
const json = (value: unknown): string | null =>
  value === undefined ? null : JSON.stringify(value);
const hexOrNull = (hex: string | undefined): Buffer | null =>
  hex === undefined ? null : hexToBytes(hex);

/** Whoever stores contracts shares these turns, since texts of megabytes are hashed on the thread that serves. */
const turns = new Turns();

const keccakOf = async (bytes: Uint8Array): Promise<Buffer> =>
  Buffer.from(await keccak256InTurns(bytes, turns));

/**
 * Each distinct source once, of compilations that are not stored: its keccak256 takes eighty times as long as its sha256,
 * and a clone of what is stored costs whoever asks for it nothing.
 */
async function sourceRows(
  transaction: Queryable,
  contracts: readonly VerifiedContract[],
): Promise<Row[]> {
  const ids = [...new Set(contracts.map(({ compilation }) => compilationId(compilation)))];
  const stored = await transaction.query<{ id: string }>(FIND_COMPILATIONS, [ids]);
  const known = new Set(stored.map(({ id }) => id));
  const contents = new Map<string, string>();
  for (const { compilation } of contracts) {
    if (known.has(compilationId(compilation))) continue;
    for (const { content } of compilation.sources)
      contents.set(byteaText(sha256(content)), content);
  }
  const rows: Row[] = [];
  for (const [hash, content] of contents) {
    rows.push([hash, await keccakOf(Buffer.from(content, 'utf8')), content]);
  }
  return rows;
}

/** What the store keeps of a contract on chain. */
export type Deployed = Pick<VerifiedContract, 'chainId' | 'address' | 'deployment'>;

async function codeRows(codes: readonly (Uint8Array | undefined)[]): Promise<Row[]> {
  const distinct = new Map<string, Uint8Array>();
  for (const code of codes) if (code !== undefined) distinct.set(byteaText(sha256(code)), code);
  const rows: Row[] = [];
  for (const [hash, code] of distinct) rows.push([hash, await keccakOf(code), Buffer.from(code)]);
  return rows;
}

function deploymentRow(contract: Deployed): Row {
  const { chainId, address, deployment } = contract;
  return [
    deploymentId(contract),
    chainId,
    hexToBytes(address),
    hexOrNull(deployment.transactionHash),
    deployment.blockNumber ?? null,
    deployment.transactionIndex ?? null,
    hexOrNull(deployment.deployer),
    codePairId(deployment) ?? null,
  ];
}

function compilationRow([id, compilation]: readonly [string, Compilation]): Row {
  return [
    id,
    compilation.compiler,
    compilation.version,
    compilation.language,
    compilation.name,
    compilation.fullyQualifiedName,
    json(compilation.settings),
    json(compilation.artifacts),
    hashOf(compilation.creationCode),
    json(compilation.creationCodeArtifacts),
    hashOf(compilation.runtimeCode),
    json(compilation.runtimeCodeArtifacts),
    compilation.metadata ?? null,
    hashOf(compilation.metadata),
  ];
}

function judgementColumns(match: Match | null, transformed: Transformed | undefined): Row {
  return [
    match !== null,
    match === null ? null : match === 'full',
    // Kept without a match too: an import knows constructor arguments, and judges no creation code.
    json(transformed?.values),
    json(transformed?.transformations),
  ];
}

/**
 * Stores what shows that the contracts match: sources, codes, deployments, compilations and verdicts, each once.
 * Tables are written in one order and rows in key order, so that concurrent writers wait for each other but never in a circle.
 * @returns the id of each contract's row in verified_contracts, in the order of `contracts`.
 */
export async function storeEvidence(
  transaction: Queryable,
  contracts: readonly VerifiedContract[],
): Promise<string[]> {
  await insertRows(transaction, INSERT_SOURCES, await sourceRows(transaction, contracts));
  const compiled = contracts.flatMap(({ compilation }) => [
    compilation.creationCode,
    compilation.runtimeCode,
  ]);
  await storeDeployments(transaction, contracts, compiled);
  await storeCompilations(transaction, contracts);
  return storeVerdicts(transaction, contracts);
}

/** Stores deployments and their codes, and `more` codes with them, since codes are written in one order. */
export async function storeDeployments(
  transaction: Queryable,
  contracts: readonly Deployed[],
  more: readonly (Uint8Array | undefined)[] = [],
): Promise<void> {
  const codes = contracts.flatMap(({ deployment }) => [
    deployment.creationCode,
    deployment.runtimeCode,
  ]);
  await insertRows(transaction, INSERT_CODE, await codeRows([...codes, ...more]));
  await insertRows(
    transaction,
    INSERT_CONTRACTS,
    contracts.flatMap(({ deployment }) => {
      const id = codePairId(deployment);
      return id === undefined
        ? []
        : [[id, hashOf(deployment.creationCode), hashOf(deployment.runtimeCode)]];
    }),
  );
  await insertRows(transaction, INSERT_DEPLOYMENTS, contracts.map(deploymentRow));
}

/**
 * Sources join a compilation in the transaction that stores it and never later: a compilation does not change. A writer
 * who finds it stored, or waits for another who is storing it, adds nothing, since the same id says the same sources.
 */
async function storeCompilations(
  transaction: Queryable,
  contracts: readonly VerifiedContract[],
): Promise<void> {
  const compilations = new Map(
    contracts.map(({ compilation }) => [compilationId(compilation), compilation]),
  );
  const stored = await transaction.query<{ id: string }>(
    INSERT_COMPILATIONS,
    toColumns([...compilations].map(compilationRow), 14),
  );
  await insertRows(
    transaction,
    INSERT_IMMUTABLE_TYPES,
    [...compilations].flatMap(([id, { immutableTypes }]) =>
      immutableTypes === undefined ? [] : [[id, json(immutableTypes)]],
    ),
  );
  const rows = stored.flatMap(({ id }) =>
    (compilations.get(id)?.sources ?? []).map(({ path, content }) => [id, path, sha256(content)]),
  );
  if (rows.length === 0) return;
  const columns = [0, 1, 2].map((column) => rows.map((row) => row[column]));
  await transaction.query(INSERT_COMPILATION_SOURCES, columns);
}

async function storeVerdicts(
  transaction: Queryable,
  contracts: readonly VerifiedContract[],
): Promise<string[]> {
  const rows = contracts.map((contract) => [
    deploymentId(contract),
    compilationId(contract.compilation),
    ...judgementColumns(contract.creationMatch, contract.creation),
    ...judgementColumns(contract.runtimeMatch, contract.runtime),
    json(contract.codeReading),
    json(contract.creationSearch),
  ]);
  const stored = await transaction.query<{
    id: string;
    deployment_id: string;
    compilation_id: string;
  }>(INSERT_VERIFIED_CONTRACTS, toColumns(rows, 12));
  const ids = new Map(stored.map((row) => [`${row.deployment_id} ${row.compilation_id}`, row.id]));
  return rows.map((row) => {
    const id = ids.get(`${String(row[0])} ${String(row[1])}`);
    if (id === undefined) throw new Error('a verdict was not stored');
    return id;
  });
}
