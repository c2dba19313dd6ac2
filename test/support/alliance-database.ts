import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Client } from 'pg';
import { type Hex, hexToBytes } from '../../src/lib/hex.ts';
import { keccak256 } from '../../src/lib/keccak.ts';
import { Secret } from '../../src/lib/secret.ts';
import { connectClient, targetOfUrl } from '../../src/store/connection-target.ts';
import { compileInChild } from './compile-in-child.ts';
import { createEmptyDatabase } from './test-database.ts';

const PATH = 'contracts/Vault @1.sol';
export const CONTENT = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
contract Vault { uint256 public immutable limit; constructor(uint256 most) { limit = most; } }
`;
export const TRANSACTION: Hex = `0x${'7e'.repeat(32)}`;
export const WORD = `0x${'2a'.padStart(64, '0')}`;

interface Compiled {
  readonly metadata: string;
  readonly abi: unknown;
  readonly recompiled: Buffer;
  readonly creation: Buffer;
  readonly references: Record<string, readonly { start: number; length: number }[]>;
}

/** A row of verified_contracts with its related rows; by default a full match. */
export interface AllianceRow {
  readonly address: Hex;
  readonly chainId?: number;
  readonly runtime?: 'perfect' | 'partial' | null;
  readonly creation?: 'perfect' | 'partial' | null;
  /** Changes the on-chain bytecode. */
  readonly change?: (onChain: Buffer) => Buffer;
  readonly transformations?: unknown;
  readonly isCodeUnknown?: boolean;
  readonly blockNumber?: number;
  readonly metadata?: string;
}

/**
 * A database with the tables of the Verifier Alliance and Sourcify that contains a compiled contract with an
 * immutable.
 */
export interface AllianceDatabase {
  readonly url: string;
  readonly client: Client;
  /** The compiler's metadata of the contract. */
  readonly metadata: string;
  /** The compiler's creation bytecode of the contract, without constructor arguments. */
  readonly creationCode: Buffer;
  /** Adds a bytecode, and returns its hash. */
  addCode(code: Buffer): Promise<Buffer>;
  addRow(row: AllianceRow): Promise<void>;
  drop(): Promise<void>;
}

let compiling: Promise<Compiled> | undefined;

async function compile(): Promise<Compiled> {
  const settings = { outputSelection: { '*': { '*': ['*'] } } };
  const input = { language: 'Solidity', sources: { [PATH]: { content: CONTENT } }, settings };
  const [output] = await compileInChild<{ contracts: Record<string, Record<string, never>> }>(
    '0.8.37',
    [input],
  );
  const { metadata, abi, evm } = output!.contracts[PATH]!['Vault'] as unknown as {
    metadata: string;
    abi: unknown;
    evm: {
      bytecode: { object: string };
      deployedBytecode: { object: string; immutableReferences: Compiled['references'] };
    };
  };
  const { object, immutableReferences: references } = evm.deployedBytecode;
  const creation = Buffer.from(evm.bytecode.object, 'hex');
  return { metadata, abi, recompiled: Buffer.from(object, 'hex'), creation, references };
}

/** Creates such a database on the test server. */
export async function createAllianceDatabase(): Promise<AllianceDatabase> {
  const compiled = await (compiling ??= compile());
  const peer = await createEmptyDatabase();
  const client = await connectClient(targetOfUrl(new Secret(peer.url), 'fullmatch test'));
  await client.query(await readFile(new URL('alliance-schema.sql', import.meta.url), 'utf8'));
  const insert = inserterOf(client);
  await addCompilation(insert, compiled);
  return {
    url: peer.url,
    client,
    metadata: compiled.metadata,
    creationCode: compiled.creation,
    addCode: (code) => addCode(insert, code),
    addRow: (row) => addRow(client, insert, compiled, row),
    async drop() {
      await client.end();
      await peer.drop();
    },
  };
}

const COMPILATION = randomUUID();
const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
type Insert = (table: string, row: Readonly<Record<string, unknown>>) => Promise<unknown>;
const inserterOf =
  (client: Client): Insert =>
  (table, row) => {
    const columns = Object.keys(row);
    const places = columns.map((_, index) => `$${index + 1}`);
    return client.query(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')}) ON CONFLICT DO NOTHING`,
      Object.values(row),
    );
  };
async function addCode(insert: Insert, code: Buffer | null): Promise<Buffer> {
  const hash = code === null ? Buffer.alloc(0) : sha256(code);
  const keccak = code === null ? Buffer.alloc(0) : Buffer.from(keccak256(code));
  await insert('code', { code_hash: hash, code_hash_keccak: keccak, code });
  return hash;
}

async function addCompilation(insert: Insert, compiled: Compiled): Promise<void> {
  const { recompiled, abi, references } = compiled;
  const hash = await addCode(insert, recompiled);
  const { settings } = JSON.parse(compiled.metadata) as { settings: Record<string, unknown> };
  const rest = { ...settings, compilationTarget: undefined };
  await insert('compiled_contracts', {
    id: COMPILATION,
    ...{
      compiler: 'solc',
      version: (JSON.parse(compiled.metadata) as { compiler: { version: string } }).compiler
        .version,
    },
    ...{ language: 'Solidity', name: 'Vault', fully_qualified_name: `${PATH}:Vault` },
    compiler_settings: JSON.stringify(rest),
    compilation_artifacts: JSON.stringify({ abi, sources: { [PATH]: { id: 0 } } }),
    ...{ creation_code_hash: hash, runtime_code_hash: hash, creation_code_artifacts: '{}' },
    runtime_code_artifacts: JSON.stringify({ sourceMap: '', immutableReferences: references }),
  });
  const bytes = Buffer.from(CONTENT);
  await insert('sources', {
    ...{
      source_hash: sha256(bytes),
      source_hash_keccak: Buffer.from(keccak256(bytes)),
      content: CONTENT,
    },
  });
  await insert('compiled_contracts_sources', {
    ...{ compilation_id: COMPILATION, source_hash: sha256(bytes), path: PATH },
  });
}

async function addRow(
  client: Client,
  insert: Insert,
  compiled: Compiled,
  row: AllianceRow,
): Promise<void> {
  const {
    chainId = 1,
    runtime = 'perfect',
    creation = null,
    change = (code: Buffer): Buffer => code,
  } = row;
  const places = Object.entries(compiled.references).flatMap(([id, references]) =>
    references.map(({ start }) => ({ id, start })),
  );
  const onChain = Buffer.from(compiled.recompiled);
  for (const { start } of places) Buffer.from(WORD.slice(2), 'hex').copy(onChain, start);
  const [id = ''] = Object.keys(compiled.references);
  const transformations =
    row.transformations ??
    places.map(({ start }) => ({ type: 'replace', reason: 'immutable', offset: start, id }));
  const [contract, deployment] = [randomUUID(), randomUUID()];
  const hash = await addCode(insert, row.isCodeUnknown === true ? null : change(onChain));
  await insert('contracts', { id: contract, runtime_code_hash: hash });
  await insert('contract_deployments', {
    ...{
      id: deployment,
      chain_id: chainId,
      address: hexToBytes(row.address),
      contract_id: contract,
    },
    ...{
      transaction_hash: hexToBytes(TRANSACTION),
      block_number: row.blockNumber ?? 5,
      transaction_index: 0,
    },
  });
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO verified_contracts (deployment_id, compilation_id, creation_match, creation_values,
       creation_transformations, creation_metadata_match, runtime_match, runtime_values, runtime_transformations,
       runtime_metadata_match) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id`,
    [
      ...[deployment, COMPILATION, creation !== null],
      ...[JSON.stringify({ constructorArguments: WORD }), '[]', creation === 'perfect'],
      ...[runtime !== null, JSON.stringify({ immutables: { [id]: WORD } })],
      ...[JSON.stringify(transformations), runtime === 'perfect'],
    ],
  );
  await insert('sourcify_matches', {
    verified_contract_id: rows[0]?.id,
    ...{
      creation_match: creation,
      runtime_match: runtime,
      metadata: row.metadata ?? compiled.metadata,
    },
  });
}
