import { type CompilerFile, type CompilerName, type SourceProblem } from './compiler-file.ts';
import { CompilerFinder, type CompilerSources } from './sources/compiler-finder.ts';
import { compareVersions } from './compiler-version.ts';
import { splitToolchain, TOOLCHAINS } from './toolchains/all-toolchains.ts';
import { forgetDigests } from './sources/file-digest.ts';
import { PublishedLists } from './sources/published-lists.ts';
import { SOLC } from './toolchains/solc.ts';

/** A version that is known here, and what would compile it. */
export interface CompilerEntry {
  readonly compiler: CompilerName;
  readonly longVersion: string;
  /** The file that is here; absent when it would have to be downloaded, or cannot be had. */
  readonly file?: CompilerFile;
  /** What is wrong with files that are here and would have been asked before. */
  readonly problems: readonly SourceProblem[];
}

async function inspect(sources: CompilerSources): Promise<readonly CompilerEntry[]> {
  const entries: CompilerEntry[] = [];
  for (const toolchain of TOOLCHAINS) {
    const finder = new CompilerFinder(sources, toolchain);
    const { compiler } = toolchain;
    for (const longVersion of [...(await finder.listKnown())].sort(compareVersions)) {
      entries.push({ compiler, longVersion, ...(await finder.findHere(longVersion)) });
    }
  }
  return entries;
}

/** Every version of the catalogue and of what is here, oldest first, with the file that is here. Downloads nothing. */
export function listCompilers(sources: CompilerSources): Promise<readonly CompilerEntry[]> {
  return inspect(sources);
}

/**
 * Gets a version's file: from where it is, else by download.
 * @param version `0.8.30`, or `vyper:0.3.10`
 * @throws FullmatchError as {@link CompilerFinder.find}.
 */
export function fetchCompiler(sources: CompilerSources, version: string): Promise<CompilerFile> {
  const named = splitToolchain(version);
  return new CompilerFinder(sources, named.toolchain).find(named.version);
}

/**
 * The builds of a version: what would be run, and the soljson, which every machine runs; each is downloaded where it is not
 * here.
 * @throws FullmatchError as {@link CompilerFinder.find}.
 */
export async function findBuilds(
  sources: CompilerSources,
  version: string,
): Promise<readonly CompilerFile[]> {
  const { toolchain, version: asked } = splitToolchain(version);
  const finder = new CompilerFinder(sources, toolchain);
  const preferred = await finder.find(asked);
  if (toolchain.names.listFolders === undefined) return [preferred];
  const soljson = await finder.find(asked, { soljsonOnly: true });
  return preferred.sha256 === soljson.sha256 ? [preferred] : [preferred, soljson];
}

/** The builds that are here, as {@link findBuilds} has them. */
export async function listBuilds(sources: CompilerSources): Promise<readonly CompilerFile[]> {
  const builds: CompilerFile[] = [];
  for (const toolchain of TOOLCHAINS) {
    const finder = new CompilerFinder(sources, toolchain);
    for (const { longVersion, isInstalled } of await finder.listUsable()) {
      if (!isInstalled) continue;
      for (const soljsonOnly of [false, true]) {
        const { file } = await finder.findHere(longVersion, { soljsonOnly });
        if (file !== undefined && !builds.some(({ sha256 }) => sha256 === file.sha256))
          builds.push(file);
      }
    }
  }
  return builds;
}

/**
 * How many versions the mirror of Solidity's compilers lists; undefined where nothing is downloaded.
 * @throws FetchFault where it does not answer; Error where it answers with something else than its lists
 */
export async function readMirror({ download }: CompilerSources): Promise<number | undefined> {
  if (download === undefined) return undefined;
  const lists = new PublishedLists(download.baseUrl, SOLC.names, download.fetch, Date.now);
  return (await lists.readVersions()).length;
}

/** Reads every compiler file that is here again and compares its checksum; gives the versions that have any. */
export async function verifyCompilers(sources: CompilerSources): Promise<readonly CompilerEntry[]> {
  forgetDigests();
  const entries = await inspect(sources);
  return entries.filter(({ file, problems }) => file !== undefined || problems.length > 0);
}
