import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** What an exported folder says of itself. It is written last, so that what it lists is there. */
export const MANIFEST = 'manifest.json';
/** What an export that is not at its end has done. */
export const PROGRESS = 'manifest.partial.json';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const key = z.tuple([z.string(), z.string()]).nullable();
const count = z.int().nonnegative();

const fileSchema = z.object({
  /** From the folder on, with `/`. */
  path: z.string().regex(/^v2\/[a-z_]+\/[a-z_]+_\d+_\d+\.parquet$/),
  rows: count,
  bytes: count,
  sha256: hash,
  checksum: hash,
  minKey: key,
  maxKey: key,
  /** Whether it never changes again; the last file of a table grows. */
  closed: z.boolean(),
});

const manifestSchema = z.object({
  format: z.literal('fullmatch-parquet'),
  /** The version of the tables: that of https://github.com/sourcifyeth/parquet-export. */
  schema: z.literal('v2'),
  generatedAt: z.iso.datetime(),
  /** The version of Fullmatch that wrote it. */
  version: z.string(),
  /** The chain that was exported; null where all were. */
  chainId: z.int().positive().nullable(),
  /** The position of the feed that the tables show. */
  feedPosition: z.string().regex(/^\d{1,19}$/),
  /** What the feed holds there, as a hash. */
  feedMark: z.string().nullable(),
  files: z.array(fileSchema),
  tables: z.record(
    z.string(),
    z.object({
      rows: count,
      checksum: hash,
      /** Rows that a later row of the same key takes the place of, since they changed after their file was closed. */
      replaced: count,
    }),
  ),
  /** Addresses whose newest row of fullmatch_matches says that they are no longer verified. */
  withdrawn: count,
});

export type ManifestFile = z.infer<typeof fileSchema>;
export type ParquetManifest = z.infer<typeof manifestSchema>;

/** Reads a manifest; undefined where there is none. @throws an Error that says what is wrong with it */
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
