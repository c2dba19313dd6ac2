import { type CompilerFile, type CompilerName, type SourceProblem } from './compiler-file.ts';
import { CompilerFinder, type CompilerSources } from './sources/compiler-finder.ts';
import { compareVersions } from './compiler-version.ts';
import { splitToolchain, TOOLCHAINS } from './toolchains/all-toolchains.ts';
import { clearDigestCache } from './sources/file-digest.ts';
import { PublishedLists } from './sources/published-lists.ts';
import { SOLC } from './toolchains/solc.ts';

/** A known version, and the file that would compile it. */
export interface CompilerEntry {
  readonly compiler: CompilerName;
  readonly longVersion: string;
  /** The installed file; absent if it would have to be downloaded, or is not available. */
  readonly file?: CompilerFile;
  /** Problems with installed files that would have been preferred. */
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

/**
 * Lists every version in the catalogue and on this machine, oldest first, with the installed file. Downloads
 * nothing.
 */
export function listCompilers(sources: CompilerSources): Promise<readonly CompilerEntry[]> {
  return inspect(sources);
}

/**
 * Returns the file of a version, downloading it if necessary.
 * @param version `0.8.30`, or `vyper:0.3.10`
 * @throws FullmatchError as {@link CompilerFinder.find}.
 */
export function fetchCompiler(sources: CompilerSources, version: string): Promise<CompilerFile> {
  const named = splitToolchain(version);
  return new CompilerFinder(sources, named.toolchain).find(named.version);
}

/**
 * Returns the builds of a version: the preferred one, and the soljson, which runs on every machine. Downloads
 * each if necessary.
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

/** Lists the installed builds, in the sense of {@link findBuilds}. */
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
 * Returns the number of versions that the mirror of Solidity's compilers lists; undefined if downloads are
 * disabled.
 * @throws FetchFault if it does not respond; Error if it does not return valid lists
 */
export async function readMirror({ download }: CompilerSources): Promise<number | undefined> {
  if (download === undefined) return undefined;
  const lists = new PublishedLists(download.baseUrl, SOLC.names, download.fetch, Date.now);
  return (await lists.readVersions()).length;
}

/** Reads every installed compiler file again and verifies its checksum. Returns the versions that have files. */
export async function verifyCompilers(sources: CompilerSources): Promise<readonly CompilerEntry[]> {
  clearDigestCache();
  const entries = await inspect(sources);
  return entries.filter(({ file, problems }) => file !== undefined || problems.length > 0);
}
