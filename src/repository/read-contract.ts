import { bytesToHex, hexToBytes, type Hex } from '../lib/hex.ts';
import { sql, type Queryable, type Statement } from '../store/database.ts';
import {
  type ContractMatch,
  MATCH_COLUMNS,
  type MatchRow,
  toContractMatch,
} from './contract-match.ts';
import {
  type Compilation,
  type Deployment,
  type Source,
  type Transformed,
} from './verified-contract.ts';
import { unprovenValuesOf, type UnprovenValues } from './unproven.ts';

const READ_MATCH = sql(
  'read match',
  `SELECT ${MATCH_COLUMNS} FROM current_matches WHERE chain_id = $1 AND address = $2`,
);
const READ_DEPLOYMENT = sql(
  'read deployment',
  `SELECT transaction_hash, block_number, transaction_index, deployer
   FROM verified_contracts JOIN contract_deployments ON contract_deployments.id = deployment_id
   WHERE verified_contracts.id = $1`,
);
const READ_COMPILATION = sql(
  'read compilation',
  `SELECT language, compiler, version, name, fully_qualified_name, compiler_settings
   FROM verified_contracts JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   WHERE verified_contracts.id = $1`,
);
const READ_ARTIFACTS = sql(
  'read artifacts',
  `SELECT compilation_artifacts
   FROM verified_contracts JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   WHERE verified_contracts.id = $1`,
);
const READ_METADATA = sql(
  'read metadata',
  `SELECT metadata
   FROM verified_contracts JOIN compiled_contracts ON compiled_contracts.id = compilation_id
   WHERE verified_contracts.id = $1`,
);
const READ_SOURCES = sql(
  'read sources',
  `SELECT path, content
   FROM verified_contracts
   JOIN compiled_contracts_sources USING (compilation_id)
   JOIN sources USING (source_hash)
   WHERE verified_contracts.id = $1 ORDER BY path COLLATE "C"`,
);

/** The statement for one of the two codes: on chain, recompiled, and what makes the one of the other. */
function codeStatement(side: 'creation' | 'runtime'): Statement {
  return sql(
    `read ${side} code`,
    `SELECT on_chain.code AS on_chain, recompiled.code AS recompiled,
       ${side}_code_artifacts AS artifacts, ${side}_transformations AS transformations, ${side}_values AS values,
       creation_match AS is_creation_matched
     FROM verified_contracts
     JOIN contract_deployments ON contract_deployments.id = deployment_id
     JOIN compiled_contracts ON compiled_contracts.id = compilation_id
     LEFT JOIN contracts ON contracts.id = contract_id
     LEFT JOIN code AS on_chain ON on_chain.code_hash = contracts.${side}_code_hash
     LEFT JOIN code AS recompiled ON recompiled.code_hash = compiled_contracts.${side}_code_hash
     WHERE verified_contracts.id = $1`,
  );
}
const READ_CREATION_CODE = codeStatement('creation');
const READ_RUNTIME_CODE = codeStatement('runtime');

/** A code of a contract as far as it is known, and the expected differences between its two forms. */
export interface StoredCode extends Partial<Transformed> {
  readonly onChain?: Uint8Array;
  readonly recompiled?: Uint8Array;
  /** sourceMap, linkReferences, cborAuxdata, immutableReferences: what the compiler said of the code. */
  readonly artifacts?: Readonly<Record<string, unknown>>;
  /** Of running code: see {@link unprovenValuesOf}. */
  readonly unprovenValues?: readonly UnprovenValues[];
}

/** The evidence of a contract, in the parts that a reader may ask for. */
export interface ContractParts {
  readonly deployment: Pick<
    Deployment,
    'transactionHash' | 'blockNumber' | 'transactionIndex' | 'deployer'
  >;
  readonly compilation: Pick<
    Compilation,
    'language' | 'compiler' | 'version' | 'name' | 'fullyQualifiedName' | 'settings'
  >;
  readonly artifacts: Compilation['artifacts'];
  /** The text of metadata.json; null where the contract has none. */
  readonly metadata: string | null;
  /** Each source, by path in code-unit order of UTF-8. */
  readonly sources: readonly Source[];
  readonly creationCode: StoredCode;
  readonly runtimeCode: StoredCode;
}

/** The name of a part of the evidence. */
export type ContractPart = keyof ContractParts;

/** A verified contract: its match, and those parts of its evidence that were asked for and are known. */
export interface StoredContract {
  readonly match: ContractMatch;
  readonly parts: Partial<ContractParts>;
}

const PART_READERS: {
  readonly [Part in ContractPart]: (
    database: Queryable,
    matchId: string,
  ) => Promise<ContractParts[Part] | undefined>;
} = {
  deployment: readDeployment,
  compilation: readCompilation,
  artifacts: async (database, matchId) => {
    type Row = { compilation_artifacts: Record<string, unknown> };
    return (await readRow<Row>(database, READ_ARTIFACTS, matchId))?.compilation_artifacts;
  },
  metadata: async (database, matchId) =>
    (await readRow<{ metadata: string | null }>(database, READ_METADATA, matchId))?.metadata,
  sources: (database, matchId) => database.query<Source>(READ_SOURCES, [matchId]),
  creationCode: (database, matchId) => readCode(database, READ_CREATION_CODE, matchId),
  runtimeCode: (database, matchId) => readCode(database, READ_RUNTIME_CODE, matchId),
};

/**
 * A verified contract with the parts that are asked for: without any, one row is read.
 * @returns undefined when the address (lower-case hex) has no match on the chain
 * @throws FullmatchError `database_unreachable`, `database_error`
 */
export async function readContract(
  database: Queryable,
  chainId: number,
  address: Hex,
  parts: readonly ContractPart[] = [],
): Promise<StoredContract | undefined> {
  const [row] = await database.query<MatchRow>(READ_MATCH, [chainId, hexToBytes(address)]);
  if (row === undefined) return undefined;
  const match = toContractMatch(row);
  const { matchId } = match;
  if (matchId === undefined) return { match, parts: {} };
  const read = await Promise.all(
    parts.map(async (part) => [part, await PART_READERS[part](database, matchId)] as const),
  );
  return { match, parts: Object.fromEntries(read.filter(([, value]) => value !== undefined)) };
}

async function readRow<Row extends object>(
  database: Queryable,
  statement: Statement,
  matchId: string,
): Promise<Row | undefined> {
  const [row] = await database.query<Row>(statement, [matchId]);
  return row;
}

async function readDeployment(
  database: Queryable,
  matchId: string,
): Promise<ContractParts['deployment'] | undefined> {
  const row = await readRow<{
    transaction_hash: Buffer | null;
    block_number: string | null;
    transaction_index: string | null;
    deployer: Buffer | null;
  }>(database, READ_DEPLOYMENT, matchId);
  if (row === undefined) return undefined;
  return {
    ...(row.transaction_hash !== null && { transactionHash: bytesToHex(row.transaction_hash) }),
    ...(row.block_number !== null && { blockNumber: Number(row.block_number) }),
    ...(row.transaction_index !== null && { transactionIndex: Number(row.transaction_index) }),
    ...(row.deployer !== null && { deployer: bytesToHex(row.deployer) }),
  };
}

async function readCompilation(
  database: Queryable,
  matchId: string,
): Promise<ContractParts['compilation'] | undefined> {
  const row = await readRow<{
    language: string;
    compiler: string;
    version: string;
    name: string;
    fully_qualified_name: string;
    compiler_settings: Record<string, unknown>;
  }>(database, READ_COMPILATION, matchId);
  if (row === undefined) return undefined;
  const { language, compiler, version, name } = row;
  return {
    language,
    compiler,
    version,
    name,
    fullyQualifiedName: row.fully_qualified_name,
    settings: row.compiler_settings,
  };
}

async function readCode(
  database: Queryable,
  statement: Statement,
  matchId: string,
): Promise<StoredCode | undefined> {
  const row = await readRow<{
    on_chain: Buffer | null;
    recompiled: Buffer | null;
    artifacts: Record<string, unknown> | null;
    transformations: Record<string, unknown>[] | null;
    values: Record<string, unknown> | null;
    is_creation_matched: boolean;
  }>(database, statement, matchId);
  if (row === undefined) return undefined;
  return {
    ...(row.on_chain !== null && { onChain: row.on_chain }),
    ...(row.recompiled !== null && { recompiled: row.recompiled }),
    ...(row.artifacts !== null && { artifacts: row.artifacts }),
    ...(row.transformations !== null && { transformations: row.transformations }),
    ...(row.values !== null && {
      values: row.values,
      unprovenValues: unprovenValuesOf(row.values, row.is_creation_matched),
    }),
  };
}
