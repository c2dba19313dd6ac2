import { resolve } from 'node:path';
import { type Command } from 'commander';
import { FullmatchError } from '../errors.ts';
import { type ImportProgress } from '../importer/import-progress.ts';
import { importRepository } from '../importer/import-repository.ts';
import { type ImportSummary } from '../importer/import-tally.ts';
import { type RefusedEntry } from '../importer/refusal.ts';
import { writeJson, writeLine, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { renderProgress, renderSummary } from './import-report.ts';
import { withCore } from './with-core.ts';

const LINE_INTERVAL_MS = 10_000;
const DEFAULT_COLUMNS = 80;
/** Returns to the line's start and clears it. */
const CLEAR_LINE = '\r\u001b[K';

const AFTER_HELP = `
A bad entry is refused by itself and listed; the exit code stays 0, since the run did what it could.
Run it again at any time: what is stored is skipped. SIGINT stops after the current batch, with exit code 130.`;

/** `fullmatch import`: brings a published repository tree in. Exits 0 even when entries were refused. */
export function defineImport(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<path>', 'The folder that holds contracts, or contracts itself.')
    .option('--dry-run', 'Checks every entry and stores nothing.')
    .option('--json', 'Prints JSON with every refused entry.')
    .addHelpText('after', AFTER_HELP)
    .action(async (path: string, options: ParsedOptions) => {
      const json = options['json'] === true;
      const everyRefused: RefusedEntry[] = [];
      const progress = showProgress(context);
      const summary = await withCore(options, context, 'import', async (core) => {
        const { database, requireSpace } = await core.store();
        return importRepository({
          path: resolve(context.workingDirectory, path),
          database,
          requireSpace,
          dryRun: options['dryRun'] === true,
          limits: { sources: core.loaded.config.limits.sources },
          log: await core.log(),
          signal: context.signal,
          onProgress: progress.update,
          ...(json && { onRefused: (entry: RefusedEntry) => void everyRefused.push(entry) }),
        }).finally(progress.end);
      });
      if (json) writeJson(context.stdout, { ...summary, refused: everyRefused });
      else context.stdout.write(renderSummary(summary));
      refuseInterrupted(summary);
    });
}

function refuseInterrupted({ interrupted, totals }: ImportSummary): void {
  if (!interrupted) return;
  const kept = totals.stored + totals.upgraded;
  throw new FullmatchError(
    'import_interrupted',
    `the import was stopped; ${kept} contracts of this run are stored; run the same command to go on`,
    { details: { stored: kept } },
  );
}

/** Progress on standard error: one line that is rewritten on a terminal, else a line in ten seconds. */
function showProgress({ stderr }: CliContext): {
  update: (progress: ImportProgress) => void;
  end: () => void;
} {
  if (stderr.isTTY === true) {
    return {
      update: (progress) =>
        void stderr.write(
          `${CLEAR_LINE}${renderProgress(progress, stderr.columns ?? DEFAULT_COLUMNS)}`,
        ),
      end: () => void stderr.write(CLEAR_LINE),
    };
  }
  let lastMs = performance.now();
  return {
    update: (progress) => {
      if (performance.now() - lastMs < LINE_INTERVAL_MS) return;
      lastMs = performance.now();
      writeLine(stderr, renderProgress(progress));
    },
    end: () => undefined,
  };
}
