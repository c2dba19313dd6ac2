import { z } from 'zod';

/**
 * A backup is a gzipped tar archive: `manifest.json`, then the rows of each table in PostgreSQL's COPY text
 * format, in parts `rows/<schema>/<table>/<number>`, then `end.json`. An archive without `end.json` is
 * incomplete.
 */
export const FORMAT = 'fullmatch-backup';
export const FORMAT_VERSION = 1;
export const MANIFEST = 'manifest.json';
export const END = 'end.json';
/** Maximum size of a part in bytes: an archive states the length of each entry before its content. */
export const PART_BYTES = 8 * 2 ** 20;

/** The main schema and the additional ones. */
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
  /** Number of the newest migration. */
  migrations: z.int().positive(),
  /** Tables in an order in which they can be loaded. */
  tables: z.array(tableSchema),
  sequences: z.array(sequenceSchema),
  /** The newest event, and the counts of each chain as `[full, partial]`. */
  newestEvent: z.string().regex(/^\d{1,19}$/),
  feedPosition: z.string().regex(/^\d{1,19}$/),
  counts: z.record(z.string(), z.tuple([z.string(), z.string()])),
});

/** Contents of a backup's manifest. */
export const manifestSchema = z.object({
  format: z.literal(FORMAT),
  version: z.literal(FORMAT_VERSION),
  /** Version of Fullmatch that wrote the backup. */
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

/** Totals by `schema/table`. */
export const endSchema = z.object({ tables: z.record(z.string(), writtenTableSchema) });

export type BackupSchema = z.infer<typeof schemaSchema>;
export type BackupTable = z.infer<typeof tableSchema>;
export type Manifest = z.infer<typeof manifestSchema>;
export type BackupEnd = z.infer<typeof endSchema>;
export type WrittenTable = z.infer<typeof writtenTableSchema>;

/** Name of a table in the archive. */
export const keyOf = (schema: string, table: string): string => `${schema}/${table}`;
