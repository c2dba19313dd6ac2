import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { writeResult, type CliContext } from '../cli-context.ts';
import { addConfigOptions, type ParsedOptions } from '../config-options.ts';
import { type Exported, type ExportRequest } from './export-request.ts';

const AFTER_HELP = `
A folder with the published tree may be served as it is by any web server: contracts/, stats.json, chains.json and manifest.json. A name
that ends in .tar, .tar.gz or .tgz makes an archive. With --format parquet a folder gets the tables of the field, in v2/, and
manifest.json. With --format sql a file gets the database of the Verifier Alliance. A folder that was exported into before gets what has changed since. \`fullmatch import\` reads trees, archives and Parquet files; psql loads the SQL.`;

const FORMATS: Readonly<
  Record<string, () => Promise<(request: ExportRequest) => Promise<Exported>>>
> = {
  tree: async () => (await import('./export-tree.ts')).runTreeExport,
  parquet: async () => (await import('./export-parquet.ts')).runParquetExport,
  sql: async () => (await import('./export-sql.ts')).runSqlExport,
};

/** `fullmatch export`: writes one snapshot of the stored data for other services. */
export function defineExport(command: Command, context: CliContext): void {
  addConfigOptions(command)
    .argument('<path>', 'A folder, an archive such as tree.tar.gz, or a file such as all.sql.gz.')
    .addOption(
      new Option('--format <format>', 'Output format.')
        .choices(Object.keys(FORMATS))
        .default('tree'),
    )
    .addOption(
      new Option(
        '--layout <layout>',
        'Names of the sources in a tree: v1 by path (the default), v2 by hash.',
      ).choices(['v1', 'v2']),
    )
    .option('--chain <chain>', 'Export one chain only: its id, short name or name.')
    .option('--with-sourcify', "Include Sourcify's match table, with --format sql.")
    .option('--whole', 'Write everything again, even if the folder holds an earlier export.')
    .option('--json', 'Print JSON.')
    .addHelpText('after', AFTER_HELP)
    .action(async (name: string, options: ParsedOptions) => {
      const run = await FORMATS[String(options['format'])]?.();
      if (run === undefined) throw new Error('commander refuses other formats');
      const layout = options['layout'];
      if (layout !== undefined && options['format'] !== 'tree') {
        command.error('error: --layout is for --format tree only');
      }
      const chain = options['chain'];
      const { summary, text } = await run({
        ...{ path: resolve(context.workingDirectory, name), isWhole: options['whole'] === true },
        ...(typeof chain === 'string' && { chain }),
        layout: layout === 'v2' ? 'v2' : 'v1',
        withSourcify: options['withSourcify'] === true,
        ...{ options, context },
      });
      writeResult(context, options, summary, () => `${text}\n`);
    });
}
