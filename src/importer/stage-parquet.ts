import { createHash } from 'node:crypto';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FullmatchError, messageOf } from '../errors.ts';
import { mapInOrder } from '../lib/map-in-order.ts';
import { packageFile } from '../lib/package-file.ts';
import { ThreadFault } from '../lib/task-thread.ts';
import { COPY_BEGIN, COPY_END } from '../store/copy-rows.ts';
import { type Session, sql } from '../store/database.ts';
import { SQLSTATE, sqlstateOf } from '../store/sqlstate.ts';
import { readParquetManifest } from './parquet-manifest.ts';
import {
  type ParquetReadResult,
  type ParquetReadRequest,
  type ParquetType,
} from './parquet-rows.ts';
import { openStaging, type Staging, TEMPORARY_STAGING } from './staging-schema.ts';
import { type SizedFile, StagingMeter, type StagingProgress } from './staging-progress.ts';
import { ThreadPool } from './thread-pool.ts';
import { unusableSource } from './unusable-source.ts';

interface StagedTable {
  readonly name: string;
  readonly columns: Readonly<Record<string, ParquetType>>;
  readonly key: readonly string[];
  /** A column of the key that is indexed by its hash, because it may be longer than an entry of a B-tree. */
  readonly hashed?: string;
  /** Columns that some writers omit. */
  readonly optional?: readonly string[];
  /** Of rows with an equal key, the newest by this column is kept; without it, the first. */
  readonly newest?: string;
  /** A further column to index. */
  readonly index?: string;
}

/** Columns that an import reads. */
const TABLES: readonly StagedTable[] = [
  { name: 'code', columns: { code_hash: 'bytea', code: 'bytea' }, key: ['code_hash'] },
  { name: 'sources', columns: { source_hash: 'bytea', content: 'text' }, key: ['source_hash'] },
  {
    name: 'compiled_contracts',
    columns: {
      ...{ id: 'uuid', compiler: 'text', version: 'text', language: 'text', name: 'text' },
      ...{ fully_qualified_name: 'text', compiler_settings: 'json', compilation_artifacts: 'json' },
      ...{ runtime_code_hash: 'bytea', runtime_code_artifacts: 'json' },
      ...{ creation_code_hash: 'bytea', creation_code_artifacts: 'json', additional_input: 'json' },
    },
    optional: ['additional_input'],
    key: ['id'],
  },
  {
    name: 'contracts',
    columns: { id: 'uuid', runtime_code_hash: 'bytea', creation_code_hash: 'bytea' },
    key: ['id'],
  },
  {
    name: 'compiled_contracts_sources',
    columns: { compilation_id: 'uuid', source_hash: 'bytea', path: 'text' },
    key: ['compilation_id', 'path'],
    hashed: 'path',
  },
  {
    name: 'contract_deployments',
    columns: {
      ...{ id: 'uuid', chain_id: 'bigint', address: 'bytea', transaction_hash: 'bytea' },
      ...{ block_number: 'bigint', transaction_index: 'bigint', deployer: 'bytea' },
      contract_id: 'uuid',
    },
    key: ['id'],
  },
  {
    name: 'verified_contracts',
    columns: {
      ...{ id: 'bigint', deployment_id: 'uuid', compilation_id: 'uuid', creation_values: 'json' },
      ...{ creation_match: 'boolean', creation_transformations: 'json' },
      ...{ runtime_match: 'boolean', runtime_values: 'json', runtime_transformations: 'json' },
      ...{ runtime_metadata_match: 'boolean', creation_metadata_match: 'boolean' },
    },
    key: ['id'],
  },
  {
    name: 'sourcify_matches',
    columns: {
      ...{ verified_contract_id: 'bigint', creation_match: 'text', runtime_match: 'text' },
      ...{ metadata: 'json', updated_at: 'timestamp' },
    },
    key: ['verified_contract_id'],
    newest: 'updated_at',
  },
  {
    name: 'fullmatch_matches',
    columns: {
      ...{
        event_id: 'bigint',
        chain_id: 'bigint',
        address: 'bytea',
        verified_contract_id: 'bigint',
      },
      ...{ runtime_match: 'text', creation_match: 'text', claimed_creation_values: 'json' },
    },
    key: ['chain_id', 'address'],
    newest: 'event_id',
    index: 'verified_contract_id',
  },
];
/** Tables of an export that an import reads. */
export const STAGED_TABLES: ReadonlySet<string> = new Set(TABLES.map(({ name }) => name));
/** Missing tables are treated as in a database without them; see walkAlliance. */
const OPTIONAL = new Set(['sourcify_matches', 'fullmatch_matches']);
/** JSON stays text and is parsed where it is used. */
const sqlTypeOf = (type: ParquetType): string => (type === 'json' ? 'text' : type);
const EXTENSION = '.parquet';
/** Requests for each thread, of which one waits. */
const QUESTIONS_OF_A_THREAD = 2;

interface CopyParts {
  readonly database: Session;
  readonly requireSpace: () => Promise<void>;
  readonly threads: ThreadPool<ParquetReadRequest, ParquetReadResult>;
  readonly signal: AbortSignal;
  /** Called with the rows copied, and the share of their file that they are. */
  readonly onRows: (file: SizedFile, rows: number, share: number) => void;
  /** Called at the end of a file, or for one that an earlier import read. */
  readonly onFile: (file: SizedFile, isSkipped: boolean) => void;
}

/** An export that is loaded into tables. */
export interface StagedExport {
  /** Whether Fullmatch wrote the export, which loses nothing. */
  readonly isOwn: boolean;
  /** Drops the tables, unless they end with the session. */
  drop(): Promise<void>;
}

/**
 * Finds the folder of a Parquet export, version 2 (https://github.com/sourcifyeth/parquet-export): the path
 * itself or its `v2`, with a folder for each table. Returns undefined if it is not one.
 */
export async function findParquet(path: string): Promise<string | undefined> {
  for (const folder of [path, join(path, 'v2')]) {
    const found = await stat(join(folder, 'verified_contracts')).catch(() => undefined);
    if (found?.isDirectory() === true) return folder;
  }
  return undefined;
}

/**
 * Loads a Parquet export into tables with the Verifier Alliance schema, which the session finds by their names.
 * A later import continues with the tables that are complete, unless `isTemporary`. What the writer of the
 * export loses stays lost: NULL in a JSON column is the text `null`, and JSON has other whitespace. Overlapping
 * files, as rewritten ones are, give each row once.
 * @throws FullmatchError `import_path_unusable` with the file if one cannot be read, and those of the
 * database
 */
export async function stageParquet(
  database: Session,
  folder: string,
  {
    signal,
    isTemporary,
    requireSpace,
    onProgress,
  }: {
    readonly signal: AbortSignal;
    readonly isTemporary: boolean;
    /** @throws FullmatchError `storage_full` if the embedded server's disk has too little space */
    readonly requireSpace: () => Promise<void>;
    readonly onProgress: (progress: StagingProgress) => void;
  },
): Promise<StagedExport> {
  const listed = await readParquetManifest(folder, signal);
  const tables: TableFiles[] = [];
  for (const table of TABLES) {
    const files =
      listed === undefined
        ? await listFiles(join(folder, table.name), table.name)
        : newestFirst(listed.get(table.name) ?? []);
    if (files.length > 0) tables.push(await describeFiles(table, files));
    else if (!OPTIONAL.has(table.name)) {
      throw unusableSource(join(folder, table.name), `it holds no ${table.name}_….parquet`);
    }
  }
  const progress = new StagingMeter(tables.flatMap(({ files }) => files));
  const threads = new ThreadPool<ParquetReadRequest, ParquetReadResult>(
    packageFile('dist/importer/read-parquet-thread.js'),
  );
  const staging = isTemporary
    ? TEMPORARY_STAGING
    : await openStaging(
        database,
        new Map(tables.map(({ table, fingerprint }) => [table.name, fingerprint])),
      );
  const parts: CopyParts = {
    ...{ database, threads, signal, requireSpace },
    onRows: (file, rows, share) => {
      onProgress(progress.addRows(file, rows, share));
    },
    onFile: (file, isSkipped) => {
      onProgress(progress.endFile(file, isSkipped));
    },
  };
  try {
    for (const each of tables)
      await stageTable(parts, staging, each, join(folder, each.table.name));
  } finally {
    await threads.close();
  }
  return { isOwn: listed !== undefined, drop: () => staging.drop() };
}

/** The files of a table, newest first. */
interface TableFiles {
  readonly table: StagedTable;
  readonly files: readonly SizedFile[];
  /** Differs if the columns, or the names, sizes or times of the files differ. */
  readonly fingerprint: string;
}

/** Reads the sizes of a table's files, and their fingerprint. */
async function describeFiles(table: StagedTable, paths: readonly string[]): Promise<TableFiles> {
  const facts = await Promise.all(
    paths.map(async (path) => {
      const { size, mtimeMs } = await stat(path);
      return [path, size, mtimeMs] as const;
    }),
  );
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([table, facts]))
    .digest('hex');
  return { table, files: facts.map(([path, bytes]) => ({ path, bytes })), fingerprint };
}

/** Creates and fills a table, unless an earlier import left it complete. */
async function stageTable(
  parts: CopyParts,
  staging: Staging,
  { table, files }: TableFiles,
  folder: string,
): Promise<void> {
  const { database } = parts;
  const { name, index } = table;
  if (staging.has(name)) {
    for (const file of files) parts.onFile(file, true);
    return;
  }
  // The service has tables of the same names.
  const place = `${staging.schema}.${name}`;
  const columns = Object.entries(table.columns).map(
    ([column, type]) => `${column} ${sqlTypeOf(type)}`,
  );
  await database.query(
    sql(`import: stage ${name}`, `CREATE ${staging.kind} TABLE ${place} (${columns.join(', ')})`),
  );
  try {
    await copyFiles(parts, table, files);
    await setKey(database, table, folder);
    if (index !== undefined) {
      await database.query(sql(`import: index ${name}`, `CREATE INDEX ON ${name} (${index})`));
    }
  } catch (error) {
    // An incomplete table is of no use to a later import. The first error is the cause.
    await database.query(sql(`import: drop ${name}`, `DROP TABLE ${place}`)).catch(() => undefined);
    throw error;
  }
  await database.query(sql(`import: analyze ${name}`, `ANALYZE ${name}`));
  await staging.complete(name);
}

/** Lists the files of a table in a folder without a manifest. */
async function listFiles(folder: string, table: string): Promise<readonly string[]> {
  const files: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      const isFile = entry.isFile() && entry.name.startsWith(`${table}_`);
      if (isFile && entry.name.endsWith(EXTENSION)) files.push(join(folder, entry.name));
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw unusableSource(folder, messageOf(error), error);
  }
  return newestFirst(files);
}

/** Files of a table, newest first: a rewritten row is newer there. */
function newestFirst(files: readonly string[]): readonly string[] {
  const startOf = (file: string): number =>
    Number(/_(\d+)_\d+\.parquet$/.exec(file)?.[1] ?? Infinity);
  return [...files].sort(
    (left, right) => startOf(right) - startOf(left) || (left < right ? -1 : 1),
  );
}

/** Copies the rows of files into a table, in file order. Threads read ahead. */
async function copyFiles(
  { database, threads, signal, requireSpace, onRows, onFile }: CopyParts,
  table: StagedTable,
  files: readonly SizedFile[],
): Promise<void> {
  const copy = sql(`import: copy ${table.name}`, `COPY ${table.name} FROM STDIN (FORMAT binary)`);
  const ask = (path: string, from: number): Promise<ParquetReadResult> => {
    const { columns, optional = [] } = table;
    return threads.ask({ path, columns, optional, from }).catch((error: unknown) => {
      if (!(error instanceof ThreadFault) || error.kind === 'closed') throw error;
      return { fault: `reading it ended a thread: ${error.kind}` };
    });
  };
  const questions = async function* (): AsyncGenerator<() => Promise<Chunk>, void, undefined> {
    for (const file of files) {
      const first = await ask(file.path, 0);
      yield () => Promise.resolve({ file, answer: first });
      if ('fault' in first) return;
      for (let from = first.rowsAtOnce; from < first.total; from += first.rowsAtOnce) {
        yield async () => ({ file, answer: await ask(file.path, from) });
      }
      yield () => Promise.resolve({ file });
    }
  };
  const chunks = mapInOrder(questions(), threads.count * QUESTIONS_OF_A_THREAD, (question) =>
    question(),
  );
  for await (const { file, answer } of chunks) {
    signal.throwIfAborted();
    if (answer === undefined) onFile(file, false);
    else if ('fault' in answer) throw unusableSource(file.path, answer.fault);
    else if (answer.count > 0) {
      await requireSpace();
      await database.copyIn(copy, [COPY_BEGIN, answer.bytes, COPY_END]);
      onRows(file, answer.count, answer.count / answer.total);
    }
  }
}

interface Chunk {
  readonly file: SizedFile;
  /** Absent at the end of the file. */
  readonly answer?: ParquetReadResult;
}

/** Adds the unique key of a table. Of rows with an equal key the newest is kept, or else the first copied. */
async function setKey(
  database: Session,
  { name, key, hashed, newest }: StagedTable,
  folder: string,
): Promise<void> {
  const indexed = key.map((column) => (column === hashed ? `hash_path(${column})` : column));
  const addKey = sql(
    `import: set key of ${name}`,
    `CREATE UNIQUE INDEX ON ${name} (${indexed.join(', ')})`,
  );
  const required = key.map((column) => `ALTER ${column} SET NOT NULL`);
  try {
    await database.query(
      sql(`import: require key of ${name}`, `ALTER TABLE ${name} ${required.join(', ')}`),
    );
    await database.query(addKey);
    return;
  } catch (error) {
    if (sqlstateOf(error) !== SQLSTATE.uniqueViolation) throw asUnusable(folder, error);
  }
  const order = newest === undefined ? 'ctid' : `${newest} DESC NULLS LAST, ctid`;
  await database.query(
    sql(
      `import: leave out repeated rows of ${name}`,
      `DELETE FROM ${name} USING (
         SELECT ctid AS place, row_number() OVER (PARTITION BY ${key.join(', ')} ORDER BY ${order}) AS number FROM ${name}
       ) AS ranked
       WHERE ${name}.ctid = ranked.place AND ranked.number > 1`,
    ),
  );
  await database.query(addKey).catch((error: unknown) => {
    throw asUnusable(folder, error);
  });
}

/** Attributes a database error caused by the rows, such as a missing key, to the export. */
function asUnusable(path: string, error: unknown): unknown {
  const isOfValues = error instanceof FullmatchError && error.code === 'database_error';
  return isOfValues ? unusableSource(path, messageOf(error), error) : error;
}
