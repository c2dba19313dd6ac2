import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { z } from 'zod';
import { FullmatchError, messageOf } from '../errors.ts';
import { hashFile } from '../lib/file-hash.ts';
import { unusableSource } from './unusable-source.ts';

/** Name of the manifest of an export. */
export const MANIFEST = 'manifest.json';
/** Name of the manifest while an export is running. */
const PROGRESS = 'manifest.partial.json';
/** A list of every file of the whole public dataset has several megabytes. */
const MAX_BYTES = 64 * 2 ** 20;

/** Path of a file: a table folder and a file name in it; nothing can point out of the export. */
export const LISTED_PATH = /^v2\/([a-z_]{1,60})\/\1_\d{1,18}_\d{1,18}\.parquet$/;

/** A file in the manifest. */
export const listedFile = z.object({
  path: z.string().regex(LISTED_PATH),
  rows: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
const manifestSchema = z.object({
  format: z.literal('fullmatch-parquet'),
  schema: z.literal('v2'),
  files: z.array(listedFile),
  tables: z.record(z.string(), z.object({ rows: z.int().nonnegative() })),
});

/** Files of each table, in the order they were written. */
export type ListedFiles = ReadonlyMap<string, readonly string[]>;

/**
 * Reads the manifest of an export by Fullmatch and checks every file against it: SHA-256 and row count.
 * Unlisted files, such as those of a running export, are not read. Returns undefined if there is no manifest.
 * @throws FullmatchError `import_path_unusable` with the missing or changed file, or the manifest
 */
export async function readParquetManifest(
  tables: string,
  signal: AbortSignal,
): Promise<ListedFiles | undefined> {
  if (basename(tables) !== 'v2') return undefined;
  const folder = dirname(tables);
  const path = join(folder, MANIFEST);
  const text = await readText(path);
  if (text === undefined) {
    const begun = join(folder, PROGRESS);
    if ((await readText(begun)) === undefined) return undefined;
    throw unusableSource(begun, 'the export there was not completed; run it again');
  }
  const manifest = parseManifest(path, text);
  const listed = new Map<string, string[]>();
  const rows = new Map<string, number>();
  for (const file of manifest.files) {
    signal.throwIfAborted();
    const name = file.path.split('/')[1] ?? '';
    const place = join(folder, ...file.path.split('/'));
    await requireFile(place, file, signal);
    listed.set(name, [...(listed.get(name) ?? []), place]);
    rows.set(name, (rows.get(name) ?? 0) + file.rows);
  }
  for (const [name, table] of Object.entries(manifest.tables)) {
    if (rows.get(name) !== table.rows) {
      throw unusableSource(
        path,
        `its files of ${name} have ${rows.get(name) ?? 0} rows, not ${table.rows}`,
      );
    }
  }
  return listed;
}

async function readText(path: string): Promise<string | undefined> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES) throw unusableSource(path, `it has ${size} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error instanceof FullmatchError ? error : unusableSource(path, messageOf(error), error);
  }
}

function parseManifest(path: string, text: string): z.infer<typeof manifestSchema> {
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    throw unusableSource(path, 'it is not the manifest of a Parquet export of this version', error);
  }
}

async function requireFile(
  path: string,
  { rows, sha256 }: z.infer<typeof listedFile>,
  signal: AbortSignal,
): Promise<void> {
  let found: number;
  try {
    if ((await hashFile(path, 'sha256', signal)) !== sha256)
      throw new Error('it differs from the exported file');
    const { num_rows: there } = await parquetMetadataAsync(await asyncBufferFromFile(path));
    found = Number(there);
  } catch (error) {
    signal.throwIfAborted();
    throw unusableSource(path, messageOf(error), error);
  }
  if (found !== rows) throw unusableSource(path, `it has ${found} rows, not ${rows}`);
}
