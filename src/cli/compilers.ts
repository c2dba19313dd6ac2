import { type Command } from 'commander';
import {
  fetchCompiler,
  listCompilers,
  verifyCompilers,
  type CompilerEntry,
} from '../compilers/inspect-compilers.ts';
import {
  type Isolation,
  probeIsolation,
  reportIsolation,
} from '../compilers/processes/isolation.ts';
import { type CompilerSources } from '../compilers/sources/compiler-finder.ts';
import { type CompilerFile } from '../compilers/compiler-file.ts';
import { FullmatchError } from '../errors.ts';
import { compilerSourcesOf } from '../core/open-verification.ts';
import { writeLine, type CliContext } from './cli-context.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { addListOutputOptions, createListWriter, writeListJson } from './list-output.ts';
import { renderTable } from './table.ts';
import { withCore } from './with-core.ts';
import { countOf } from '../lib/count-of.ts';

/** `fullmatch compilers list`: prints the compilers on this machine. */
export function defineCompilersList(command: Command, context: CliContext): void {
  addListOutputOptions(addConfigOptions(command))
    .option('--all', 'List all known versions.')
    .action(async (options: ParsedOptions) => {
      const entries = await withSources(options, context, listCompilers);
      const isHere = ({ file, problems }: CompilerEntry): boolean =>
        file !== undefined || problems.length > 0;
      if (print(options['all'] ? entries : entries.filter(isHere), options, context)) return;
      writeLine(context.stdout, describeIsolation(await probeIsolation()));
    });
}

/** `fullmatch compilers fetch`: downloads compilers and checks their checksums. */
export function defineCompilersFetch(command: Command, context: CliContext): void {
  addListOutputOptions(addConfigOptions(command))
    .argument('<version...>', 'Versions such as 0.8.30 or vyper:0.3.10.')
    .action(async (versions: readonly string[], options: ParsedOptions) => {
      const fetched = createListWriter<CompilerFile>(
        context.stdout,
        options,
        ({ longVersion, path }) => `${longVersion}  ${path}`,
      );
      await withSources(options, context, async (sources) => {
        for (const version of versions) fetched.add(await fetchCompiler(sources, version));
      });
      fetched.end();
    });
}

/** `fullmatch compilers verify`: verifies the checksum of every compiler on this machine. */
export function defineCompilersVerify(command: Command, context: CliContext): void {
  addListOutputOptions(addConfigOptions(command)).action(async (options: ParsedOptions) => {
    const entries = await withSources(options, context, verifyCompilers);
    print(entries, options, context);
    const bad = entries.filter(({ problems }) => problems.length > 0);
    if (bad.length === 0) return;
    throw new FullmatchError(
      'compiler_checksum_mismatch',
      `Not the released binary: ${countOf(bad.length, 'compiler')}. Delete the files and fetch them again.`,
      { details: { versions: bad.map(({ longVersion }) => longVersion) } },
    );
  });
}

/** Runs `work` with the sources of compilers. @throws as {@link withCore} */
export function withSources<T>(
  options: ParsedOptions,
  context: CliContext,
  work: (sources: CompilerSources) => Promise<T>,
): Promise<T> {
  return withCore(options, context, 'compilers', async (core) => {
    const { fetch } = await core.chains();
    return work(compilerSourcesOf(core.loaded.config, fetch));
  });
}

/** Describes the isolation of native compilers on this machine. */
function describeIsolation(isolation: Isolation): string {
  const { unprivilegedUser, ownFilesOnly, withoutNetwork } = reportIsolation(isolation);
  const yesOrNo = (holds: boolean): string =>
    holds ? 'yes' : 'no, this system does not support it';
  return [
    'Native compilers run:',
    `  as an unprivileged user              ${yesOrNo(unprivilegedUser)}`,
    `  with access only to their own files  ${yesOrNo(ownFilesOnly)}`,
    `  without network                      ${yesOrNo(withoutNetwork)}`,
  ].join('\n');
}

/** Returns what vouches for a file: the built-in catalogue, or a list that came with it. */
function checkedBy(file: CompilerEntry['file']): string {
  if (file === undefined) return '-';
  return file.pinned ? 'catalogue' : 'list';
}

/** @returns whether JSON output was requested */
function print(
  entries: readonly CompilerEntry[],
  options: ParsedOptions,
  { stdout }: CliContext,
): boolean {
  if (writeListJson(stdout, options, entries)) return true;
  stdout.write(
    renderTable(
      ['compiler', 'version', 'kind', 'checked by', 'place'],
      entries.map(({ compiler, longVersion, file, problems }) => [
        compiler,
        longVersion,
        file?.kind ?? '-',
        checkedBy(file),
        file?.path ?? problems[0]?.message ?? 'not here',
      ]),
    ),
  );
  return false;
}
