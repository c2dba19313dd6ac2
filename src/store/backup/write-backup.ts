import { createHash } from 'node:crypto';
import { type Readable, type Writable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { type Client, escapeIdentifier } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { TarWriter } from '../../lib/tar-writer.ts';
import { mapDatabaseError } from '../sqlstate.ts';
import {
  END,
  FORMAT,
  FORMAT_VERSION,
  keyOf,
  MAIN_SCHEMA,
  MANIFEST,
  type BackupEnd,
  type BackupTable,
  type Manifest,
  PART_BYTES,
  type WrittenTable,
} from './backup-format.ts';
import { describeSchema } from './describe-schema.ts';

/** Progress of a backup or restore. */
export interface BackupProgress {
  readonly tables: number;
  readonly tablesDone: number;
  readonly bytes: number;
}

/** Options of a backup. */
export interface BackupOptions {
  /** Schemas in addition to the main one. */
  readonly schemas: readonly string[];
  /** Version of the service. */
  readonly version: string;
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BackupProgress) => void;
}

/**
 * Writes the whole database from one snapshot while others keep writing.
 * @param client a dedicated connection without timeouts
 * @returns the manifest
 * @throws FullmatchError `database_unreachable`, `database_error`; errors of `out`
 */
export async function writeBackup(
  client: Client,
  out: Writable,
  options: BackupOptions,
): Promise<{ readonly manifest: Manifest; readonly end: BackupEnd }> {
  const { now, signal } = options;
  const compressor = createGzip({ level: constants.Z_BEST_SPEED });
  const archive = new TarWriter({ out, compressor, signal });
  const add: AddFile = (name, content) =>
    archive.add(name, content, { mode: 0o600, modifiedAt: now });
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const manifest = await describe(client, options);
    await add(MANIFEST, toJson(manifest));
    const end = await writeTables(client, add, manifest, options);
    await add(END, toJson(end));
    await archive.end();
    await client.query('COMMIT');
    return { manifest, end };
  } catch (error) {
    await archive.giveUp();
    throw mapDatabaseError(error, { statement: 'back up' });
  }
}

type AddFile = (name: string, content: Buffer) => Promise<void>;

const toJson = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

async function describe(
  client: Client,
  { schemas, version, now }: BackupOptions,
): Promise<Manifest> {
  const described = [await describeSchema(client, MAIN_SCHEMA)];
  for (const schema of schemas) {
    await client.query(`SET LOCAL search_path TO ${escapeIdentifier(schema)}`);
    described.push(await describeSchema(client, schema));
    await client.query('SET LOCAL search_path TO DEFAULT');
  }
  return {
    ...{ format: FORMAT, version: FORMAT_VERSION, fullmatch: version },
    ...{ createdAt: now.toISOString(), schemas: described },
  };
}

async function writeTables(
  client: Client,
  add: AddFile,
  { schemas }: Manifest,
  { onProgress, signal }: BackupOptions,
): Promise<BackupEnd> {
  const tables: Record<string, WrittenTable> = {};
  const total = schemas.reduce((sum, schema) => sum + schema.tables.length, 0);
  let before = 0;
  for (const { name: schema, tables: ofSchema } of schemas) {
    const path = schema === MAIN_SCHEMA ? 'DEFAULT' : escapeIdentifier(schema);
    await client.query(`SET LOCAL search_path TO ${path}`);
    for (const table of ofSchema) {
      const key = keyOf(schema, table.name);
      const tablesDone = Object.keys(tables).length;
      const written = await writeTable(client, add, key, table, (bytes) => {
        signal.throwIfAborted();
        onProgress({ tables: total, tablesDone, bytes: before + bytes });
      });
      tables[key] = written;
      before += written.bytes;
    }
  }
  onProgress({ tables: total, tablesDone: total, bytes: before });
  return { tables };
}

async function writeTable(
  client: Client,
  add: AddFile,
  key: string,
  { name, columns }: BackupTable,
  onBytes: (bytes: number) => void,
): Promise<WrittenTable> {
  const listed = columns.map((column) => escapeIdentifier(column)).join(', ');
  const stream = client.query(copyTo(`COPY ${escapeIdentifier(name)} (${listed}) TO STDOUT`));
  const hash = createHash('sha256');
  let [bytes, number] = [0, 0];
  for await (const part of partsOf(stream)) {
    hash.update(part);
    number += 1;
    bytes += part.length;
    await add(`rows/${key}/${number}`, part);
    onBytes(bytes);
  }
  return { rows: stream.rowCount, bytes, sha256: hash.digest('hex') };
}

/** Splits a stream into parts of bounded length. */
async function* partsOf(stream: Readable): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    held.push(chunk);
    size += chunk.length;
    if (size < PART_BYTES) continue;
    yield Buffer.concat(held);
    [held, size] = [[], 0];
  }
  if (size > 0) yield Buffer.concat(held);
}
