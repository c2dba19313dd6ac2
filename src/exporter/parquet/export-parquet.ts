// Exports the field's tables as Parquet into a folder that later exports continue.
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FullmatchError, messageOf } from '../../errors.ts';
import { readFeedPosition } from '../../repository/repository.ts';
import { type Queryable, sql } from '../../store/database.ts';
import { readFeedMark, requireSameFeed } from '../feed-mark.ts';
import { FIELD_TABLES } from '../tables/field-tables.ts';
import { unusableTarget } from '../unusable-target.ts';
import {
  MANIFEST,
  type ManifestFile,
  type ParquetManifest,
  PROGRESS,
  readManifest,
} from './manifest.ts';
import { RowSum } from './parquet-file.ts';
import { isIntact, PARTIAL, type TableResult, writeTable } from './table-files.ts';
import { makeFolder } from '../../lib/writable-folder.ts';

/** Progress of an export. */
export interface ParquetProgress {
  readonly table: string;
  readonly rows: number;
}

/** Counts of an export. */
export interface ParquetSummary {
  readonly feedPosition: string;
  /** Feed position the export continued from; absent for a full export. */
  readonly since?: string;
  readonly chainId: number | null;
  /** Rows written by this export, and rows in total, for each table. */
  readonly tables: Readonly<Record<string, { readonly written: number; readonly rows: number }>>;
  readonly files: number;
  /** Matches without stored evidence: the field's tables have no row for them. */
  readonly left: number;
}

/** Scope and destination of a Parquet export. */
export interface ParquetOptions {
  /** Connection inside a transaction with one snapshot. */
  readonly reader: Queryable;
  readonly folder: string;
  readonly chainId?: number;
  /** Rewrites everything. */
  readonly isWhole: boolean;
  /** Rows in a full file; overrides the table's default. */
  readonly rowsPerFile?: number;
  readonly version: string;
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ParquetProgress) => void;
}

const TABLES_FOLDER = 'v2';
const COUNT_LEFT = sql(
  'export: count matches without evidence',
  `SELECT count(*)::int AS "left" FROM current_matches
   WHERE verified_contract_id IS NULL AND ($1::bigint IS NULL OR chain_id = $1::bigint)`,
);
const COUNT_WITHDRAWN = sql(
  'export: count withdrawn contracts',
  `SELECT count(*)::int AS withdrawn FROM (
     SELECT DISTINCT chain_id, address FROM feed JOIN match_events ON match_events.id = event_id
     WHERE position > $1::bigint AND address IS NOT NULL AND ($2::bigint IS NULL OR chain_id = $2::bigint)
   ) AS changed WHERE NOT EXISTS (
     SELECT FROM current_matches WHERE chain_id = changed.chain_id AND address = changed.address)`,
);

/**
 * Writes the field's tables (`v2/<table>/<table>_<first>_<end>.parquet`) and `manifest.json` from one
 * snapshot. In a folder with an earlier export only rows that changed since then, according to the feed, are
 * added: full files never change, the last file of a table grows, and the manifest that lists them is written
 * last. An interrupted export is continued by the next one.
 * @throws FullmatchError `export_path_unusable`, `export_of_another_database`, `database_unreachable`,
 * `database_error`; the signal's reason
 */
export async function exportParquet(options: ParquetOptions): Promise<ParquetSummary> {
  const { reader, folder, chainId = null } = options;
  const before = await openFolder(options);
  const feedPosition = await readFeedPosition(reader);
  const feedMark = await readFeedMark(reader, feedPosition);
  // Files of an earlier export, of any table, may list contracts as verified that were withdrawn since.
  const hasWithdrawn = before.manifest !== undefined || before.progress !== undefined;
  const closed = (before.progress ?? before.manifest)?.files.filter((file) => file.closed) ?? [];
  const head = {
    ...{ format: 'fullmatch-parquet' as const, schema: 'v2' as const, version: options.version },
    ...{ generatedAt: options.now.toISOString(), chainId, feedPosition, feedMark },
  };
  const noteClosed = async (file: ManifestFile): Promise<void> => {
    closed.push(file);
    await writeDocument(folder, PROGRESS, { ...head, files: closed, tables: {}, withdrawn: 0 });
  };
  await writeDocument(folder, PROGRESS, { ...head, files: closed, tables: {}, withdrawn: 0 });
  const results = new Map<string, TableResult>();
  const since = before.manifest && {
    feedPosition: before.manifest.feedPosition,
    at: new Date(before.manifest.generatedAt),
  };
  for (const each of FIELD_TABLES) {
    const { rowsPerFile = each.rowsPerFile } = options;
    const table = { ...each, rowsPerFile };
    const own = ({ path }: ManifestFile): boolean => path.split('/')[1] === table.name;
    const listed = before.manifest?.files.filter(own) ?? [];
    const old = listed.find((file) => !file.closed);
    const full = closed.filter(own);
    // If the last file was changed, or filled by an interrupted export, the missing rows are unknown, so all
    // rows are compared.
    const isLeft =
      since !== undefined &&
      full.length === listed.filter((file) => file.closed).length &&
      (old === undefined || (await isIntact(folder, old)));
    const scope = {
      ...(chainId !== null && { chainId }),
      ...(isLeft ? { since } : { hasWithdrawn }),
    };
    let rows = 0;
    const result = await writeTable({
      ...{ reader, folder, table, scope, signal: options.signal, onClosed: noteClosed },
      ...{ closed: full, tail: isLeft ? old : undefined },
      onRows: (more) => options.onProgress({ table: table.name, rows: (rows += more) }),
    });
    results.set(table.name, result);
  }
  const manifest = await describe(options, head, before.manifest, closed, results);
  await finish(folder, manifest, [...results.values()]);
  const [counted] = await reader.query<{ left: number }>(COUNT_LEFT, [chainId]);
  return {
    ...{ feedPosition, chainId, files: manifest.files.length, left: counted?.left ?? 0 },
    ...(since !== undefined && { since: since.feedPosition }),
    tables: Object.fromEntries(
      FIELD_TABLES.map(({ name }) => [
        name,
        { written: results.get(name)?.written ?? 0, rows: manifest.tables[name]?.rows ?? 0 },
      ]),
    ),
  };
}

interface Before {
  readonly manifest?: ParquetManifest;
  readonly progress?: ParquetManifest;
}

/**
 * Reads the state of the folder.
 * @throws FullmatchError `export_path_unusable`, `export_of_another_database`
 */
async function openFolder(options: ParquetOptions): Promise<Before> {
  const { folder, isWhole, reader, chainId = null } = options;
  try {
    await makeFolder(folder);
    const manifest = await readManifest(folder);
    const progress = await readManifest(folder, PROGRESS);
    if (manifest === undefined && progress === undefined) {
      if ((await readdir(folder)).length > 0) {
        throw new Error('the folder has other content; use an empty one');
      }
      return {};
    }
    if (isWhole) {
      // Removed first: without a manifest nothing in the folder is read.
      await rm(join(folder, MANIFEST), { force: true });
      await rm(join(folder, TABLES_FOLDER), { recursive: true, force: true });
      return {};
    }
    for (const each of [manifest, progress]) {
      if (each === undefined) continue;
      if (each.chainId !== chainId) throw new Error(`it holds ${nameOf(each.chainId)}`);
      await requireSameFeed(reader, each);
      const missing = await findMissing(folder, each.files);
      if (missing !== undefined) {
        throw new Error(`its file ${missing} is missing; rewrite everything with --whole`);
      }
    }
    return { ...(manifest && { manifest }), ...(progress && { progress }) };
  } catch (error) {
    if (error instanceof FullmatchError) throw error;
    throw unusableTarget(folder, messageOf(error), error);
  }
}

/** A full file that is missing or truncated. */
async function findMissing(
  folder: string,
  files: readonly ManifestFile[],
): Promise<string | undefined> {
  for (const { path, bytes, closed } of files) {
    if (closed && (await sizeOf(join(folder, path))) !== bytes) return path;
  }
  return undefined;
}

const sizeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ size }) => size,
    () => undefined,
  );

const nameOf = (chainId: number | null): string =>
  chainId === null ? 'all chains' : `chain ${chainId} alone`;

type Head = Omit<ParquetManifest, 'files' | 'tables' | 'withdrawn'>;

async function describe(
  { reader }: ParquetOptions,
  head: Head,
  before: ParquetManifest | undefined,
  closed: readonly ManifestFile[],
  results: ReadonlyMap<string, TableResult>,
): Promise<ParquetManifest> {
  const listed = FIELD_TABLES.map(({ name }) => {
    const own = closed.filter(({ path }) => path.split('/')[1] === name);
    const tail = results.get(name)?.tail;
    const files = tail === undefined ? own : [...own, tail];
    const sum = new RowSum();
    for (const { checksum } of files) sum.addSum(checksum);
    const rows = files.reduce((total, file) => total + file.rows, 0);
    const replaced = (before?.tables[name]?.replaced ?? 0) + (results.get(name)?.replaced ?? 0);
    return { name, files, facts: { rows, checksum: String(sum), replaced } };
  });
  let withdrawn = 0;
  if (before !== undefined) {
    const values = [before.feedPosition, head.chainId];
    const [counted] = await reader.query<{ withdrawn: number }>(COUNT_WITHDRAWN, values);
    withdrawn = before.withdrawn + (counted?.withdrawn ?? 0);
  }
  return {
    ...head,
    files: listed.flatMap(({ files }) => files),
    tables: Object.fromEntries(listed.map(({ name, facts }) => [name, facts])),
    withdrawn,
  };
}

/** Moves new files into place, then removes files that the manifest no longer lists. */
async function finish(
  folder: string,
  manifest: ParquetManifest,
  results: readonly TableResult[],
): Promise<void> {
  for (const { tail, isTailNew } of results) {
    if (tail === undefined || !isTailNew) continue;
    await rename(join(folder, `${tail.path}${PARTIAL}`), join(folder, tail.path));
  }
  await writeDocument(folder, MANIFEST, manifest);
  await rm(join(folder, PROGRESS), { force: true });
  const kept = new Set(manifest.files.map(({ path }) => path));
  for (const { name } of FIELD_TABLES) {
    for (const file of await readdir(join(folder, TABLES_FOLDER, name))) {
      const path = `${TABLES_FOLDER}/${name}/${file}`;
      if (!kept.has(path)) await rm(join(folder, path), { force: true });
    }
  }
}

async function writeDocument(
  folder: string,
  name: string,
  document: ParquetManifest,
): Promise<void> {
  const file = join(folder, name);
  await writeFile(`${file}${PARTIAL}`, `${JSON.stringify(document, null, 2)}\n`, { flush: true });
  await rename(`${file}${PARTIAL}`, file);
}
