// Obtains compilers and runs them in child processes with limits on time, memory and output.
import { setTimeout as wait } from 'node:timers/promises';
import { FullmatchError, messageOf } from '../errors.ts';
import { Admission } from '../lib/admission.ts';
import { type Logger } from '../log.ts';
import { checkCompilerInput } from './check-input.ts';
import { type CompilerFile, type DownloadProgress } from './compiler-file.ts';
import {
  CompilerFinder,
  type CompilerSources,
  type UsableCompiler,
} from './sources/compiler-finder.ts';
import { type CompilerLimits, DEFAULT_LIMITS } from './processes/compiler-limits.ts';
import { type Isolation, probeIsolation, reportIsolation } from './processes/isolation.ts';
import { runNative } from './processes/native-process.ts';
import { combineSignals } from '../lib/combine-signals.ts';
import { type StandardJsonInput } from '../solidity/standard-json.ts';
import { toolchainOf, toolchainOfFile, TOOLCHAINS } from './toolchains/all-toolchains.ts';
import { type Toolchain } from './toolchains/toolchain.ts';
import { WarmPool } from './warm-pool.ts';

/** Options for finding, running and caching compilers. */
export interface CompilersOptions {
  readonly sources?: CompilerSources;
  readonly limits?: Partial<CompilerLimits>;
  /** Number of concurrent compilations. Default 2. */
  readonly workers?: number;
  /** Total memory limit of idle compilers, in bytes. Default 1 GiB. */
  readonly idleBytes?: number;
  /** Time after which an idle compiler is ended, in milliseconds. Default 10 minutes. */
  readonly idleTimeoutMs?: number;
}

/** An input for one version of a compiler. */
export interface CompileRequest {
  /** `solidity`, `yul` or `vyper`. */
  readonly language: string;
  /** `0.8.37`, with or without a leading `v` and a trailing `+commit.<hash>`. */
  readonly version: string;
  readonly input: StandardJsonInput;
  /**
   * Path of the only source passed to the compiler, which requests the others when it reaches their imports,
   * as on a command line. Since 0.6.
   */
  readonly rootSource?: string;
  /** Aborts the compilation, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** A compiler, identified by language and version as in a request. */
export type WantedCompiler = Pick<CompileRequest, 'language' | 'version'>;

/**
 * A compiler's raw output, to be read with {@link parseOutput}, on another thread if it can be large. Errors in
 * the sources are part of it.
 */
export interface RawCompileResult {
  readonly bytes: Buffer;
  /** The compiler's long version, without `v`. */
  readonly version: string;
  /** Time of the compilation itself, without waiting and loading, in milliseconds. */
  readonly compileTimeMs: number;
}

/** Finds, downloads and runs compilers on this machine, with limited concurrency. */
export interface Compilers {
  /**
   * Compiles in a limited child process, and returns the raw output without any check. Never fetches anything for
   * the input, whatever it imports.
   * @throws FullmatchError invalid_compiler_version, unsupported_compiler_version, unsupported_language,
   * invalid_compiler_input, compiler_unavailable, compiler_checksum_mismatch, compiler_timeout,
   * compiler_out_of_memory, compiler_output_too_large, compiler_crashed, shutting_down; the signal's reason.
   */
  compileToBytes(request: CompileRequest): Promise<RawCompileResult>;
  /**
   * Preloads a compiler for a likely compilation, unless one is ready or too many are being loaded. The
   * returned function ends it if no compilation used it. Errors are reported by the compilation.
   */
  prepare(wanted: WantedCompiler): () => void;
  /**
   * Starts the download of a compiler that is not on this machine. Returns undefined if it is, or if
   * compiling will fail immediately. Never rejects.
   */
  obtain(wanted: WantedCompiler): Promise<PendingCompiler | undefined>;
  /** Lists the long versions of the default compiler of a language, newest first. */
  listVersions(language: string): Promise<readonly string[]>;
  /** Lists the downloads in progress. */
  describeDownloads(): readonly DownloadProgress[];
  /** Lists the available versions per compiler, newest first. */
  listUsable(): Promise<readonly UsableCompiler[]>;
  /** Returns the numbers of running, waiting and idle compilers, for health and metrics. */
  describe(): CompilersState;
  /**
   * Closes everything: waiting and running compilations reject with shutting_down. Settles when all processes
   * have ended.
   */
  close(): Promise<void>;
}

/** A compiler that is being downloaded. */
export interface PendingCompiler {
  readonly longVersion: string;
  readonly progress: () => DownloadProgress;
  /** Resolves when the download has ended, successfully or not. */
  readonly ended: Promise<void>;
}

/** Numbers of compilations and idle processes, for metrics and health. */
export interface CompilersState {
  readonly running: number;
  readonly waiting: number;
  /** Number of idle processes with a loaded compiler, and their memory when last measured. */
  readonly idle: number;
  readonly idleBytes: number;
}

const DEFAULT_WORKERS = 2;
const DEFAULT_IDLE_BYTES = 2 ** 30;
const DEFAULT_IDLE_TIMEOUT_MS = 600_000;

/** Compilations have one queue: fairness between clients is decided where jobs are admitted. */
const EVERYONE = 'everyone';

/** Known failures are returned within this time. */
const AT_ONCE_MS = 50;

class BoundedCompilers implements Compilers {
  readonly #limits: CompilerLimits;
  readonly #finders: ReadonlyMap<Toolchain, CompilerFinder>;
  readonly #queue: Admission;
  readonly #pool: WarmPool;
  readonly #isolation: Isolation;
  readonly #log: Logger;
  readonly #closing = new AbortController();

  constructor(options: CompilersOptions, isolation: Isolation, log: Logger) {
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const sources = {
      canRun: (file: CompilerFile) => this.#canRun(file),
      ...options.sources,
    };
    this.#finders = new Map(
      TOOLCHAINS.map((toolchain) => [toolchain, new CompilerFinder(sources, toolchain)]),
    );
    this.#queue = new Admission({ total: options.workers ?? DEFAULT_WORKERS, waiting: Infinity });
    this.#isolation = isolation;
    this.#log = log;
    this.#pool = new WarmPool({
      limits: this.#limits,
      isolation,
      idleBytes: options.idleBytes ?? DEFAULT_IDLE_BYTES,
      idleTimeoutMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
      preparations: options.workers ?? DEFAULT_WORKERS,
    });
  }

  async compileToBytes({
    language,
    version,
    input,
    rootSource,
    signal,
  }: CompileRequest): Promise<RawCompileResult> {
    checkCompilerInput(language, input);
    const ending = combineSignals([
      this.#closing.signal,
      ...(signal === undefined ? [] : [signal]),
    ]);
    try {
      ending.signal.throwIfAborted();
      const file = await ending.race(
        this.#finderOf(language, version).find(version, { soljsonOnly: rootSource !== undefined }),
      );
      return await this.#queue.run(
        EVERYONE,
        () => this.#runLogged(file, input, rootSource, ending.signal),
        ending.signal,
      );
    } finally {
      ending.release();
    }
  }

  /** @throws FullmatchError unsupported_language */
  #finderOf(language: string, version?: string): CompilerFinder {
    const finder = this.#finders.get(toolchainOf(language, version));
    if (finder === undefined) throw new Error(`no finder for ${language}`);
    return finder;
  }

  prepare({ language, version }: WantedCompiler): () => void {
    let giveUp: (() => void) | undefined;
    let isGivenUp = this.#closing.signal.aborted;
    const load = async (): Promise<void> => {
      const file = await this.#finderOf(language, version).find(version);
      if (!isGivenUp && file.kind === 'soljson') giveUp = this.#pool.prepare(file);
    };
    if (!isGivenUp) load().catch(() => undefined);
    return () => {
      isGivenUp = true;
      giveUp?.();
    };
  }

  async obtain({ language, version }: WantedCompiler): Promise<PendingCompiler | undefined> {
    try {
      const finder = this.#finderOf(language, version);
      const longVersion = await finder.resolve(version);
      if (!(await finder.needsDownload(longVersion))) return undefined;
      const finding = finder.find(longVersion);
      const ended = finding.then(
        () => undefined,
        () => undefined,
      );
      // A recent failure is returned immediately.
      if ((await Promise.race([ended, wait(AT_ONCE_MS, 'late')])) !== 'late') return undefined;
      const none = { longVersion, receivedBytes: 0 };
      return {
        longVersion,
        progress: () => finder.progressOf(longVersion) ?? none,
        ended,
      };
    } catch {
      return undefined;
    }
  }

  describeDownloads(): readonly DownloadProgress[] {
    return [...this.#finders.values()].flatMap((finder) => finder.describeDownloads());
  }

  async listUsable(): Promise<readonly UsableCompiler[]> {
    const finders = [...this.#finders.values()];
    return (await Promise.all(finders.map((finder) => finder.listUsable()))).flat();
  }

  async listVersions(language: string): Promise<readonly string[]> {
    const usable = await this.#finderOf(language).listUsable();
    return usable.map(({ longVersion }) => longVersion);
  }

  describe(): CompilersState {
    const { idle, idleBytes } = this.#pool.describe();
    const { running, waiting } = this.#queue;
    return { running, waiting, idle, idleBytes };
  }

  async close(): Promise<void> {
    const reason = new FullmatchError('shutting_down', 'The compilers are shutting down.');
    this.#closing.abort(reason);
    const finders = [...this.#finders.values()];
    await Promise.all([this.#pool.close(), ...finders.map((finder) => finder.close())]);
  }

  /**
   * Tests whether a native build compiles the smallest input: its loader or libraries may be missing on this
   * machine.
   */
  async #canRun(file: CompilerFile): Promise<boolean> {
    try {
      const signal = this.#closing.signal;
      const limits = { limits: this.#limits, isolation: this.#isolation, signal };
      const output = await runNative(
        file,
        Buffer.from(JSON.stringify(toolchainOfFile(file).smallestInput)),
        limits,
      );
      JSON.parse(output.toString('utf8'));
      return true;
    } catch (error) {
      if (this.#closing.signal.aborted) throw error;
      const facts = { event: 'native_compiler_unusable', compiler: file.longVersion };
      this.#log.warn(
        { ...facts, error: messageOf(error) },
        'a native compiler cannot be run on this system',
      );
      return false;
    }
  }

  async #runLogged(
    file: CompilerFile,
    input: StandardJsonInput,
    rootSource: string | undefined,
    signal: AbortSignal,
  ): Promise<RawCompileResult> {
    const started = performance.now();
    const compiler = file.longVersion;
    try {
      const result = await this.#run(file, Buffer.from(JSON.stringify(input)), rootSource, signal);
      this.#log.debug({ compiler, compile_ms: result.compileTimeMs }, 'compiled');
      return result;
    } catch (error) {
      const code = error instanceof FullmatchError ? error.code : undefined;
      const took = Math.round(performance.now() - started);
      this.#log.debug({ compiler, code, took_ms: took }, 'not compiled');
      throw error;
    }
  }

  async #run(
    file: CompilerFile,
    input: Buffer,
    rootSource: string | undefined,
    signal: AbortSignal,
  ): Promise<RawCompileResult> {
    const result =
      file.kind === 'native'
        ? await this.#runNative(file, input, signal)
        : await this.#runSoljson(file, input, rootSource, signal);
    return { ...result, version: file.longVersion };
  }

  async #runNative(file: CompilerFile, input: Buffer, signal: AbortSignal): Promise<ProcessResult> {
    const started = performance.now();
    const limits = { limits: this.#limits, isolation: this.#isolation, signal };
    const bytes = await runNative(file, input, limits);
    return { bytes, compileTimeMs: Math.round(performance.now() - started) };
  }

  async #runSoljson(
    file: CompilerFile,
    input: Buffer,
    rootSource: string | undefined,
    signal: AbortSignal,
  ): Promise<ProcessResult> {
    const process = await this.#pool.acquire(file, signal);
    const cancel = (): void => void process.end('shutting_down', 'was cancelled');
    signal.addEventListener('abort', cancel, { once: true });
    try {
      if (signal.aborted) cancel();
      const started = performance.now();
      const bytes = await process.compile(input, rootSource);
      return { bytes, compileTimeMs: Math.round(performance.now() - started) };
    } finally {
      signal.removeEventListener('abort', cancel);
      await this.#pool.release(process);
      signal.throwIfAborted();
    }
  }
}

interface ProcessResult {
  readonly bytes: Buffer;
  readonly compileTimeMs: number;
}

/** Creates the compilers of this machine. Close them to end their processes. */
export async function createCompilers(options: CompilersOptions, log: Logger): Promise<Compilers> {
  const isolation = await probeIsolation();
  const report = reportIsolation(isolation);
  const { unprivilegedUser, ownFilesOnly, withoutNetwork } = report;
  const facts = {
    event: 'compiler_isolation',
    unprivileged_user: unprivilegedUser,
    own_files_only: ownFilesOnly,
    without_network: withoutNetwork,
  };
  if (Object.values(report).every(Boolean)) log.debug(facts, 'native compilers are isolated');
  else log.warn(facts, 'this system does not isolate native compilers fully');
  return new BoundedCompilers(options, isolation, log);
}
