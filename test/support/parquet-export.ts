import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { parquetWriteFile } from 'hyparquet-writer';
import { type Client } from 'pg';
import { compressZstd } from './tree-archives.ts';

type BasicType = 'BOOLEAN' | 'BYTE_ARRAY' | 'INT64' | 'STRING' | 'TIMESTAMP';

/** The tables that an import reads, with the columns of types other than STRING. */
const TABLES: Readonly<Record<string, Readonly<Record<string, BasicType | 'JSON'>>>> = {
  code: { code_hash: 'BYTE_ARRAY', code_hash_keccak: 'BYTE_ARRAY', code: 'BYTE_ARRAY' },
  contracts: { creation_code_hash: 'BYTE_ARRAY', runtime_code_hash: 'BYTE_ARRAY' },
  contract_deployments: {
    ...{ chain_id: 'INT64', block_number: 'INT64', transaction_index: 'INT64' },
    ...{ address: 'BYTE_ARRAY', transaction_hash: 'BYTE_ARRAY', deployer: 'BYTE_ARRAY' },
  },
  compiled_contracts: {
    ...{ compiler_settings: 'JSON', compilation_artifacts: 'JSON', additional_input: 'JSON' },
    ...{ creation_code_artifacts: 'JSON', runtime_code_artifacts: 'JSON' },
    ...{ creation_code_hash: 'BYTE_ARRAY', runtime_code_hash: 'BYTE_ARRAY' },
  },
  sources: { source_hash: 'BYTE_ARRAY', source_hash_keccak: 'BYTE_ARRAY' },
  compiled_contracts_sources: { source_hash: 'BYTE_ARRAY' },
  verified_contracts: {
    ...{ id: 'INT64', creation_match: 'BOOLEAN', creation_metadata_match: 'BOOLEAN' },
    ...{ runtime_match: 'BOOLEAN', runtime_metadata_match: 'BOOLEAN' },
    ...{ creation_values: 'JSON', creation_transformations: 'JSON' },
    ...{ runtime_values: 'JSON', runtime_transformations: 'JSON' },
  },
  sourcify_matches: {
    ...{ id: 'INT64', verified_contract_id: 'INT64', metadata: 'JSON', updated_at: 'TIMESTAMP' },
  },
};

/** JSON in the format of Python's `json.dumps`: spaced, with non-ASCII escaped, and null for missing values. */
function dumps(value: unknown): string {
  const text = Array.isArray(value)
    ? `[${value.map(dumps).join(', ')}]`
    : typeof value === 'object' && value !== null
      ? `{${Object.entries(value)
          .map(([key, each]) => `${dumps(key)}: ${dumps(each)}`)
          .join(', ')}}`
      : JSON.stringify(value ?? null);
  return text.replaceAll(
    /[\u0080-\uffff]/g,
    (letter) => String.raw`\u` + letter.charCodeAt(0).toString(16).padStart(4, '0'),
  );
}

const asInt = (value: unknown): bigint => BigInt(String(value));
const CONVERT: Readonly<Record<BasicType | 'JSON', (value: unknown) => unknown>> = {
  // NULL is written as false there.
  BOOLEAN: (value) => value === true,
  BYTE_ARRAY: (value) => value,
  INT64: asInt,
  STRING: String,
  TIMESTAMP: (value) => value,
  JSON: dumps,
};

/**
 * Writes a database with the tables of the Verifier Alliance as Sourcify exports it in Parquet, including the
 * losses.
 * @param suffix the range in the file names; a table with another suffix may already exist
 */
export async function writeParquet(
  client: Client,
  folder: string,
  { suffix = '0_1000', codec = 'ZSTD' }: { suffix?: string; codec?: 'SNAPPY' | 'ZSTD' } = {},
): Promise<void> {
  for (const [table, types] of Object.entries(TABLES)) {
    const extra = table === 'sourcify_matches' ? ', now()::timestamptz AS updated_at' : '';
    const { rows, fields } = await client.query<Record<string, unknown>>(
      `SELECT *${extra} FROM ${table}`,
    );
    const columnData = fields.map(({ name }) => {
      const type = types[name] ?? 'STRING';
      const data = rows.map((row) =>
        row[name] === null && type !== 'JSON' && type !== 'BOOLEAN'
          ? null
          : CONVERT[type](row[name]),
      );
      return { name, data, type: type === 'JSON' ? ('STRING' as const) : type, nullable: true };
    });
    await mkdir(path.join(folder, table), { recursive: true });
    parquetWriteFile({
      filename: path.join(folder, table, `${table}_${suffix}.parquet`),
      columnData,
      codec,
      compressors: { ZSTD: (bytes: Uint8Array) => compressZstd(Buffer.from(bytes)) },
    });
  }
}
