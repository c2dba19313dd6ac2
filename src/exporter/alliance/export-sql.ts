// Exports the Verifier Alliance database as an SQL script for psql.
import { type Writable } from 'node:stream';
import { once } from 'node:events';
import { readFeedPosition } from '../../repository/repository.ts';
import { type Queryable } from '../../store/database.ts';
import { type FieldTable, string, uuid } from '../tables/field-table.ts';
import { FIELD_TABLES } from '../tables/field-tables.ts';
import { type ExportScope, readKeys, readRows } from '../tables/read-table.ts';
import { copyLine } from './copy-text.ts';
import {
  CONSTRAINTS,
  createTable,
  OWN_CONSTRAINTS,
  SOURCIFY_CONSTRAINTS,
  TRIGGERS,
} from './schema.ts';

/** Scope and destination of an SQL export. */
export interface SqlOptions {
  /** Connection inside a transaction with one snapshot. */
  readonly reader: Queryable;
  readonly out: Writable;
  readonly chainId?: number;
  /** Also writes Sourcify's matches, with the metadata of each. */
  readonly withSourcify: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly table: string; readonly rows: number }) => void;
}

/** Counts of an SQL export. */
export interface SqlSummary {
  readonly feedPosition: string;
  readonly chainId: number | null;
  readonly tables: Readonly<Record<string, number>>;
}

/** Metadata of each compilation, byte for byte; the Verifier Alliance schema does not store it. */
const FULLMATCH_COMPILATIONS: FieldTable = {
  name: 'fullmatch_compilations',
  columns: [uuid('compilation_id', 'compiled.id'), string('metadata', 'compiled.metadata')],
  order: { at: 'created_at', key: 'compilation_id' },
  keys: `SELECT created_at AS at, id AS key FROM compiled_contracts
    WHERE metadata IS NOT NULL AND id IN (SELECT compilation_id FROM scope)`,
  keyText: 'key::text',
  from: 'JOIN compiled_contracts AS compiled ON compiled.id = wanted.key::uuid',
  rowsPerFile: 100_000,
  rowsAtOnce: 200,
};
const COMPILATION_CONSTRAINTS = `
ALTER TABLE fullmatch_compilations ADD PRIMARY KEY (compilation_id),
  ADD FOREIGN KEY (compilation_id) REFERENCES compiled_contracts;
`;

const keysOf = (value: string, keys: readonly string[]): string =>
  `coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(${value}) WHERE key = ANY ('{${keys.join(',')}}')), '{}')`;
const CODE_KEYS = ['sourceMap', 'linkReferences', 'cborAuxdata'];
/** Expressions for columns that differ between the two schemas: required there but nullable here, or the reverse. */
const COMPLETED: Readonly<Record<string, string>> = {
  compilation_artifacts: `('{"abi": null, "sources": null}'::jsonb || ${keysOf('compilation_artifacts', ['abi', 'sources', 'userdoc', 'devdoc', 'storageLayout', 'transientStorageLayout'])})::text`,
  creation_code_artifacts: `('{"sourceMap": null, "linkReferences": {}}'::jsonb || ${keysOf('creation_code_artifacts', CODE_KEYS)})::text`,
  runtime_code_artifacts: `('{"sourceMap": null, "linkReferences": {}, "immutableReferences": {}}'::jsonb || ${keysOf('runtime_code_artifacts', [...CODE_KEYS, 'immutableReferences'])})::text`,
};

const completed = (table: FieldTable): FieldTable =>
  table.name === 'compiled_contracts'
    ? {
        ...table,
        columns: table.columns.map((column) => ({
          ...column,
          value: COMPLETED[column.name] ?? column.value,
        })),
      }
    : table;

/**
 * Writes an SQL script that creates the Verifier Alliance tables
 * (https://github.com/verifier-alliance/database-specs) in an empty database, fills them, and then adds the
 * constraints. Data that the schema has no column for goes into extra tables. Rows keep their timestamps.
 * @throws FullmatchError `database_unreachable`, `database_error`; the signal's reason, and errors of the
 * output stream
 */
export async function exportSql(options: SqlOptions): Promise<SqlSummary> {
  const { reader, chainId, withSourcify } = options;
  const tables = FIELD_TABLES.filter(({ name }) => withSourcify || name !== 'sourcify_matches').map(
    completed,
  );
  if (!withSourcify) tables.push(FULLMATCH_COMPILATIONS);
  const feedPosition = await readFeedPosition(reader);
  const write = writerOf(options.out);
  await write(
    `-- The tables of the Verifier Alliance, exported by Fullmatch. For an empty database: psql -v ON_ERROR_STOP=1 -f <file>\n`,
  );
  await write(
    `BEGIN;\nSET LOCAL client_encoding = 'UTF8';\nSET LOCAL standard_conforming_strings = on;\n`,
  );
  for (const table of tables) await write(createTable(table));
  const counts: Record<string, number> = {};
  for (const table of tables) counts[table.name] = await writeRows(options, table, write);
  await write(CONSTRAINTS);
  await write(withSourcify ? SOURCIFY_CONSTRAINTS : COMPILATION_CONSTRAINTS);
  await write(OWN_CONSTRAINTS);
  await write(TRIGGERS);
  await write('COMMIT;\n');
  return { feedPosition, chainId: chainId ?? null, tables: counts };
}

type Write = (text: string) => Promise<void>;

function writerOf(out: Writable): Write {
  return async (text) => {
    if (!out.write(text)) await once(out, 'drain');
  };
}

async function writeRows(
  { reader, chainId, signal, onProgress }: SqlOptions,
  table: FieldTable,
  write: Write,
): Promise<number> {
  const { name, columns, rowsAtOnce } = table;
  const scope: ExportScope = chainId === undefined ? {} : { chainId };
  let written = 0;
  await write(`\nCOPY ${name} (${columns.map((column) => column.name).join(', ')}) FROM stdin;\n`);
  for await (const keys of readKeys(reader, table, scope)) {
    for (let from = 0; from < keys.length; from += rowsAtOnce) {
      signal.throwIfAborted();
      const rows = await readRows(reader, table, keys.slice(from, from + rowsAtOnce));
      await write(rows.map(({ row }) => copyLine(columns, row)).join(''));
      written += rows.length;
      onProgress({ table: name, rows: written });
    }
  }
  await write('\\.\n');
  return written;
}
