import { MATCHER_VERSION } from '../../bytecode/matcher-version.ts';
import { hexToBytes } from '../../lib/hex.ts';
import {
  codeHashOf,
  codePairId,
  compilationId,
  deploymentId,
  hashOf,
  textHash,
} from '../matches/verified-contract-identity.ts';
import {
  type Compilation,
  type Match,
  trustOf,
  type VerifiedContract,
} from '../matches/verified-contract.ts';
import { type Columns, type Relation } from './carried-statement.ts';

/** What is stored about a deployed contract. */
export type Deployed = Pick<VerifiedContract, 'chainId' | 'address' | 'deployment'>;

/** A bytecode or source with its hashes. */
export interface HashedContent {
  readonly sha256: Buffer;
  readonly keccak256: Uint8Array;
  readonly content: Uint8Array | string;
}

/** A source of a compilation. */
export interface CompiledSource {
  readonly compilationId: string;
  readonly path: string;
  readonly sha256: Buffer;
}

const json = (value: unknown): string | null =>
  value === undefined ? null : JSON.stringify(value);
const hexOrNull = (hex: string | undefined): Buffer | null =>
  hex === undefined ? null : hexToBytes(hex);
const isFull = (match: Match | null): boolean | null => (match === null ? null : match === 'full');

const DEPLOYED: Columns<Deployed> = {
  chain_id: ['bigint', ({ chainId }) => chainId],
  address: ['bytea', ({ address }) => hexToBytes(address)],
  deployment_id: ['uuid', (contract) => deploymentId(contract)],
  transaction_hash: ['bytea', ({ deployment }) => hexOrNull(deployment.transactionHash)],
  block_number: ['bigint', ({ deployment }) => deployment.blockNumber ?? null],
  transaction_index: ['bigint', ({ deployment }) => deployment.transactionIndex ?? null],
  deployer: ['bytea', ({ deployment }) => hexOrNull(deployment.deployer)],
  contract_id: ['uuid', ({ deployment }) => codePairId(deployment) ?? null],
  creation_code_hash: ['bytea', ({ deployment }) => hashOf(deployment.creationCode)],
  runtime_code_hash: ['bytea', ({ deployment }) => hashOf(deployment.runtimeCode)],
  claimed_contract_id: [
    'uuid',
    ({ deployment: { claimed } }) => (claimed && codePairId(claimed)) ?? null,
  ],
  claimed_block_number: ['bigint', ({ deployment }) => deployment.claimed?.blockNumber ?? null],
  claimed_transaction_index: [
    'bigint',
    ({ deployment }) => deployment.claimed?.transactionIndex ?? null,
  ],
  claimed_deployer: ['bytea', ({ deployment }) => hexOrNull(deployment.claimed?.deployer)],
  claimed_creation_code_hash: [
    'bytea',
    ({ deployment }) => codeHashOf(deployment.claimed?.creationCode),
  ],
  claimed_runtime_code_hash: [
    'bytea',
    ({ deployment }) => codeHashOf(deployment.claimed?.runtimeCode),
  ],
};
const VERDICT: Columns<VerifiedContract> = {
  runtime_match: ['match', ({ runtimeMatch }) => runtimeMatch],
  creation_match: ['match', ({ creationMatch }) => creationMatch],
  origin: ['match_origin', ({ origin }) => origin],
  trust: ['match_trust', (contract) => trustOf(contract)],
  text_hash: ['bytea', ({ compilation }) => textHash(compilation)],
  compilation_id: ['uuid', ({ compilation }) => compilationId(compilation)],
  creation_matches: ['boolean', ({ creationMatch }) => creationMatch !== null],
  creation_metadata_match: ['boolean', ({ creationMatch }) => isFull(creationMatch)],
  // Stored even without a match: an import knows constructor arguments, but does not compare creation
  // bytecode.
  creation_values: ['jsonb', ({ creation }) => json(creation?.values)],
  creation_transformations: ['jsonb', ({ creation }) => json(creation?.transformations)],
  runtime_matches: ['boolean', ({ runtimeMatch }) => runtimeMatch !== null],
  runtime_metadata_match: ['boolean', ({ runtimeMatch }) => isFull(runtimeMatch)],
  runtime_values: ['jsonb', ({ runtime }) => json(runtime?.values)],
  runtime_transformations: ['jsonb', ({ runtime }) => json(runtime?.transformations)],
  code_reading: ['jsonb', ({ codeReading }) => json(codeReading)],
  creation_search: ['jsonb', ({ creationSearch }) => json(creationSearch)],
  source: ['text', ({ source }) => source ?? null],
  matcher_version: [
    'integer',
    (contract) => (trustOf(contract) === 'claimed' ? null : MATCHER_VERSION),
  ],
};
const COMPILED: Columns<Compilation> = {
  id: ['uuid', (compilation) => compilationId(compilation)],
  compiler: ['text', ({ compiler }) => compiler],
  version: ['text', ({ version }) => version],
  language: ['text', ({ language }) => language],
  name: ['text', ({ name }) => name],
  fully_qualified_name: ['text', ({ fullyQualifiedName }) => fullyQualifiedName],
  compiler_settings: ['jsonb', ({ settings }) => json(settings)],
  compilation_artifacts: ['jsonb', ({ artifacts }) => json(artifacts)],
  creation_code_hash: ['bytea', ({ creationCode }) => hashOf(creationCode)],
  creation_code_artifacts: ['jsonb', (compilation) => json(compilation.creationCodeArtifacts)],
  runtime_code_hash: ['bytea', ({ runtimeCode }) => hashOf(runtimeCode)],
  runtime_code_artifacts: ['jsonb', (compilation) => json(compilation.runtimeCodeArtifacts)],
  metadata: ['text', ({ metadata }) => metadata ?? null],
  metadata_hash: ['bytea', ({ metadata }) => hashOf(metadata)],
  additional_input: ['jsonb', ({ additionalInput }) => json(additionalInput)],
  are_codes_claimed: ['boolean', ({ areCodesClaimed }) => areCodesClaimed === true],
  immutable_types: ['jsonb', ({ immutableTypes }) => json(immutableTypes)],
};

const OF_NUMBERS = 'number IN (SELECT unnest($1::integer[]))';
const STAGED = `(SELECT * FROM staged_contracts WHERE ${OF_NUMBERS})`;

export const DEPLOYMENTS: Relation<Deployed> = {
  ...{ name: 'contracts', columns: DEPLOYED, staged: OF_NUMBERS },
};
/** One row for each contract, with its deployment and verdict. */
export const CONTRACTS: Relation<VerifiedContract> = {
  ...{ name: 'contracts', columns: { ...DEPLOYED, ...VERDICT }, staged: OF_NUMBERS },
};
export const COMPILATIONS: Relation<Compilation> = {
  name: 'compilations',
  columns: COMPILED,
  staged: `id IN (SELECT compilation_id FROM ${STAGED} AS staged)`,
};
/** The keys of its staged rows are compilation ids. */
export const COMPILATION_SOURCES: Relation<CompiledSource> = {
  name: 'compilation_sources',
  columns: {
    compilation_id: ['uuid', (source) => source.compilationId],
    path: ['text', ({ path }) => path],
    source_hash: ['bytea', ({ sha256 }) => sha256],
  },
  staged: 'compilation_id IN (SELECT unnest($1::uuid[]))',
};
export const SOURCES: Relation<HashedContent> = {
  name: 'sources',
  columns: {
    source_hash: ['bytea', ({ sha256 }) => sha256],
    source_hash_keccak: ['bytea', ({ keccak256 }) => keccak256],
    content: ['text', ({ content }) => content],
  },
  staged: `source_hash IN (SELECT source_hash FROM staged_compilation_sources JOIN ${STAGED} AS staged USING (compilation_id))`,
};
export const CODES: Relation<HashedContent> = {
  name: 'codes',
  columns: {
    code_hash: ['bytea', ({ sha256 }) => sha256],
    code_hash_keccak: ['bytea', ({ keccak256 }) => keccak256],
    code: ['bytea', ({ content }) => content],
  },
  staged: `code_hash IN (
    SELECT unnest(ARRAY[runtime_code_hash, creation_code_hash, claimed_runtime_code_hash, claimed_creation_code_hash]) FROM ${STAGED} AS staged
    UNION ALL SELECT unnest(ARRAY[compiled.creation_code_hash, compiled.runtime_code_hash])
    FROM staged_compilations AS compiled JOIN ${STAGED} AS staged ON staged.compilation_id = compiled.id)`,
};
