import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command } from 'commander';
import { FullmatchError, messageOf } from '../errors.ts';
import { importRepository, type ImportOptions } from '../importer/import-repository.ts';
import { type ImportSummary } from '../importer/import-tally.ts';
import { type RefusedEntry } from '../importer/refusal.ts';
import { findParquet, stageParquet, type StagingProgress } from '../importer/stage-parquet.ts';
import { Secret } from '../lib/secret.ts';
import { type Logger } from '../log.ts';
import { type Store } from '../store/open-store.ts';
import { type ConnectionTarget, targetOfUrl } from '../store/connection-target.ts';
import { createDatabasePool } from '../store/pool.ts';
import { writeJson, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { renderProgress, renderSummary } from './import-report.ts';
import { showProgress } from './progress-line.ts';
import { withCore } from './with-core.ts';

/** As many contracts are read at once. */
const CONNECTIONS = 8;
const AFTER_HELP = `
A bad entry is refused by itself and listed; the exit code stays 0, since the run did what it could.
Run it again at any time: what is stored is skipped. PGPASSWORD may hold the password for --from. SIGINT stops after the current batch, with exit code 130.`;

/** `fullmatch import`: brings a published repository tree in. Exits 0 even when entries were refused. */
export function defineImport(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument(
      '[path]',
      'The folder that contains `contracts`, that folder itself, an archive of either (.tar, .tar.gz, .tar.zst), or a Parquet export.',
    )
    .option(
      '--from <url>',
      'A PostgreSQL database with the Verifier Alliance tables, instead of a path.',
    )
    .option(
      '--source-name <name>',
      'Source name stored with the matches: letters, digits, dots and hyphens; default: the host of --from.',
    )
    .option('--dry-run', 'Check every entry without storing anything.')
    .option('--json', 'Print JSON, with every refused entry.')
    .addHelpText('after', AFTER_HELP)
    .action(async (path: string | undefined, options: ParsedOptions) => {
      const json = options['json'] === true;
      const place = placeOf(path, options['from'], context);
      if (place.target === undefined) await requirePath(place.name);
      const sourceName = sourceNameOf(options['sourceName'], options['from']);
      const everyRefused: RefusedEntry[] = [];
      const progress = showProgress(context, renderProgress);
      const summary = await withCore(
        options,
        context,
        'import',
        async (core) => {
          const store = await core.store();
          const log = await core.log();
          const load = (from?: ImportOptions['from']): Promise<ImportSummary> =>
            importRepository({
              path: place.name,
              ...(from && { from }),
              ...(sourceName !== undefined && { sourceName }),
              ...{ database: store.database, requireSpace: store.requireSpace, log },
              dryRun: options['dryRun'] === true,
              limits: { sources: core.loaded.config.limits.sources },
              signal: context.signal,
              onProgress: progress.update,
              ...(json && { onRefused: (entry: RefusedEntry) => void everyRefused.push(entry) }),
            });
          return loadFrom(place, { store, log, context }, load);
        },
        { mayCreate: true },
      ).finally(progress.end);
      if (json) writeJson(context.stdout, { ...summary, refused: everyRefused });
      else context.stdout.write(renderSummary(summary));
      refuseInterrupted(summary);
    });
}

/** Opens what is neither a folder nor an archive of a tree, for as long as it is imported. */
async function loadFrom(
  { name, target }: Place,
  {
    store,
    log,
    context,
  }: { readonly store: Store; readonly log: Logger; readonly context: CliContext },
  load: (from?: ImportOptions['from']) => Promise<ImportSummary>,
): Promise<ImportSummary> {
  if (target !== undefined) {
    const pool = createDatabasePool(target, CONNECTIONS, log);
    return load({ database: pool.database, isRewritten: false }).finally(() => pool.close());
  }
  const folder = await findParquet(name);
  if (folder === undefined) return load();
  return store.database.session(async (database) => {
    const progress = showProgress(context, renderStaging);
    const { signal } = context;
    let isOwn: boolean;
    try {
      ({ isOwn } = await stageParquet(database, folder, { signal, onProgress: progress.update }));
    } catch (error) {
      throw signal.aborted ? interrupted(0) : error;
    } finally {
      progress.end();
    }
    return load({ database, isRewritten: !isOwn });
  });
}

function renderStaging({ files, allFiles, rows }: StagingProgress, columns?: number): string {
  const line = `reading Parquet: ${files} of ${allFiles} files, ${rows} rows`;
  return columns === undefined ? line : line.slice(0, columns - 1);
}

interface Place {
  readonly name: string;
  /** The database to import from, in place of a path. */
  readonly target?: ConnectionTarget;
}

/** Where the contracts are. @throws FullmatchError `import_path_unusable`, `invalid_configuration` */
function placeOf(path: string | undefined, from: unknown, context: CliContext): Place {
  if ((path === undefined) === (typeof from !== 'string')) {
    throw new FullmatchError(
      'import_path_unusable',
      'name either a path, or a database with --from',
    );
  }
  if (path !== undefined) return { name: resolve(context.workingDirectory, path) };
  const named = { name: '--from', key: 'from' };
  const target = targetOfUrl(new Secret(String(from)), 'fullmatch import', named);
  return { name: target.describe(), target };
}

/** Before a database is made for it. @throws FullmatchError `import_path_unusable` */
async function requirePath(path: string): Promise<void> {
  try {
    await stat(path);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing ? 'there is no such file or folder' : messageOf(error);
    throw new FullmatchError('import_path_unusable', `cannot import ${path}: ${why}`, {
      details: { path },
    });
  }
}

const SOURCE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,98}[A-Za-z0-9])?$/;

/** The name of a source: what the operator says, else the host of a database. @throws FullmatchError `invalid_parameter` */
function sourceNameOf(named: unknown, from: unknown): string | undefined {
  if (typeof named === 'string') {
    if (SOURCE_NAME.test(named)) return named;
    throw new FullmatchError(
      'invalid_parameter',
      '--source-name is not a name of 1 to 100 letters, digits, dots and hyphens, such as example.org.',
      { details: { parameter: 'source-name' } },
    );
  }
  const host = typeof from === 'string' && URL.canParse(from) ? new URL(from).hostname : '';
  // What names this machine or a number says nothing to readers.
  const isName = SOURCE_NAME.test(host) && host !== 'localhost' && !/^[0-9.]+$/.test(host);
  return isName ? host : undefined;
}

function refuseInterrupted({ interrupted: isInterrupted, totals }: ImportSummary): void {
  if (isInterrupted) throw interrupted(totals.stored + totals.upgraded);
}

const interrupted = (stored: number): FullmatchError =>
  new FullmatchError(
    'import_interrupted',
    `the import was stopped; ${stored} contracts of this run are stored; run the same command to go on`,
    { details: { stored } },
  );
