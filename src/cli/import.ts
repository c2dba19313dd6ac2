import { type Command } from 'commander';
import { importRepository, type ImportOptions } from '../importer/import-repository.ts';
import { type ImportSummary } from '../importer/import-tally.ts';
import { type RefusedEntry } from '../importer/refusal.ts';
import { type Database, sql } from '../store/database.ts';
import { writeJson, writeLine, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { renderProgress, renderSummary } from './import-report.ts';
import { findImportSource, interrupted, loadFrom, sourceNameOf } from './import-source.ts';
import { countsText, reverify } from './reverify.ts';
import { showProgress } from './progress-line.ts';
import { withCore } from './with-core.ts';

const AFTER_HELP = `
A bad entry is refused by itself and listed; the exit code stays 0, since the run did what it could.
Run it again at any time: what is stored is skipped. PGPASSWORD may hold the password for --from. SIGINT stops after the current batch, with exit code 130.`;

const READ_CLOCK = sql('read clock of the database', 'SELECT now() AS now');

/** Reads the database's clock, which sets the times of rows and may differ from this machine's. */
async function readClock(database: Database): Promise<Date> {
  const [row] = await database.query<{ now: Date }>(READ_CLOCK);
  return row?.now ?? new Date();
}

/** `fullmatch import`: imports a published repository tree. Exits 0 even if entries were refused. */
export function defineImport(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument(
      '[path]',
      'The folder that contains `contracts`, that folder itself, an archive of either (.tar, .tar.gz, .tar.zst), or a Parquet export.',
    )
    .option(
      '--from <url>',
      'Instead of a path: a PostgreSQL database with the Verifier Alliance tables, another Fullmatch, or a Parquet export on a web server.',
    )
    .option(
      '--source-name <name>',
      'Source name stored with the matches: letters, digits, dots and hyphens; default: the host of --from.',
    )
    .option('--whole', 'Read everything of another Fullmatch again, not only what is new.')
    .option(
      '--verify',
      'Then verify what was imported: compile the sources and compare with the code on chain.',
    )
    .option(
      '--recompile',
      'Then compile the sources of what was imported and compare with the delivered code.',
    )
    .option('--dry-run', 'Check every entry without storing anything.')
    .option('--json', 'Print JSON, with every refused entry.')
    .addHelpText('after', AFTER_HELP)
    .action(async (path: string | undefined, options: ParsedOptions) => {
      const json = options['json'] === true;
      const dryRun = options['dryRun'] === true;
      const source = await findImportSource(path, options['from'], context);
      const sourceName = sourceNameOf(options['sourceName'], options['from']);
      const everyRefused: RefusedEntry[] = [];
      const progress = showProgress(context, renderProgress);
      const { summary, checked } = await withCore(
        options,
        context,
        'import',
        async (core) => {
          const store = await core.store();
          const log = await core.log();
          const load = (from?: ImportOptions['from']): Promise<ImportSummary> =>
            importRepository({
              path: source.name,
              ...(from && { from }),
              ...(sourceName !== undefined && { sourceName }),
              ...{ database: store.database, requireSpace: store.requireSpace, log },
              dryRun,
              limits: { sources: core.loaded.config.limits.sources },
              signal: context.signal,
              onProgress: progress.update,
              ...(json && { onRefused: (entry: RefusedEntry) => void everyRefused.push(entry) }),
            });
          const { dataDir } = core.loaded.config;
          const whole = options['whole'] === true;
          const since = await readClock(store.database);
          const parts = { store, dataDir, log, context, dryRun, whole };
          const summary = await loadFrom(source, parts, load);
          const recompiles = options['recompile'] === true;
          const isChecked = recompiles || options['verify'] === true;
          if (!isChecked || dryRun || summary.interrupted) return { summary };
          progress.end();
          // An earlier run may have stored contracts of the source without checking them.
          const filter = sourceName === undefined ? { since } : { source: sourceName };
          const report = await reverify(core, undefined, undefined, {
            ...{ context, filter, isListed: false, recompiles },
          });
          return { summary, checked: report.counts };
        },
        { mayCreate: true, registry: 'stored' },
      ).finally(progress.end);
      if (json) {
        writeJson(context.stdout, {
          ...{ ...summary, refused: everyRefused },
          ...(checked !== undefined && { checked }),
        });
      } else {
        context.stdout.write(renderSummary(summary));
        if (checked !== undefined) writeLine(context.stdout, countsText(checked));
      }
      refuseInterrupted(summary);
    });
}

function refuseInterrupted({ interrupted: isInterrupted, dryRun, totals }: ImportSummary): void {
  if (isInterrupted) throw interrupted(dryRun ? 0 : totals.stored + totals.upgraded);
}
