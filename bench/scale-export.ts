// A Parquet export in the common format with any number of contracts: evidence without source rows.
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type BasicType, type ColumnSource } from 'hyparquet-writer';
import { parquetWriteFile } from 'hyparquet-writer';
import { hashMetadata } from '../src/bytecode/metadata-hash.ts';
import { keccak256 } from '../src/lib/keccak.ts';

/** Shares of chains, and of full matches on each, in a repository of 45 million contracts in August 2026. */
const CHAINS: readonly (readonly [chainId: number, share: number, full: number])[] = [
  ...([
    [8453, 0.173, 0.33],
    [1, 0.172, 0.11],
    [369, 0.143, 0.04],
    [137, 0.134, 0.23],
  ] as const),
  ...([
    [56, 0.069, 0.19],
    [10, 0.064, 0.11],
    [84532, 0.043, 0.76],
    [11155111, 0.035, 0.65],
  ] as const),
  ...([
    [5042002, 0.028, 0.26],
    [42161, 0.026, 0.49],
    [97, 0.023, 0.46],
    [11155420, 0.02, 0.96],
  ] as const),
  ...([
    [7777777, 0.012, 0.34],
    [421614, 0.007, 0.64],
  ] as const),
];
/** The rest is spread over this many other chains, each a thirtieth smaller than the previous one. */
const OTHERS = 360;
const OTHER_DECAY = 29 / 30;
const OTHER_FULL = 0.75;
const FIRST_OTHER = 900_000;
/** Contracts per compilation; one in {@link OWN_CODE} has its own bytecode, through an immutable. */
const CLONES = 20;
const OWN_CODE = 5;
const CODE_BYTES = 2_000;
const IMMUTABLE_AT = 1_000;
const ROWS_OF_A_FILE = 50_000;
const TIME = new Date('2026-08-22T00:00:00Z');

const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const uuidOf = (text: string): string => {
  const hex = sha256(text).toString('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
};

/** The chain of a contract, and whether its match is full. */
export function placeOf(number: number): { readonly chainId: number; readonly isFull: boolean } {
  const bytes = sha256(`place ${number}`);
  const isBelow = (share: number): boolean => bytes.readUInt32BE(4) / 2 ** 32 < share;
  let left = bytes.readUInt32BE(0) / 2 ** 32;
  for (const [chainId, share, full] of CHAINS) {
    if (left < share) return { chainId, isFull: isBelow(full) };
    left -= share;
  }
  const rank = Math.floor(Math.log(1 - Math.min(0.999_9, left / 0.051)) / Math.log(OTHER_DECAY));
  return { chainId: FIRST_OTHER + Math.min(OTHERS - 1, rank), isFull: isBelow(OTHER_FULL) };
}

/** The address of a contract by its number. */
export const scaleAddress = (number: number): Buffer => sha256(`address ${number}`).subarray(0, 20);
/** The name of the compilation of a contract. */
export const scaleName = (number: number): string => `Scale${Math.floor(number / CLONES)}Token`;

interface MadeCompilation {
  readonly id: string;
  readonly name: string;
  readonly metadata: string;
  readonly code: Buffer;
}

function makeCompilation(index: number): MadeCompilation {
  const name = `Scale${index}Token`;
  const content = `// SPDX-License-Identifier: MIT\ncontract ${name} { uint256 public immutable limit; }\n`;
  const file = `contracts/${name}.sol`;
  const metadata = JSON.stringify({
    compiler: { version: '0.8.30+commit.73712a01' },
    language: 'Solidity',
    output: {
      abi: [],
      devdoc: { kind: 'dev', methods: {}, version: 1 },
      userdoc: { kind: 'user', methods: {}, version: 1 },
    },
    settings: {
      compilationTarget: { [file]: name },
      evmVersion: 'prague',
      libraries: {},
      metadata: { bytecodeHash: 'ipfs', useLiteralContent: true },
      optimizer: { enabled: true, runs: 200 },
      remappings: [],
    },
    sources: {
      [file]: {
        content,
        keccak256: `0x${Buffer.from(keccak256(Buffer.from(content))).toString('hex')}`,
        license: 'MIT',
      },
    },
    version: 1,
  });
  // Incompressible, like most real bytecode.
  const body = Buffer.concat(
    Array.from({ length: Math.ceil(CODE_BYTES / 32) }, (_, part) => sha256(`${name} ${part}`)),
  ).subarray(0, CODE_BYTES);
  body.fill(0, IMMUTABLE_AT, IMMUTABLE_AT + 32);
  const auxdata = Buffer.concat([
    Buffer.from('a264697066735822', 'hex'),
    Buffer.from('1220', 'hex'),
    Buffer.from(hashMetadata('ipfs', metadata)),
    Buffer.from('64736f6c634300081e0033', 'hex'),
  ]);
  return { id: uuidOf(name), name, metadata, code: Buffer.concat([body, auxdata]) };
}

type Row = Readonly<Record<string, unknown>>;
type Table = Readonly<Record<string, BasicType>>;
const TABLES: Readonly<Record<string, Table>> = {
  code: { code_hash: 'BYTE_ARRAY', code: 'BYTE_ARRAY', code_hash_keccak: 'BYTE_ARRAY' },
  sources: { source_hash: 'BYTE_ARRAY', content: 'STRING' },
  compiled_contracts: {
    ...{ id: 'STRING', compiler: 'STRING', version: 'STRING', language: 'STRING', name: 'STRING' },
    ...{
      fully_qualified_name: 'STRING',
      compiler_settings: 'STRING',
      compilation_artifacts: 'STRING',
    },
    ...{ creation_code_hash: 'BYTE_ARRAY', creation_code_artifacts: 'STRING' },
    ...{
      runtime_code_hash: 'BYTE_ARRAY',
      runtime_code_artifacts: 'STRING',
      additional_input: 'STRING',
    },
  },
  contracts: { id: 'STRING', creation_code_hash: 'BYTE_ARRAY', runtime_code_hash: 'BYTE_ARRAY' },
  compiled_contracts_sources: {
    compilation_id: 'STRING',
    source_hash: 'BYTE_ARRAY',
    path: 'STRING',
  },
  contract_deployments: {
    ...{ id: 'STRING', chain_id: 'INT64', address: 'BYTE_ARRAY', transaction_hash: 'BYTE_ARRAY' },
    ...{
      block_number: 'INT64',
      transaction_index: 'INT64',
      deployer: 'BYTE_ARRAY',
      contract_id: 'STRING',
    },
  },
  verified_contracts: {
    ...{ id: 'INT64', deployment_id: 'STRING', compilation_id: 'STRING' },
    ...{ creation_match: 'BOOLEAN', creation_values: 'STRING', creation_transformations: 'STRING' },
    ...{ runtime_match: 'BOOLEAN', runtime_values: 'STRING', runtime_transformations: 'STRING' },
    ...{ runtime_metadata_match: 'BOOLEAN', creation_metadata_match: 'BOOLEAN' },
  },
  sourcify_matches: {
    ...{ verified_contract_id: 'INT64', creation_match: 'STRING', runtime_match: 'STRING' },
    ...{ metadata: 'STRING', updated_at: 'TIMESTAMP' },
  },
};

/** The rows of a table, written in files of a fixed number of rows. */
class TableFiles {
  readonly #folder: string;
  readonly #name: string;
  #rows: Row[] = [];
  #written = 0;

  constructor(folder: string, name: string) {
    this.#folder = path.join(folder, name);
    this.#name = name;
  }

  add(row: Row): void {
    this.#rows.push(row);
    if (this.#rows.length >= ROWS_OF_A_FILE) this.#write();
  }

  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
  }

  /** Writes the remaining rows; a table without rows gets a file without rows. */
  close(): void {
    if (this.#rows.length > 0 || this.#written === 0) this.#write();
  }

  #write(): void {
    const rows = this.#rows;
    this.#rows = [];
    const filename = path.join(
      this.#folder,
      `${this.#name}_${this.#written}_${this.#written + ROWS_OF_A_FILE}.parquet`,
    );
    this.#written += ROWS_OF_A_FILE;
    const columnData: ColumnSource[] = Object.entries(TABLES[this.#name] ?? {}).map(
      ([name, type]) => ({
        ...{ name, type, nullable: true },
        data: rows.map((row) => row[name] ?? null),
      }),
    );
    parquetWriteFile({ filename, columnData, codec: 'SNAPPY' });
  }
}

/** Writes the export of `contracts` contracts, the same in every run. */
export async function writeScaleExport(folder: string, contracts: number): Promise<void> {
  const files = new Map(Object.keys(TABLES).map((name) => [name, new TableFiles(folder, name)]));
  for (const file of files.values()) await file.open();
  const add = (table: string, row: Row): void => files.get(table)?.add(row);
  const addCode = (code: Buffer): Buffer => {
    const hash = sha256(code);
    // Unused here.
    add('code', { code_hash: hash, code, code_hash_keccak: hash });
    return hash;
  };
  let compilation = makeCompilation(0);
  let sharedHash: Buffer = Buffer.alloc(0);
  for (let number = 0; number < contracts; number += 1) {
    if (number % CLONES === 0) {
      compilation = makeCompilation(number / CLONES);
      sharedHash = addCode(compilation.code);
      add('contracts', {
        id: uuidOf(`pair ${compilation.name}`),
        runtime_code_hash: sharedHash,
        creation_code_hash: Buffer.alloc(0),
      });
      add('compiled_contracts', {
        ...{ id: compilation.id, compiler: 'solc', version: '0.8.30+commit.73712a01' },
        ...{ language: 'Solidity', name: compilation.name },
        fully_qualified_name: `contracts/${compilation.name}.sol:${compilation.name}`,
        compiler_settings: '{"optimizer": {"enabled": true, "runs": 200}}',
        compilation_artifacts: '{"abi": [], "sources": null}',
        ...{
          creation_code_hash: Buffer.alloc(0),
          creation_code_artifacts: '{"sourceMap": "", "linkReferences": {}}',
        },
        runtime_code_hash: sharedHash,
        runtime_code_artifacts: `{"sourceMap": "", "linkReferences": {}, "immutableReferences": {"3": [{"start": ${IMMUTABLE_AT}, "length": 32}]}}`,
        additional_input: 'null',
      });
    }
    const isOwn = number % OWN_CODE === 1;
    const word = sha256(`immutable ${number}`);
    let contractId = uuidOf(`pair ${compilation.name}`);
    if (isOwn) {
      const code = Buffer.from(compilation.code);
      word.copy(code, IMMUTABLE_AT);
      contractId = uuidOf(`pair ${number}`);
      add('contracts', {
        id: contractId,
        runtime_code_hash: addCode(code),
        creation_code_hash: Buffer.alloc(0),
      });
    }
    const { chainId, isFull } = placeOf(number);
    const deploymentId = uuidOf(`deployment ${number}`);
    add('contract_deployments', {
      ...{ id: deploymentId, chain_id: BigInt(chainId), address: scaleAddress(number) },
      ...{ transaction_hash: sha256(`transaction ${number}`), block_number: BigInt(number) },
      ...{ transaction_index: 0n, deployer: scaleAddress(-1), contract_id: contractId },
    });
    add('verified_contracts', {
      ...{ id: BigInt(number + 1), deployment_id: deploymentId, compilation_id: compilation.id },
      ...{ creation_match: false, creation_values: 'null', creation_transformations: 'null' },
      ...{ runtime_match: true, runtime_metadata_match: isFull, creation_metadata_match: false },
      runtime_values: isOwn ? `{"immutables": {"3": "0x${word.toString('hex')}"}}` : '{}',
      runtime_transformations: isOwn
        ? `[{"id": "3", "type": "replace", "offset": ${IMMUTABLE_AT}, "reason": "immutable"}]`
        : '[]',
    });
    add('sourcify_matches', {
      ...{ verified_contract_id: BigInt(number + 1), creation_match: null },
      ...{
        runtime_match: isFull ? 'perfect' : 'partial',
        metadata: compilation.metadata,
        updated_at: TIME,
      },
    });
  }
  for (const file of files.values()) file.close();
}
