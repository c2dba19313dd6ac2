import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../lib/parse-json.ts';

/**
 * Contents of `manifest.json`, which describes an exported folder. It is written last, so every file it lists
 * exists.
 */
export const MANIFEST = 'manifest.json';
/** State of an unfinished export. */
export const PROGRESS = 'manifest.partial.json';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const key = z.tuple([z.string(), z.string()]).nullable();
const count = z.int().nonnegative();

const fileSchema = z.object({
  /** Path relative to the folder, with `/`. */
  path: z.string().regex(/^v2\/[a-z_]+\/[a-z_]+_\d+_\d+\.parquet$/),
  rows: count,
  bytes: count,
  sha256: hash,
  checksum: hash,
  minKey: key,
  maxKey: key,
  /** True for a full file, which never changes; the last file of a table grows. */
  closed: z.boolean(),
});

const manifestSchema = z.object({
  format: z.literal('fullmatch-parquet'),
  /** Version of the tables, as in https://github.com/sourcifyeth/parquet-export. */
  schema: z.literal('v2'),
  generatedAt: z.iso.datetime(),
  /** Version of Fullmatch that wrote the export. */
  version: z.string(),
  /** The exported chain; null if all chains were exported. */
  chainId: z.int().positive().nullable(),
  /** Feed position of the export. */
  feedPosition: z.string().regex(/^\d{1,19}$/),
  /** Hash of the feed at that position. */
  feedMark: z.string().nullable(),
  files: z.array(fileSchema),
  tables: z.record(
    z.string(),
    z.object({
      rows: count,
      checksum: hash,
      /** Rows superseded by a later row with the same key, because they changed after their file was closed. */
      replaced: count,
    }),
  ),
  /** Addresses whose newest row in fullmatch_matches says that they are no longer verified. */
  withdrawn: count,
});

export type ManifestFile = z.infer<typeof fileSchema>;
export type ParquetManifest = z.infer<typeof manifestSchema>;

/**
 * Reads a manifest; returns undefined if there is none.
 * @throws Error that describes what is invalid
 */
export async function readManifest(
  folder: string,
  name = MANIFEST,
): Promise<ParquetManifest | undefined> {
  let text: string;
  try {
    text = await readFile(join(folder, name), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const parsed = manifestSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Error(`its ${name} is not one of an export in Parquet`);
}
