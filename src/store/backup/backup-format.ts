import { z } from 'zod';

/**
 * A backup is a gzipped tar archive: `manifest.json`, then for each table its rows as PostgreSQL's text format of COPY in parts
 * `rows/<schema>/<table>/<number>`, then `end.json`. An archive without its end is no backup.
 */
export const FORMAT = 'fullmatch-backup';
export const FORMAT_VERSION = 1;
export const MANIFEST = 'manifest.json';
export const END = 'end.json';
/** The largest part of a table's rows, in bytes: an archive names the length of each entry before it. */
export const PART_BYTES = 8 * 2 ** 20;

/** The main tables, and those of the schemas beside them. */
export const MAIN_SCHEMA = 'main';

const identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);

const tableSchema = z.object({ name: identifier, columns: z.array(identifier).min(1) });
const sequenceSchema = z.object({
  name: identifier,
  value: z.string().regex(/^\d{1,19}$/),
  isCalled: z.boolean(),
});

const schemaSchema = z.object({
  name: identifier,
  /** The number of the newest migration. */
  migrations: z.int().positive(),
  /** In an order in which they can be filled. */
  tables: z.array(tableSchema),
  sequences: z.array(sequenceSchema),
  /** The newest event, and the counts of each chain as `[full, partial]`. */
  newestEvent: z.string().regex(/^\d{1,19}$/),
  feedPosition: z.string().regex(/^\d{1,19}$/),
  counts: z.record(z.string(), z.tuple([z.string(), z.string()])),
});

/** What a backup holds. */
export const manifestSchema = z.object({
  format: z.literal(FORMAT),
  version: z.literal(FORMAT_VERSION),
  /** The version of Fullmatch that wrote it. */
  fullmatch: z.string(),
  createdAt: z.iso.datetime(),
  schemas: z.array(schemaSchema).min(1),
});

const writtenTableSchema = z.object({
  rows: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  /** SHA-256 of all its parts together, in hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** What was written, by `schema/table`. */
export const endSchema = z.object({ tables: z.record(z.string(), writtenTableSchema) });

export type BackupSchema = z.infer<typeof schemaSchema>;
export type BackupTable = z.infer<typeof tableSchema>;
export type Manifest = z.infer<typeof manifestSchema>;
export type BackupEnd = z.infer<typeof endSchema>;
export type WrittenTable = z.infer<typeof writtenTableSchema>;

/** How a table is called in the archive. */
export const keyOf = (schema: string, table: string): string => `${schema}/${table}`;
