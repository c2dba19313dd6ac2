import path from 'node:path';
import { FullmatchError, messageOf } from '../../errors.ts';
import {
  type CompilerFile,
  type CompilerName,
  type CompilerSource,
  type DownloadProgress,
  type FindOptions,
  type SourceProblem,
} from '../compiler-file.ts';
import {
  compareVersions,
  findVersion,
  isSupported,
  nearestVersions,
  parseCompilerVersion,
  unknownVersion,
} from '../compiler-version.ts';
import { DirectorySource } from './directory-source.ts';
import { type DownloadOptions, DownloadSource } from './download-source.ts';
import { installedSolcFolders, PackageSource } from './package-source.ts';
import { SOLC } from '../toolchains/solc.ts';
import { type Toolchain } from '../toolchains/toolchain.ts';

/** The sources of compilers, in order of precedence: directory, packages, download. */
export interface CompilerSources {
  /**
   * A folder of compilers: `soljson-v<long version>.js`, native `solc-linux-amd64-v<long version>`,
   * `vyper.<long version>.linux`, and `solar-linux-amd64-v<long version>`.
   */
  readonly directory?: string;
  /** Folders of installed npm packages of solc. Default: the one that this program depends on. */
  readonly packages?: readonly string[];
  readonly download?: DownloadOptions;
  /** The same for Vyper, whose builds have another origin. */
  readonly vyperDownload?: DownloadOptions;
  /**
   * Tests whether this machine can run a native build; if not, the soljson of the version is used. Default:
   * no test.
   */
  readonly canRun?: (file: CompilerFile) => Promise<boolean>;
}

/** A version that a compilation may use. */
export interface UsableCompiler {
  readonly compiler: CompilerName;
  readonly longVersion: string;
  /** Whether it can compile without a download. */
  readonly isInstalled: boolean;
  /**
   * Whether the catalogue of this program pins the file; otherwise the checksum comes from a list published
   * with it.
   */
  readonly isPinned: boolean;
}

/** Returns the download options of a compiler; undefined for one that only the operator can install. */
function downloadOf(
  { compiler }: Toolchain,
  { download, vyperDownload }: CompilerSources,
): DownloadOptions | undefined {
  if (compiler === 'solc') return download;
  return compiler === 'vyper' ? vyperDownload : undefined;
}

/** Finds the file of a version in all sources. */
export class CompilerFinder {
  readonly #local: readonly CompilerSource[];
  readonly #download: DownloadSource | undefined;
  readonly #directory: string | undefined;
  readonly #toolchain: Toolchain;
  readonly #canRun: NonNullable<CompilerSources['canRun']>;
  /** Whether this machine can run a native build, by checksum. */
  readonly #runnable = new Map<string, boolean>();

  constructor(sources: CompilerSources, toolchain: Toolchain = SOLC) {
    this.#toolchain = toolchain;
    const { directory, packages = installedSolcFolders() } = sources;
    this.#directory = directory;
    this.#canRun = sources.canRun ?? (() => Promise.resolve(true));
    this.#local = [
      ...(directory === undefined ? [] : [new DirectorySource({ toolchain, directory })]),
      ...(toolchain === SOLC ? [new PackageSource(packages)] : []),
    ];
    const download = downloadOf(toolchain, sources);
    this.#download = download && new DownloadSource(download, toolchain);
  }

  /**
   * Finds a version and returns its verified file.
   * @throws FullmatchError invalid_compiler_version; unsupported_compiler_version if the version is unknown
   * or no source has it; compiler_checksum_mismatch if a source's file differs from the published one;
   * compiler_unavailable if it cannot be downloaded now.
   */
  async find(version: string, options: FindOptions = {}): Promise<CompilerFile> {
    const longVersion = await this.resolve(version);
    const problems: SourceProblem[] = [];
    for (const source of this.#sources()) {
      const file = await this.#findIn(source, longVersion, problems, options);
      if (file !== undefined) return file;
    }
    throw await this.#describeMissing(longVersion, problems);
  }

  /** Returns the download progress of a version; undefined if it is not being downloaded. */
  progressOf(longVersion: string): DownloadProgress | undefined {
    return this.#download?.progressOf(longVersion);
  }

  /** Lists the downloads in progress. */
  describeDownloads(): readonly DownloadProgress[] {
    return this.#download?.underWay() ?? [];
  }

  /** Aborts the downloads in progress and leaves them to other processes. */
  async close(): Promise<void> {
    await this.#download?.close();
  }

  /**
   * Returns whether compiling with the version requires a download.
   * @throws as {@link resolve}
   */
  async needsDownload(longVersion: string): Promise<boolean> {
    if (this.#download === undefined) return false;
    return (await this.findHere(longVersion)).file === undefined;
  }

  /** Returns a source's file that this machine can run: the native build, otherwise the soljson. */
  async #findIn(
    source: Pick<CompilerSource, 'find'>,
    longVersion: string,
    problems: SourceProblem[],
    asked: FindOptions = {},
  ): Promise<CompilerFile | undefined> {
    const ask = async (options: FindOptions): Promise<CompilerFile | undefined> => {
      const found = await source.find(longVersion, options);
      if (found === undefined || 'file' in found) return found?.file;
      problems.push(found.problem);
      return undefined;
    };
    const file = await ask(asked);
    // The operator chose the files in the folder, so their errors are reported and nothing replaces them.
    const isChosen = source !== this.#download;
    if (file === undefined || isChosen || (await this.#isRunnable(file))) return file;
    problems.push({
      code: 'unusable',
      message: `${path.basename(file.path)} cannot be run on this machine.`,
    });
    return ask({ soljsonOnly: true });
  }

  async #isRunnable(file: CompilerFile): Promise<boolean> {
    if (file.kind === 'soljson') return true;
    const isKnown = this.#runnable.get(file.sha256);
    if (isKnown !== undefined) return isKnown;
    const isRunnable = await this.#canRun(file);
    this.#runnable.set(file.sha256, isRunnable);
    return isRunnable;
  }

  /**
   * Resolves a version to its long version, using the catalogue, this machine, or the published list.
   * @throws FullmatchError invalid_compiler_version, unsupported_compiler_version, compiler_unavailable.
   */
  async resolve(version: string): Promise<string> {
    const known = await this.listKnown();
    const found = findVersion(version, known);
    if (found !== undefined) {
      if (this.#isSupported(found)) return found;
      throw unknownVersion(this.#toolchain, version, known);
    }
    if (!this.#isSupported(version)) throw unknownVersion(this.#toolchain, version, known);
    if (this.#download === undefined) throw unknownVersion(this.#toolchain, version, known);
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
    if (listed === undefined || !this.#isSupported(listed))
      throw unknownVersion(this.#toolchain, version, all);
    return listed;
  }

  /** Lists the long versions of the catalogue, then those on this machine. */
  async listKnown(): Promise<readonly string[]> {
    const { longVersions } = this.#toolchain.catalogue;
    return [...new Set([...longVersions, ...(await this.#listLocal())])];
  }

  #isSupported(version: string): boolean {
    return isSupported(this.#toolchain, version);
  }

  /**
   * Lists the available versions, newest first: those installed and, if downloads are enabled, all of the
   * catalogue and of the published list when last read.
   */
  async listUsable(): Promise<readonly UsableCompiler[]> {
    const { compiler, catalogue, names } = this.#toolchain;
    const here = new Map<string, CompilerFile>();
    for (const longVersion of new Set(await this.#listLocal())) {
      const { file } = await this.findHere(longVersion);
      if (file !== undefined && this.#isSupported(longVersion)) here.set(longVersion, file);
    }
    // The build that is published for every machine, if there is one.
    const anyKind = names.listFolders === undefined ? 'native' : 'soljson';
    const offered =
      this.#download === undefined
        ? []
        : [
            ...catalogue.longVersions,
            ...this.#download.listKnownPublished().filter((each) => this.#isSupported(each)),
          ];
    return [...new Set([...here.keys(), ...offered])]
      .sort((left, right) => compareVersions(right, left))
      .map((longVersion) => ({
        compiler,
        longVersion,
        isInstalled: here.has(longVersion),
        isPinned: here.get(longVersion)?.pinned ?? catalogue.pins(longVersion, anyKind),
      }));
  }

  /** Returns the file for a version without downloading anything, or the problems that prevent it. */
  async findHere(
    longVersion: string,
    options: FindOptions = {},
  ): Promise<{ readonly file?: CompilerFile; readonly problems: readonly SourceProblem[] }> {
    const problems: SourceProblem[] = [];
    const download = this.#download;
    const kept = download && {
      find: (version: string, options?: FindOptions) => download.findKept(version, options),
    };
    for (const source of [...this.#local, ...(kept === undefined ? [] : [kept])]) {
      const file = await this.#findIn(source, longVersion, problems, options);
      if (file !== undefined) return { file, problems };
    }
    return { problems };
  }

  #sources(): readonly CompilerSource[] {
    return this.#download === undefined ? this.#local : [...this.#local, this.#download];
  }

  async #listLocal(): Promise<readonly string[]> {
    return (await Promise.all(this.#sources().map((source) => source.list()))).flat();
  }

  async #describeMissing(
    longVersion: string,
    problems: readonly SourceProblem[],
  ): Promise<FullmatchError> {
    const reasons = problems.map(({ message }) => ` ${message}`).join('');
    const { label, downloadSetting } = this.#toolchain;
    const details = { version: longVersion, problems: problems.map(({ code }) => code) };
    const has = (code: SourceProblem['code']): boolean =>
      problems.some((each) => each.code === code);
    if (has('unavailable')) {
      const message = `${label} ${longVersion} is not available now; try again later.`;
      const forOperator = `${message}${reasons}`;
      return new FullmatchError('compiler_unavailable', message, { details, forOperator });
    }
    if (has('checksum')) {
      const message = `${label} ${longVersion} is rejected: its file differs from the published one.`;
      const forOperator = `${message}${reasons}`;
      return new FullmatchError('compiler_checksum_mismatch', message, { details, forOperator });
    }
    const usable = (await this.listUsable()).filter(({ isInstalled }) => isInstalled);
    const nearest = nearestVersions(
      parseCompilerVersion(longVersion).release,
      usable.map((each) => each.longVersion).filter((each) => each !== longVersion),
    );
    const near = nearest.length === 0 ? '' : ` Nearest that are: ${nearest.join(', ')}.`;
    const orDownload =
      downloadSetting === undefined
        ? ''
        : `, or let the service download compilers (${downloadSetting})`;
    const message = `${label} ${longVersion} is not installed here; the operator can install it${orDownload}.${near}`;
    return new FullmatchError('unsupported_compiler_version', message, {
      details: { ...details, nearest },
      forOperator: `${message} ${this.#howToGet()}${reasons}`,
    });
  }

  #howToGet(): string {
    const { downloadSetting } = this.#toolchain;
    const prefetch = 'run "fullmatch compilers prefetch" with a bundle that has it';
    const ways =
      downloadSetting === undefined ? `or ${prefetch}` : `${prefetch}, or set ${downloadSetting}`;
    return this.#directory === undefined
      ? `To use it, configure a compiler folder that contains it, ${ways}.`
      : `To use it, put it into ${this.#directory}, ${ways}.`;
  }
}
