import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Command } from 'commander';
import { installBundle, type InstalledCompiler } from '../compilers/bundle/install-bundle.ts';
import { writeBundle } from '../compilers/bundle/write-bundle.ts';
import { type CompilerFile } from '../compilers/compiler-file.ts';
import { parseCompilerVersion } from '../compilers/compiler-version.ts';
import { splitToolchain } from '../compilers/toolchains/all-toolchains.ts';
import { findBuilds, listBuilds } from '../compilers/inspect-compilers.ts';
import { FullmatchError } from '../errors.ts';
import { compilerSourcesOf } from '../core/open-verification.ts';
import { type CliContext } from './cli-context.ts';
import { withSources } from './compilers.ts';
import { addConfigOptions, type ParsedOptions } from './config-options.ts';
import { addListOutputOptions, createListWriter } from './list-output.ts';
import { withCore } from './with-core.ts';

/** `fullmatch compilers bundle`: writes compilers to one file, for a machine without downloads. */
export function defineCompilersBundle(command: Command, context: CliContext): void {
  addListOutputOptions(addConfigOptions(command))
    .argument('<file>', 'The file to write, such as compilers.tar.')
    .argument(
      '[version...]',
      'Versions such as 0.8.30 or vyper:0.3.10; default: all on this machine.',
    )
    .action(async (file: string, versions: readonly string[], options: ParsedOptions) => {
      const target = path.resolve(context.workingDirectory, file);
      if (existsSync(target)) {
        throw new FullmatchError('invalid_parameter', `<file>: ${target} is there already.`);
      }
      await withSources(options, context, async (sources) => {
        const found: CompilerFile[] = [];
        for (const version of versions) found.push(...(await findBuilds(sources, version)));
        if (versions.length === 0) found.push(...(await listBuilds(sources)));
        await writeBundle(target, found);
        const bundled = createListWriter<CompilerFile>(
          context.stdout,
          options,
          ({ longVersion, kind }) => `${longVersion}  ${kind}`,
        );
        for (const build of found) bundled.add(build);
        bundled.end();
      });
    });
}

/** `fullmatch compilers prefetch`: fills the compiler folder from a bundle or by download. */
export function defineCompilersPrefetch(command: Command, context: CliContext): void {
  addListOutputOptions(addConfigOptions(command))
    .argument(
      '<bundle-or-version...>',
      'A file written by "compilers bundle", or versions such as 0.8.30 or vyper:0.3.10.',
    )
    .option(
      '--trust-list',
      'Also install builds listed only in the bundle, which are newer than this program.',
    )
    .action(async (wanted: readonly string[], options: ParsedOptions) => {
      const installed = createListWriter<InstalledCompiler>(context.stdout, options, describeBuild);
      await withCore(options, context, 'compilers', async (core) => {
        const { config } = core.loaded;
        for (const each of wanted) {
          if (isVersion(each)) {
            const { fetch } = await core.chains();
            const builds = await findBuilds(compilerSourcesOf(config, fetch), each);
            for (const { longVersion, path: file, pinned } of builds) {
              installed.add({ longVersion, fileName: path.basename(file), pinned });
            }
            continue;
          }
          const bundle = path.resolve(context.workingDirectory, each);
          const { folder } = config.compilers;
          const trustList = options['trustList'] === true;
          for (const build of await installBundle(bundle, { folder, trustList })) {
            installed.add(build);
          }
        }
      });
      installed.end();
    });
}

/** Describes an installed build in a line, with a mark if the built-in catalogue does not pin it. */
function describeBuild({ longVersion, fileName, pinned }: InstalledCompiler): string {
  return `${longVersion}  ${fileName}${pinned ? '' : '  (checked by a list only)'}`;
}

function isVersion(text: string): boolean {
  try {
    parseCompilerVersion(splitToolchain(text).version);
    return true;
  } catch {
    return false;
  }
}
