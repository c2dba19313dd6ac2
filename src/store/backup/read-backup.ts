import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { readTar } from '../../lib/read-tar.ts';
import { type z } from 'zod';
import { FullmatchError, messageOf } from '../../errors.ts';
import {
  END,
  type BackupEnd,
  endSchema,
  keyOf,
  MANIFEST,
  type Manifest,
  manifestSchema,
  PART_BYTES,
} from './backup-format.ts';

/** Receives the contents of a backup while it is read. */
export interface BackupVisitor {
  /** Called before any rows. */
  begin?(manifest: Manifest): Promise<void>;
  /** Called for each part of a table; tables arrive one after another, in manifest order. */
  rows?(key: string, part: Buffer): Promise<void>;
}

/** The manifest of a service with every chain has about 200 kB. */
const DOCUMENT_BYTES = 16 * 2 ** 20;
/** A part ends with the chunk that fills it. */
const PART_MAX_BYTES = 2 * PART_BYTES;
const ROWS = /^rows\/([a-z_][a-z0-9_]*\/[a-z_][a-z0-9_]*)\/([1-9]\d*)$/;

/**
 * Reads a backup and checks every table against its checksum.
 * @throws FullmatchError `backup_unusable` if the file is not a backup, is truncated or was changed; errors
 * of the visitor
 */
export async function readBackup(
  file: string,
  visitor: BackupVisitor,
  signal: AbortSignal,
): Promise<{ readonly manifest: Manifest; readonly end: BackupEnd }> {
  const archive = readTar();
  const sums = new Map<string, { readonly hash: Hash; parts: number; bytes: number }>();
  let manifest: Manifest | undefined;
  let end: BackupEnd | undefined;
  // Iterating over the archive does not report earlier stream errors.
  const input = pipeline(createReadStream(file), createGunzip(), new PassThrough(), archive, {
    signal,
  });
  const read = async (): Promise<void> => {
    for await (const entry of archive) {
      const { name, size, type } = entry.header;
      const rows = ROWS.exec(name);
      const isDocument = name === MANIFEST || name === END;
      const most = isDocument ? DOCUMENT_BYTES : PART_MAX_BYTES;
      if (type !== 'file' || (!isDocument && rows === null))
        throw unusable(file, `${name} is no part of a backup`);
      if (size > most) throw unusable(file, `${name} has ${size} bytes`);
      const parts: Buffer[] = [];
      for await (const chunk of entry as AsyncIterable<Buffer>) parts.push(chunk);
      const content = Buffer.concat(parts);
      if (end !== undefined) throw unusable(file, `${name} follows its end`);
      if (name === END) {
        end = parse(file, name, endSchema, content);
      } else if (manifest === undefined) {
        if (name !== MANIFEST) throw unusable(file, 'it does not start with a manifest');
        manifest = parse(file, name, manifestSchema, content);
        await visitor.begin?.(manifest);
      } else {
        const [, key = '', number] = rows ?? [];
        if (!tablesOf(manifest).includes(key))
          throw unusable(file, `its manifest has no table ${key}`);
        const sum = sums.get(key) ?? { hash: createHash('sha256'), parts: 0, bytes: 0 };
        sums.set(key, sum);
        sum.parts += 1;
        sum.bytes += content.length;
        sum.hash.update(content);
        if (Number(number) !== sum.parts) throw unusable(file, `${name} is out of line`);
        await visitor.rows?.(key, content);
      }
    }
  };
  try {
    await Promise.all([input, read()]);
  } catch (error) {
    archive.destroy();
    await input.catch(() => undefined);
    if (error instanceof FullmatchError) throw error;
    throw unusable(file, messageOf(error), error);
  }
  if (manifest === undefined || end === undefined) throw unusable(file, 'it is cut off');
  for (const key of tablesOf(manifest)) {
    const { hash, bytes } = sums.get(key) ?? { hash: createHash('sha256'), bytes: 0 };
    const written = end.tables[key];
    if (written?.bytes !== bytes || written.sha256 !== hash.digest('hex')) {
      throw unusable(file, `the rows of ${key} differ from those written`);
    }
  }
  return { manifest, end };
}

const tablesOf = ({ schemas }: Manifest): readonly string[] =>
  schemas.flatMap(({ name, tables }) => tables.map((table) => keyOf(name, table.name)));

function parse<Schema extends z.ZodType>(
  file: string,
  name: string,
  schema: Schema,
  content: Buffer,
): z.infer<Schema> {
  try {
    return schema.parse(JSON.parse(content.toString('utf8')));
  } catch (error) {
    throw unusable(file, `its ${name} is from another version`, error);
  }
}

/** Error for a file that is not a complete backup. */
export function unusable(file: string, why: string, cause?: unknown): FullmatchError {
  return new FullmatchError(
    'backup_unusable',
    `${file} is not a valid backup: ${why}. Use another one; \`fullmatch restore --dry-run\` checks a file.`,
    { details: { file }, ...(cause !== undefined && { cause }) },
  );
}
