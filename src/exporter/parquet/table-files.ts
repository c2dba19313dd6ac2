import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { hashFile } from '../../lib/file-hash.ts';
import { type Queryable } from '../../store/database.ts';
import { type FieldTable } from '../tables/field-table.ts';
import { type ExportScope, readKeys, readRows, type RowKey } from '../tables/read-table.ts';
import { idOf, KeyWindow, placeOf } from './key-window.ts';
import { type ManifestFile } from './manifest.ts';
import { ParquetFile, type WrittenFile } from './parquet-file.ts';
import { readKeysOfFile } from './read-keys-of-file.ts';

/** Suffix of unfinished files, which are never read. */
export const PARTIAL = '.partial';

/** How to continue a table in a folder. */
export interface TableRun {
  readonly reader: Queryable;
  readonly folder: string;
  readonly table: FieldTable;
  /** Existing files of the table. */
  readonly closed: readonly ManifestFile[];
  readonly tail: ManifestFile | undefined;
  readonly scope: ExportScope;
  readonly signal: AbortSignal;
  readonly onRows: (rows: number) => void;
  /** Called when a file is full and closed for good. */
  readonly onClosed: (file: ManifestFile) => Promise<void>;
}

/** Result of writing a table. */
export interface TableResult {
  /** The last file of the table. If it was written now, it still has the suffix {@link PARTIAL}. */
  readonly tail: ManifestFile | undefined;
  readonly isTailNew: boolean;
  readonly written: number;
  readonly replaced: number;
}

const fileName = ({ name }: FieldTable, start: number, end: number): string =>
  `v2/${name}/${name}_${start}_${end}.parquet`;

/**
 * Appends the rows that are missing from a table's files: first to its last file until that is full, then to
 * new files. A row that changed since it was written is written again. The last file grows by being
 * rewritten.
 */
export async function writeTable(run: TableRun): Promise<TableResult> {
  const { folder, table, tail } = run;
  await mkdir(join(folder, 'v2', table.name), { recursive: true });
  const known = new KnownRows(run);
  const added = known.without(readKeys(run.reader, table, run.scope));
  const first = await added.next();
  if (first.done === true && (tail !== undefined || run.closed.length > 0)) {
    return { tail, isTailNew: false, written: 0, replaced: 0 };
  }
  const files = new TableFiles(run);
  try {
    const old: RowKey[] = [];
    if (tail !== undefined) {
      for await (const keys of readKeysOfFile(join(folder, tail.path), table)) old.push(...keys);
    }
    const wanted = mergeKeys(old, first.done === true ? [] : first.value, added);
    for await (const { key, row } of rowsOf(run, wanted)) await files.add(key, row);
    const { added: written, replaced } = known;
    return { ...(await files.end()), isTailNew: true, written, replaced };
  } catch (error) {
    await files.giveUp();
    throw error;
  }
}

/** Returns whether a file matches its entry in the manifest. */
export async function isIntact(folder: string, { path, sha256 }: ManifestFile): Promise<boolean> {
  const found = await hashFile(join(folder, path), 'sha256').catch(() => undefined);
  return found === sha256;
}

/** Yields the rows that the table's files already contain. */
class KnownRows {
  added = 0;
  /** Rows of closed files that changed since. */
  replaced = 0;
  readonly #run: TableRun;
  /** Windows on the files that go on after the last page, by path. */
  readonly #windows = new Map<string, KeyWindow>();

  constructor(run: TableRun) {
    this.#run = run;
  }

  async *without(
    pages: AsyncIterable<readonly RowKey[]>,
  ): AsyncGenerator<readonly RowKey[], void, undefined> {
    for await (const page of pages) {
      this.#run.signal.throwIfAborted();
      const left = await this.#withoutKnown(page);
      this.added += left.length;
      if (left.length > 0) yield left;
    }
  }

  async #withoutKnown(page: readonly RowKey[]): Promise<readonly RowKey[]> {
    const [first, last] = [page[0], page.at(-1)];
    if (first === undefined || last === undefined) return [];
    const [from, to] = [placeOf(first), placeOf(last)];
    const { closed, tail } = this.#run;
    const near = [...closed, ...(tail === undefined ? [] : [tail])].filter(
      ({ minKey, maxKey }) =>
        minKey !== null && maxKey !== null && minKey.join(' ') <= to && maxKey.join(' ') >= from,
    );
    const found = new Map<string, { readonly versions: string[]; isInTail: boolean }>(
      page.map((key) => [idOf(key), { versions: [], isInTail: false }]),
    );
    for (const path of this.#windows.keys()) {
      if (!near.some((file) => file.path === path)) this.#windows.delete(path);
    }
    for (const { path, maxKey } of near) {
      const window = this.#windows.get(path) ?? this.#openWindow(path);
      for (const [key, version] of await window.versionsOf(page)) {
        const known = found.get(key);
        if (known === undefined) continue;
        known.versions.push(version);
        if (path === tail?.path) known.isInTail = true;
      }
      // Later pages begin after this one.
      if ((maxKey?.join(' ') ?? '') > to) this.#windows.set(path, window);
      else this.#windows.delete(path);
    }
    return page.filter((key) => {
      const { versions = [], isInTail = false } = found.get(idOf(key)) ?? {};
      if (versions.includes(key.version ?? '')) return false;
      if (versions.length > 0 && !isInTail) this.replaced += 1;
      return true;
    });
  }

  #openWindow(path: string): KeyWindow {
    return new KeyWindow(readKeysOfFile(join(this.#run.folder, path), this.#run.table));
  }
}

/** Merges two sorted lists of keys and drops duplicates. */
async function* mergeKeys(
  old: readonly RowKey[],
  first: readonly RowKey[],
  more: AsyncIterable<readonly RowKey[]>,
): AsyncGenerator<RowKey, void, undefined> {
  let at = 0;
  const takeBefore = function* (next: string): Generator<RowKey, void, undefined> {
    for (let key = old[at]; key !== undefined; key = old[at]) {
      const place = placeOf(key);
      if (place > next) return;
      at += 1;
      if (place < next) yield key;
    }
  };
  for (const key of first) yield* [...takeBefore(placeOf(key)), key];
  for await (const page of more) for (const key of page) yield* [...takeBefore(placeOf(key)), key];
  yield* old.slice(at);
}

type KeyedRow = Awaited<ReturnType<typeof readRows>>[number];

/** Yields the rows of the given keys; reads ahead while rows are written. */
async function* rowsOf(
  { reader, table, signal, onRows }: TableRun,
  keys: AsyncIterable<RowKey>,
): AsyncGenerator<KeyedRow, void, undefined> {
  let reading: Promise<readonly KeyedRow[]> = Promise.resolve([]);
  let batch: RowKey[] = [];
  const next = async (): Promise<readonly KeyedRow[]> => {
    const rows = await reading;
    signal.throwIfAborted();
    reading = readRows(reader, table, batch);
    // The next await receives the rejection.
    reading.catch(() => undefined);
    batch = [];
    onRows(rows.length);
    return rows;
  };
  for await (const key of keys) {
    batch.push(key);
    if (batch.length >= table.rowsAtOnce) yield* await next();
  }
  yield* await next();
  yield* await next();
}

/** Writes rows to the files of a table, one file after another. */
class TableFiles {
  readonly #run: TableRun;
  #start: number;
  #file: ParquetFile | undefined;

  constructor(run: TableRun) {
    this.#run = run;
    this.#start = run.closed.length * run.table.rowsPerFile;
  }

  async add(key: RowKey, row: KeyedRow['row']): Promise<void> {
    const { table } = this.#run;
    this.#file ??= await this.#open();
    await this.#file.add(key, row);
    if (this.#file.rows < table.rowsPerFile) return;
    const written = await this.#file.end();
    const file = this.#describe(written, true);
    await rename(this.#file.path, join(this.#run.folder, file.path));
    this.#file = undefined;
    this.#start += table.rowsPerFile;
    await this.#run.onClosed(file);
  }

  #open(): Promise<ParquetFile> {
    const { folder, table } = this.#run;
    const path = join(folder, 'v2', table.name, `${table.name}_${this.#start}${PARTIAL}`);
    return ParquetFile.open(path, table);
  }

  #describe(written: WrittenFile, closed: boolean): ManifestFile {
    const { minKey, maxKey, ...rest } = written;
    return {
      path: fileName(this.#run.table, this.#start, this.#start + written.rows),
      ...rest,
      minKey: minKey === null ? null : [...minKey],
      maxKey: maxKey === null ? null : [...maxKey],
      closed,
    };
  }

  /** Closes the last file. An empty table gets an empty file, so that readers of the folder find the table. */
  async end(): Promise<{ readonly tail: ManifestFile | undefined }> {
    if (this.#file === undefined && this.#start > 0) return { tail: undefined };
    this.#file ??= await this.#open();
    const written = await this.#file.end();
    const tail = this.#describe(written, false);
    await rename(this.#file.path, join(this.#run.folder, `${tail.path}${PARTIAL}`));
    this.#file = undefined;
    return { tail };
  }

  async giveUp(): Promise<void> {
    await this.#file?.giveUp();
  }
}
