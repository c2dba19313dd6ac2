import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command } from 'commander';
import { FullmatchError, messageOf } from '../errors.ts';
import { recount } from '../repository/repository.ts';
import { readBackup, unusable } from '../store/backup/read-backup.ts';
import { restoreBackup } from '../store/backup/restore-backup.ts';
import { describeBackup, factsOf, renderBackupProgress } from './backup.ts';
import { writeResult, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { runWithStore } from './run-with-store.ts';
import { showProgress } from './progress-line.ts';

const AFTER_HELP = `
Stop the service first. What the database holds is replaced, in one transaction, by what the backup holds; then the counts are compared.
A backup that lacks events of the database is refused: what was acknowledged would be lost.`;

/** `fullmatch restore`: replaces the contents of the database with those of a backup. */
export function defineRestore(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<file>', 'A file written by fullmatch backup.')
    .option('--dry-run', 'Read the whole file and verify its checksums, without changing anything.')
    .option('--discard-newer', 'Restore even if the database has events that the backup lacks.')
    .option('--json', 'Print the contents of the backup as JSON.')
    .addHelpText('after', AFTER_HELP)
    .action(async (name: string, options: ParsedOptions) => {
      const file = resolve(context.workingDirectory, name);
      await requireFile(file);
      const isDry = options['dryRun'] === true;
      const restored = isDry
        ? await readBackup(file, {}, context.signal)
        : await restore(file, options, context);
      const done = isDry ? 'dry run, nothing is changed' : 'restored';
      const text = `${done}: ${describeBackup(restored)}\n`;
      writeResult(context, options, { dryRun: isDry, ...factsOf(restored) }, () => text);
    });
}

/**
 * Checks the file before the database, which a service may be using.
 * @throws FullmatchError backup_unusable
 */
async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unusable(file, messageOf(error), error);
  });
  if (found === undefined) throw unusable(file, 'there is no such file');
  if (found.isDirectory()) throw unusable(file, 'it is a folder');
}

async function restore(file: string, options: ParsedOptions, context: CliContext) {
  const progress = showProgress(context, renderBackupProgress);
  return runWithStore(
    options,
    context,
    'restore',
    async (store) => {
      const restored = await store.onClient((client) =>
        restoreBackup(client, {
          file,
          discardNewer: options['discardNewer'] === true,
          signal: context.signal,
          onProgress: progress.update,
        }),
      );
      // Events acknowledged since the backup are abandoned, as requested.
      await store.forgetAcknowledged();
      const { differences } = await recount(store.database, { repair: false });
      if (differences.length === 0) return restored;
      throw new FullmatchError(
        'counts_differ',
        `What was restored has ${differences.length} differences between counts and events; run: fullmatch recount`,
        { details: { differences: differences.length } },
      );
    },
    { mayCreate: true },
  ).finally(progress.end);
}
