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

/** Where compilers come from, in the order in which they are asked: directory, packages, download. */
export interface CompilerSources {
  /**
   * A folder of compilers: `soljson-v<long version>.js`, native `solc-linux-amd64-v<long version>`,
   * `vyper.<long version>.linux`, and `solar-linux-amd64-v<long version>`.
   */
  readonly directory?: string;
  /** Whether files of the folder are run that neither the catalogue nor a list.json beside them names. Default false. */
  readonly trustUnlisted?: boolean;
  /** Folders of installed npm packages of solc. Default: the one that this program depends on. */
  readonly packages?: readonly string[];
  readonly download?: DownloadOptions;
  /** The same for Vyper, whose builds lie elsewhere. */
  readonly vyperDownload?: DownloadOptions;
  /**
   * Whether this machine can run a native build; the soljson of the version is taken where it cannot. Default: nobody asks.
   */
  readonly canRun?: (file: CompilerFile) => Promise<boolean>;
}

/** A version that a compilation may name. */
export interface UsableCompiler {
  readonly compiler: CompilerName;
  readonly longVersion: string;
  /** Whether it compiles without a download. */
  readonly isInstalled: boolean;
  /** Whether the catalogue of this program pins what is run; else the word of a list that came with the file counts. */
  readonly isPinned: boolean;
}

/** Where the builds of a compiler are downloaded from; nowhere for one that only the operator has. */
function downloadOf(
  { compiler }: Toolchain,
  { download, vyperDownload }: CompilerSources,
): DownloadOptions | undefined {
  if (compiler === 'solc') return download;
  return compiler === 'vyper' ? vyperDownload : undefined;
}

/** Finds the file of a version in any of the sources. */
export class CompilerFinder {
  readonly #local: readonly CompilerSource[];
  readonly #download: DownloadSource | undefined;
  readonly #directory: string | undefined;
  readonly #toolchain: Toolchain;
  readonly #canRun: NonNullable<CompilerSources['canRun']>;
  /** Whether this machine can run the native builds that were tried, by their checksums. */
  readonly #runnable = new Map<string, boolean>();

  constructor(sources: CompilerSources, toolchain: Toolchain = SOLC) {
    this.#toolchain = toolchain;
    const { directory, trustUnlisted = false, packages = installedSolcFolders() } = sources;
    this.#directory = directory;
    this.#canRun = sources.canRun ?? (() => Promise.resolve(true));
    this.#local = [
      ...(directory === undefined
        ? []
        : [new DirectorySource({ toolchain, directory, trustUnlisted })]),
      ...(toolchain === SOLC ? [new PackageSource(packages)] : []),
    ];
    const download = downloadOf(toolchain, sources);
    this.#download = download && new DownloadSource(download, toolchain);
  }

  /**
   * The checked file of the version that is meant.
   * @throws FullmatchError invalid_compiler_version; unsupported_compiler_version when the version is unknown or no
   * source has it; compiler_checksum_mismatch when what a source has is not what was published; compiler_unavailable
   * when it could not be downloaded now.
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

  /**
   * How far the download of a version has come that is meant by the text; undefined where none is under way.
   */
  progressOf(longVersion: string): DownloadProgress | undefined {
    return this.#download?.progressOf(longVersion);
  }

  /** The downloads that are under way. */
  describeDownloads(): readonly DownloadProgress[] {
    return this.#download?.underWay() ?? [];
  }

  /** Ends the downloads under way, and leaves them to other processes. */
  async close(): Promise<void> {
    await this.#download?.close();
  }

  /** Whether compiling with the version would have to wait for a download. @throws as {@link resolve} */
  async needsDownload(longVersion: string): Promise<boolean> {
    if (this.#download === undefined) return false;
    return (await this.findHere(longVersion)).file === undefined;
  }

  /** The file of a source that this machine can run: the native build, else the soljson. */
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
    // The operator chose what lies in the folder: its faults are told, and nothing else takes its place.
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
   * The long version that a text names: from the catalogue, from this machine, or from the published list.
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

  /** Long versions of the catalogue, then those of this machine. */
  async listKnown(): Promise<readonly string[]> {
    const { longVersions } = this.#toolchain.catalogue;
    return [...new Set([...longVersions, ...(await this.#listLocal())])];
  }

  #isSupported(version: string): boolean {
    return isSupported(this.#toolchain, version);
  }

  /**
   * What can be had, newest first: what is here and would be run and, where compilers are downloaded, all of the catalogue
   * and what the published list had when it was read last.
   */
  async listUsable(): Promise<readonly UsableCompiler[]> {
    const { compiler, catalogue, names } = this.#toolchain;
    const here = new Map<string, CompilerFile>();
    for (const longVersion of new Set(await this.#listLocal())) {
      const { file } = await this.findHere(longVersion);
      if (file !== undefined && this.#isSupported(longVersion)) here.set(longVersion, file);
    }
    // What is published for every machine, where there is such a build.
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

  /** What would be run for a version without downloading anything: its file, or why there is none. */
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
    const said = problems.map(({ message }) => ` ${message}`).join('');
    const { label, downloadSetting } = this.#toolchain;
    const details = { version: longVersion, problems: problems.map(({ code }) => code) };
    const has = (code: SourceProblem['code']): boolean =>
      problems.some((each) => each.code === code);
    if (has('unavailable')) {
      const message = `${label} ${longVersion} is not available now; try again later.`;
      const forOperator = `${message}${said}`;
      return new FullmatchError('compiler_unavailable', message, { details, forOperator });
    }
    if (has('checksum')) {
      const message = `${label} ${longVersion} is rejected: its file differs from the published one.`;
      const forOperator = `${message}${said}`;
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
      forOperator: `${message} ${this.#howToGet()}${said}`,
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
