import { createWriteStream, type WriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command } from 'commander';
import { FullmatchError, messageOf } from '../errors.ts';
import { readPackageVersion } from '../lib/package-version.ts';
import { UNLISTED_SCHEMA } from '../repository/repository.ts';
import { type BackupEnd, type Manifest } from '../store/backup/backup-format.ts';
import { type BackupProgress, writeBackup } from '../store/backup/write-backup.ts';
import { writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { showProgress } from './progress-line.ts';
import { runWithStore } from './run-with-store.ts';
import { countOf } from '../lib/count-of.ts';

const AFTER_HELP = `
The backup shows one moment, even while the service runs. It has everything in the database: chain lists, contracts, events,
counts, jobs, unlisted contracts. It has no configuration, keys or compilers. An existing file is never overwritten.`;

/** `fullmatch backup`: writes the contents of the database to a file. */
export function defineBackup(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<file>', 'The file to write, such as fullmatch.backup.tgz.')
    .option('--json', 'Print the contents of the backup as JSON.')
    .addHelpText('after', AFTER_HELP)
    .action(async (name: string, options: ParsedOptions) => {
      const file = resolve(context.workingDirectory, name);
      const progress = showProgress(context, renderBackupProgress);
      const written = await runWithStore(options, context, 'backup', async (store) => {
        const hasUnlisted = await store.hasSchema(UNLISTED_SCHEMA);
        return writeFile(file, (out) =>
          store.onClient((client) =>
            writeBackup(client, out, {
              schemas: hasUnlisted ? [UNLISTED_SCHEMA] : [],
              version: readPackageVersion(),
              now: new Date(),
              signal: context.signal,
              onProgress: progress.update,
            }),
          ),
        );
      }).finally(progress.end);
      const text = `${file}: ${describeBackup(written)}\n`;
      writeResult(context, options, { file, ...factsOf(written) }, () => text);
    });
}

/**
 * Writes to a temporary file first, so that the target is either complete or missing.
 * @throws FullmatchError backup_not_written
 */
async function writeFile<T>(file: string, write: (out: WriteStream) => Promise<T>): Promise<T> {
  const beside = `${file}.partial`;
  try {
    // Reserves the name while the backup is written, so that no other file is overwritten.
    const place = await open(file, 'wx', 0o600);
    await place.close();
    try {
      const result = await write(createWriteStream(beside, { mode: 0o600, flush: true }));
      await rename(beside, file);
      return result;
    } catch (error) {
      await rm(beside, { force: true });
      await rm(file, { force: true });
      throw error;
    }
  } catch (error) {
    if (error instanceof FullmatchError) throw error;
    const why = isPresent(error) ? 'a file is there already' : messageOf(error);
    throw new FullmatchError(
      'backup_not_written',
      `${file} could not be written: ${why}. Choose another file, or fix the problem.`,
      { details: { file }, cause: error },
    );
  }
}

const isPresent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST';

/** Renders progress as one line: finished tables, and bytes read or written. */
export function renderBackupProgress({ tables, tablesDone, bytes }: BackupProgress): string {
  return `${tablesDone} of ${tables} tables, ${formatBytes(bytes)}`;
}

const formatBytes = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

interface Backup {
  readonly manifest: Manifest;
  readonly end: BackupEnd;
}

/** Describes a backup for JSON output. */
export function factsOf({ manifest, end }: Backup) {
  const { createdAt, fullmatch, schemas } = manifest;
  return {
    createdAt,
    fullmatch,
    schemas: schemas.map(({ name, migrations, newestEvent, feedPosition, counts }) => ({
      ...{ name, migrations, newestEvent, feedPosition, counts },
      contracts: contractsOf(counts),
    })),
    rows: Object.values(end.tables).reduce((sum, { rows }) => sum + rows, 0),
    bytes: Object.values(end.tables).reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

const contractsOf = (counts: Manifest['schemas'][number]['counts']): number =>
  Object.values(counts).reduce((sum, [full, partial]) => sum + Number(full) + Number(partial), 0);

/** Describes a backup in one line. */
export function describeBackup(backup: Backup): string {
  const { schemas, rows, bytes, createdAt } = factsOf(backup);
  const [main, unlisted] = schemas;
  return [
    `${countOf(main?.contracts ?? 0, 'contract')} on ${countOf(Object.keys(main?.counts ?? {}).length, 'chain')}`,
    ...(unlisted === undefined ? [] : [countOf(unlisted.contracts, 'unlisted contract')]),
    `up to event ${main?.newestEvent ?? '0'}`,
    countOf(rows, 'row'),
    formatBytes(bytes),
    `made ${createdAt}`,
  ].join(', ');
}
