import { keccak256WithPauses } from '../../lib/paused-keccak.ts';
import { EventLoopYielder } from '../../lib/event-loop-yielder.ts';
import { sql, type Queryable } from '../../store/database.ts';
import {
  type CodePair,
  codePairId,
  compilationId,
  sha256,
  sourceHash,
} from '../matches/verified-contract-identity.ts';
import {
  type Compilation,
  type Source,
  type VerifiedContract,
} from '../matches/verified-contract.ts';
import { carriedStatement, type CarriedStatement, runWithItems } from './carried-statement.ts';
import {
  CODES,
  COMPILATION_SOURCES,
  COMPILATIONS,
  CONTRACTS,
  type CompiledSource,
  type Deployed,
  DEPLOYMENTS,
  type HashedContent,
  SOURCES,
} from './evidence-rows.ts';

export type { Deployed } from './evidence-rows.ts';

const FIND_COMPILATIONS = sql(
  'find stored compilations',
  'SELECT id FROM compiled_contracts WHERE id = ANY ($1::uuid[])',
);
const INSERT_SOURCES = carriedStatement(
  'insert sources',
  SOURCES,
  ['source_hash', 'source_hash_keccak', 'content'],
  (rows) => `INSERT INTO sources (source_hash, source_hash_keccak, content)
   SELECT * FROM ${rows} ORDER BY source_hash
   ON CONFLICT DO NOTHING`,
);
const INSERT_CODE = carriedStatement(
  'insert code',
  CODES,
  ['code_hash', 'code_hash_keccak', 'code'],
  (rows) => `INSERT INTO code (code_hash, code_hash_keccak, code)
   SELECT * FROM ${rows} ORDER BY code_hash
   ON CONFLICT DO NOTHING`,
);
const INSERT_CONTRACTS = carriedStatement(
  'insert contracts',
  DEPLOYMENTS,
  [
    ...['contract_id', 'creation_code_hash', 'runtime_code_hash'],
    ...['claimed_contract_id', 'claimed_creation_code_hash', 'claimed_runtime_code_hash'],
  ],
  (rows) => `INSERT INTO contracts (id, creation_code_hash, runtime_code_hash)
   SELECT DISTINCT pair.* FROM ${rows} CROSS JOIN LATERAL (VALUES
     (contract_id, creation_code_hash, runtime_code_hash),
     (claimed_contract_id, claimed_creation_code_hash, claimed_runtime_code_hash)
   ) AS pair (id, creation, runtime)
   WHERE pair.id IS NOT NULL ORDER BY pair.id
   ON CONFLICT DO NOTHING`,
  (contract) => pairsOf(contract).some((pair) => codePairId(pair) !== undefined),
);
const INSERT_DEPLOYMENTS = carriedStatement(
  'insert deployments',
  DEPLOYMENTS,
  [
    ...['deployment_id', 'chain_id', 'address', 'transaction_hash', 'block_number'],
    ...['transaction_index', 'deployer', 'contract_id', 'claimed_contract_id'],
    ...['claimed_block_number', 'claimed_transaction_index', 'claimed_deployer'],
  ],
  (rows) => `INSERT INTO contract_deployments
     (id, chain_id, address, transaction_hash, block_number, transaction_index, deployer, contract_id,
      claimed_contract_id, claimed_block_number, claimed_transaction_index, claimed_deployer)
   SELECT * FROM ${rows} ORDER BY deployment_id
   ON CONFLICT DO NOTHING`,
);
const INSERT_COMPILATIONS = carriedStatement(
  'insert compilations',
  COMPILATIONS,
  [
    ...['id', 'compiler', 'version', 'language', 'name', 'fully_qualified_name'],
    ...['compiler_settings', 'compilation_artifacts', 'creation_code_hash'],
    ...['creation_code_artifacts', 'runtime_code_hash', 'runtime_code_artifacts'],
    ...['metadata', 'metadata_hash', 'additional_input', 'are_codes_claimed'],
  ],
  (rows) => `INSERT INTO compiled_contracts
     (id, compiler, version, language, name, fully_qualified_name, compiler_settings, compilation_artifacts,
      creation_code_hash, creation_code_artifacts, runtime_code_hash, runtime_code_artifacts, metadata, metadata_hash,
      additional_input, are_codes_claimed)
   SELECT * FROM ${rows} ORDER BY id
   ON CONFLICT DO NOTHING RETURNING id`,
);
const INSERT_COMPILATION_SOURCES = carriedStatement(
  'insert compilation sources',
  COMPILATION_SOURCES,
  ['compilation_id', 'path', 'source_hash'],
  (rows) => `INSERT INTO compiled_contracts_sources (compilation_id, path, source_hash)
   SELECT * FROM ${rows} ORDER BY compilation_id, path COLLATE "C"`,
);
// Also for a compilation stored by a version that did not keep them.
const INSERT_IMMUTABLE_TYPES = carriedStatement(
  'insert immutable types',
  COMPILATIONS,
  ['id', 'immutable_types'],
  (rows) => `INSERT INTO immutable_types (compilation_id, types)
   SELECT * FROM ${rows} WHERE immutable_types IS NOT NULL ORDER BY id
   ON CONFLICT DO NOTHING`,
  ({ immutableTypes }) => immutableTypes !== undefined,
);
const INSERT_VERIFIED_CONTRACTS = carriedStatement(
  'insert verified contracts',
  CONTRACTS,
  [
    ...['deployment_id', 'compilation_id', 'creation_matches', 'creation_metadata_match'],
    ...['creation_values', 'creation_transformations', 'runtime_matches', 'runtime_metadata_match'],
    ...['runtime_values', 'runtime_transformations', 'code_reading', 'creation_search'],
    ...['source', 'matcher_version'],
  ],
  (rows) => `INSERT INTO verified_contracts (deployment_id, compilation_id,
     creation_match, creation_metadata_match, creation_values, creation_transformations,
     runtime_match, runtime_metadata_match, runtime_values, runtime_transformations, code_reading, creation_search,
     source, matcher_version)
   SELECT * FROM ${rows}
   ORDER BY compilation_id, deployment_id
   ON CONFLICT (compilation_id, deployment_id) DO UPDATE SET
     creation_match = excluded.creation_match, creation_metadata_match = excluded.creation_metadata_match,
     creation_values = excluded.creation_values, creation_transformations = excluded.creation_transformations,
     runtime_match = excluded.runtime_match, runtime_metadata_match = excluded.runtime_metadata_match,
     runtime_values = excluded.runtime_values, runtime_transformations = excluded.runtime_transformations,
     code_reading = coalesce(excluded.code_reading, verified_contracts.code_reading),
     creation_search = coalesce(excluded.creation_search, verified_contracts.creation_search),
     source = excluded.source, matcher_version = excluded.matcher_version, updated_at = now()
   RETURNING id, deployment_id, compilation_id`,
);

function pairsOf({ deployment }: Deployed): readonly CodePair[] {
  return deployment.claimed === undefined ? [deployment] : [deployment, deployment.claimed];
}

/** Large texts are hashed on the serving thread. */
async function hashContent(
  content: Uint8Array | string,
  pauses: EventLoopYielder,
  hash: Buffer = sha256(content),
): Promise<HashedContent> {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  return {
    sha256: hash,
    keccak256: Buffer.from(await keccak256WithPauses(bytes, pauses)),
    content,
  };
}

/** The ids of these compilations that are stored. */
export async function findStoredCompilations(
  database: Queryable,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const stored = await database.query<{ id: string }>(FIND_COMPILATIONS, [ids]);
  return new Set(stored.map(({ id }) => id));
}

const distinctCompilations = (
  contracts: readonly VerifiedContract[],
): ReadonlyMap<string, Compilation> =>
  new Map(contracts.map(({ compilation }) => [compilationId(compilation), compilation]));

/**
 * Each distinct source once, for compilations that are not stored: keccak256 is eighty times slower than
 * sha256, and a clone of a stored contract should cost nothing.
 */
async function sourcesOf(
  transaction: Queryable,
  contracts: readonly VerifiedContract[],
): Promise<HashedContent[]> {
  const compilations = distinctCompilations(contracts);
  const known = await findStoredCompilations(transaction, [...compilations.keys()]);
  const contents = new Map<string, readonly [Buffer, string]>();
  for (const [id, { sources }] of compilations) {
    if (known.has(id)) continue;
    for (const source of sources) {
      const hash = sourceHash(source);
      contents.set(hash.toString('hex'), [hash, source.content]);
    }
  }
  const hashed: HashedContent[] = [];
  const pauses = new EventLoopYielder();
  for (const [hash, content] of contents.values())
    hashed.push(await hashContent(content, pauses, hash));
  return hashed;
}

async function hashCodes(
  codes: readonly (Uint8Array | null | undefined)[],
): Promise<HashedContent[]> {
  const distinct = new Map<string, Uint8Array>();
  for (const code of codes) if (code) distinct.set(sha256(code).toString('hex'), code);
  const hashed: HashedContent[] = [];
  const pauses = new EventLoopYielder();
  for (const code of distinct.values()) hashed.push(await hashContent(Buffer.from(code), pauses));
  return hashed;
}

/** A source as a row of its compilation. */
export const compiledSource = (id: string, source: Source): CompiledSource => ({
  compilationId: id,
  path: source.path,
  sha256: sourceHash(source),
});

/** The known bytecodes of a deployment, including claimed ones. */
export const codesOf = (contract: Deployed): readonly Uint8Array[] =>
  pairsOf(contract).flatMap(({ creationCode, runtimeCode }) =>
    [creationCode, runtimeCode].flatMap((code) => code ?? []),
  );

/** Rows of the stored contracts, by contract number. */
export interface EvidenceRows {
  /** Runs a statement over the rows of a relation that belong to these keys. */
  run<Row extends object, Item>(
    statement: CarriedStatement<Item>,
    keys: readonly number[] | readonly string[],
  ): Promise<Row[]>;
}

/** Rows passed with each statement; a contract's number is its index. */
export class PassedRows implements EvidenceRows {
  readonly #transaction: Queryable;
  readonly #contracts: readonly VerifiedContract[];

  constructor(transaction: Queryable, contracts: readonly VerifiedContract[]) {
    this.#transaction = transaction;
    this.#contracts = contracts;
  }

  async run<Row extends object, Item>(
    statement: CarriedStatement<Item>,
    keys: readonly number[] | readonly string[],
  ): Promise<Row[]> {
    const items = (await this.#itemsOf(statement.relation.name, keys)) as readonly Item[];
    return runWithItems<Row, Item>(this.#transaction, statement, items);
  }

  async #itemsOf(
    relation: string,
    keys: readonly number[] | readonly string[],
  ): Promise<readonly unknown[]> {
    if (relation === COMPILATION_SOURCES.name)
      return this.#sourcesOfCompilations(new Set<unknown>(keys));
    const contracts = keys.flatMap((number) => this.#contracts[Number(number)] ?? []);
    if (relation === SOURCES.name) return sourcesOf(this.#transaction, contracts);
    if (relation === COMPILATIONS.name) return [...distinctCompilations(contracts).values()];
    if (relation !== CODES.name) return contracts;
    const compiled = contracts.flatMap(({ compilation }) => [
      compilation.creationCode,
      compilation.runtimeCode,
    ]);
    return hashCodes([...contracts.flatMap(codesOf), ...compiled]);
  }

  #sourcesOfCompilations(ids: ReadonlySet<unknown>): readonly unknown[] {
    return [...distinctCompilations(this.#contracts)].flatMap(([id, { sources }]) =>
      ids.has(id) ? sources.map((source) => compiledSource(id, source)) : [],
    );
  }
}

/**
 * Stores the evidence of matches: sources, bytecode, deployments, compilations and verdicts, each once.
 * Tables are written in a fixed order and rows in key order, so that concurrent writers never deadlock.
 * @returns the id of each contract's row in verified_contracts, by its deployment and compilation: {@link
 * evidenceKey}
 */
export async function storeEvidence(
  rows: EvidenceRows,
  numbers: readonly number[],
): Promise<ReadonlyMap<string, string>> {
  await rows.run(INSERT_SOURCES, numbers);
  await rows.run(INSERT_CODE, numbers);
  await rows.run(INSERT_CONTRACTS, numbers);
  await rows.run(INSERT_DEPLOYMENTS, numbers);
  await storeCompilations(rows, numbers);
  const stored = await rows.run<
    { id: string; deployment_id: string; compilation_id: string },
    VerifiedContract
  >(INSERT_VERIFIED_CONTRACTS, numbers);
  return new Map(
    stored.map((row) => [evidenceKey(row.deployment_id, row.compilation_id), row.id] as const),
  );
}

/** Key that distinguishes the evidence of a contract. */
export const evidenceKey = (deploymentId: string, compilationId: string): string =>
  `${deploymentId} ${compilationId}`;

/** Stores deployments and their bytecode. */
export async function storeDeployments(
  transaction: Queryable,
  contracts: readonly Deployed[],
): Promise<void> {
  await runWithItems(transaction, INSERT_CODE, await hashCodes(contracts.flatMap(codesOf)));
  await runWithItems(transaction, INSERT_CONTRACTS, contracts);
  await runWithItems(transaction, INSERT_DEPLOYMENTS, contracts);
}

/**
 * Sources join a compilation in the transaction that stores it and never later: a compilation does not
 * change. A writer that finds it stored, or waits for another that is storing it, adds nothing, since equal
 * ids imply equal sources.
 */
async function storeCompilations(rows: EvidenceRows, numbers: readonly number[]): Promise<void> {
  const stored = await rows.run<{ id: string }, Compilation>(INSERT_COMPILATIONS, numbers);
  await rows.run(INSERT_IMMUTABLE_TYPES, numbers);
  const ids = stored.map(({ id }) => id);
  if (ids.length > 0) await rows.run(INSERT_COMPILATION_SOURCES, ids);
}
