import { FullmatchError, messageOf } from '../../errors.ts';
import { type CompilerFile, type CompilerSource, type SourceProblem } from '../compiler-file.ts';
import {
  compareVersions,
  findVersion,
  nearestVersions,
  parseCompilerVersion,
  unknownVersion,
} from '../compiler-version.ts';
import { DirectorySource } from './directory-source.ts';
import { type DownloadOptions, DownloadSource } from './download-source.ts';
import { installedSolcFolders, PackageSource } from './package-source.ts';
import { SOLIDITY_CATALOGUE } from './solidity-catalogue.ts';

/** Where compilers come from, in the order in which they are asked: directory, packages, download. */
export interface CompilerSources {
  /** A folder of compilers: `soljson-v<long version>.js` and native `solc-linux-amd64-v<long version>`. */
  readonly directory?: string;
  /** Whether files of the folder are run that neither the catalogue nor a list.json beside them names. Default false. */
  readonly trustUnlisted?: boolean;
  /** Folders of installed npm packages of solc. Default: the one that this program depends on. */
  readonly packages?: readonly string[];
  readonly download?: DownloadOptions;
}

/** A version that a compilation may name. */
export interface UsableCompiler {
  readonly longVersion: string;
  /** Whether it compiles without a download. */
  readonly isInstalled: boolean;
}

/** Finds the file of a version in any of the sources. */
export class CompilerFinder {
  readonly #local: readonly CompilerSource[];
  readonly #download: DownloadSource | undefined;
  readonly #directory: string | undefined;

  constructor(sources: CompilerSources) {
    const { directory, trustUnlisted = false, packages = installedSolcFolders() } = sources;
    this.#directory = directory;
    this.#local = [
      ...(directory === undefined ? [] : [new DirectorySource({ directory, trustUnlisted })]),
      new PackageSource(packages),
    ];
    this.#download = sources.download && new DownloadSource(sources.download);
  }

  /**
   * The checked file of the version that is meant.
   * @throws FullmatchError invalid_compiler_version; unsupported_compiler_version when the version is unknown or no
   * source has it; compiler_checksum_mismatch when what a source has is not what was published; compiler_unavailable
   * when it could not be downloaded now.
   */
  async find(version: string): Promise<CompilerFile> {
    const longVersion = await this.resolve(version);
    const problems: SourceProblem[] = [];
    for (const source of this.#sources()) {
      const found = await source.find(longVersion);
      if (found === undefined) continue;
      if ('file' in found) return found.file;
      problems.push(found.problem);
    }
    throw await this.#describeMissing(longVersion, problems);
  }

  /**
   * The long version that a text names: from the catalogue, from this machine, or from the published list.
   * @throws FullmatchError invalid_compiler_version, unsupported_compiler_version, compiler_unavailable.
   */
  async resolve(version: string): Promise<string> {
    const known = await this.listKnown();
    const found = findVersion(version, known);
    if (found !== undefined) return found;
    if (this.#download === undefined) throw unknownVersion(version, known);
    let published: readonly string[];
    try {
      published = await this.#download.listPublished();
    } catch (error) {
      throw new FullmatchError(
        'compiler_unavailable',
        'The list of published compilers could not be downloaded; try again later.',
        {
          cause: error,
          forOperator: `The list of published compilers could not be downloaded: ${messageOf(error)}`,
        },
      );
    }
    const all = [...known, ...published];
    const listed = findVersion(version, all);
    if (listed === undefined) throw unknownVersion(version, all);
    return listed;
  }

  /** Long versions of the catalogue, then those of this machine. */
  async listKnown(): Promise<readonly string[]> {
    const catalogued = SOLIDITY_CATALOGUE.map(({ longVersion }) => longVersion);
    return [...new Set([...catalogued, ...(await this.#listLocal())])];
  }

  /** What can be had, newest first: what is here and, where compilers are downloaded, all of the catalogue. */
  async listUsable(): Promise<readonly UsableCompiler[]> {
    const here = new Set(await this.#listLocal());
    const versions = this.#download === undefined ? here : await this.listKnown();
    return [...versions]
      .sort((left, right) => compareVersions(right, left))
      .map((longVersion) => ({ longVersion, isInstalled: here.has(longVersion) }));
  }

  /** What would be run for a version without downloading anything: its file, or why there is none. */
  async findHere(
    longVersion: string,
  ): Promise<{ readonly file?: CompilerFile; readonly problems: readonly SourceProblem[] }> {
    const problems: SourceProblem[] = [];
    for (const source of this.#local) {
      const found = await source.find(longVersion);
      if (found === undefined) continue;
      if ('file' in found) return { file: found.file, problems };
      problems.push(found.problem);
    }
    const kept = await this.#download?.findKept(longVersion);
    return kept !== undefined && 'file' in kept ? { file: kept.file, problems } : { problems };
  }

  #sources(): readonly CompilerSource[] {
    return this.#download === undefined ? this.#local : [...this.#local, this.#download];
  }

  async #listLocal(): Promise<readonly string[]> {
    return (await Promise.all(this.#local.map((source) => source.list()))).flat();
  }

  async #describeMissing(
    longVersion: string,
    problems: readonly SourceProblem[],
  ): Promise<FullmatchError> {
    const said = problems.map(({ message }) => ` ${message}`).join('');
    const details = { version: longVersion, problems: problems.map(({ code }) => code) };
    const has = (code: SourceProblem['code']): boolean =>
      problems.some((each) => each.code === code);
    if (has('unavailable')) {
      const message = `Solidity ${longVersion} is not available now; try again later.`;
      const forOperator = `${message}${said}`;
      return new FullmatchError('compiler_unavailable', message, { details, forOperator });
    }
    if (has('checksum')) {
      const message = `Solidity ${longVersion} is refused: its file is not the published one.`;
      const forOperator = `${message}${said}`;
      return new FullmatchError('compiler_checksum_mismatch', message, { details, forOperator });
    }
    const nearest = nearestVersions(
      parseCompilerVersion(longVersion).release,
      await this.#listLocal(),
    );
    const near = nearest.length === 0 ? '' : ` Nearest that are: ${nearest.join(', ')}.`;
    const message = `Solidity ${longVersion} is not installed here.${near}`;
    return new FullmatchError('unsupported_compiler_version', message, {
      details: { ...details, nearest },
      forOperator: `${message} ${this.#howToGet()}${said}`,
    });
  }

  #howToGet(): string {
    return this.#directory === undefined
      ? 'Configure a compiler directory that has it, or a base URL to download compilers from.'
      : `Put it into ${this.#directory}, or configure a base URL to download compilers from.`;
  }
}
