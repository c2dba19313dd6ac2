// Obtains compilers and runs them in child processes with bounded time, memory and output.
import { setTimeout as wait } from 'node:timers/promises';
import { FullmatchError, messageOf } from '../errors.ts';
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
import { parseOutput } from './parse-output.ts';
import { followSignals } from './request-ending.ts';
import { type StandardJsonInput, type StandardJsonOutput } from '../solidity/standard-json.ts';
import { toolchainOf, toolchainOfFile, TOOLCHAINS } from './toolchains/all-toolchains.ts';
import { type Toolchain } from './toolchains/toolchain.ts';
import { WarmPool } from './warm-pool.ts';
import { WorkQueue } from './work-queue.ts';

/** How compilers are found, run and kept. */
export interface CompilersOptions {
  readonly sources?: CompilerSources;
  readonly limits?: Partial<CompilerLimits>;
  /** Compilations at once. Default 2. */
  readonly workers?: number;
  /** Bytes that idle compilers may hold together. Default 1 GiB. */
  readonly idleBytes?: number;
  /** Milliseconds after which an idle compiler ends. Default 10 minutes. */
  readonly idleTimeoutMs?: number;
}

/** An input for one version of a compiler. */
export interface CompileRequest {
  /** `solidity`, `yul` or `vyper`. */
  readonly language: string;
  /** `0.8.37`, with or without `v` in front and `+commit.…` behind. */
  readonly version: string;
  readonly input: StandardJsonInput;
  /**
   * The path of the one source that the compiler is given; it asks for the others when it comes to their imports, as it does
   * on a command line. Since 0.6.
   */
  readonly rootSource?: string;
  /** Ends the compilation; it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** A version of a language's compiler, as a request names it. */
export type WantedCompiler = Pick<CompileRequest, 'language' | 'version'>;

/** What a compilation gave. Errors of the sources are in its output. */
export interface CompileResult {
  readonly output: StandardJsonOutput;
  /** The long version that compiled, without `v`. */
  readonly version: string;
  /** Milliseconds of the compilation itself, without waiting and loading. */
  readonly compileTimeMs: number;
}

/** What a compiler wrote, for a reader on another thread: see {@link parseOutput}. */
export interface RawCompileResult extends Omit<CompileResult, 'output'> {
  readonly bytes: Buffer;
}

/** Finds, downloads and runs compilers on this machine, a bounded number at once. */
export interface Compilers {
  /**
   * Compiles in a bounded child process. Nothing is fetched for the input, whatever it imports.
   * @throws FullmatchError invalid_compiler_version, unsupported_compiler_version, unsupported_language,
   * invalid_compiler_input, compiler_unavailable, compiler_checksum_mismatch, compiler_timeout,
   * compiler_out_of_memory, compiler_output_too_large, compiler_crashed, shutting_down; the signal's reason.
   */
  compile(request: CompileRequest): Promise<CompileResult>;
  /** The same, with the output as the compiler wrote it: nothing of it is checked. */
  compileToBytes(request: CompileRequest): Promise<RawCompileResult>;
  /**
   * Loads a compiler for a compilation that will probably follow, where none is ready and not too many are being
   * loaded. The function given back ends it when no compilation has taken it. That compilation reports faults.
   */
  prepare(wanted: WantedCompiler): () => void;
  /**
   * Begins to download a compiler that is not here; undefined where it is here, and where compiling will say at once
   * what is wrong. Never rejects.
   */
  obtain(wanted: WantedCompiler): Promise<CompilerObtained | undefined>;
  /** The long versions of the usual compiler of a language, newest first. */
  listVersions(language: string): Promise<readonly string[]>;
  /** The downloads that are under way. */
  describeDownloads(): readonly DownloadProgress[];
  /** The versions that can compile, by compilers, newest first. */
  listUsable(): Promise<readonly UsableCompiler[]>;
  /** What runs, waits and is kept ready; for health and metrics. */
  describe(): CompilersState;
  /** Ends everything: what waits and runs rejects with shutting_down. Settles when all processes have ended. */
  close(): Promise<void>;
}

/** A compiler that is being downloaded. */
export interface CompilerObtained {
  readonly longVersion: string;
  readonly progress: () => DownloadProgress;
  /** Resolves when it is here, and when it cannot be had now. */
  readonly ended: Promise<void>;
}

/** Counts of compilations and waiting processes, for metrics and health. */
export interface CompilersState {
  readonly running: number;
  readonly waiting: number;
  /** Processes with a loaded compiler that wait, and the bytes that they held when last looked at. */
  readonly idle: number;
  readonly idleBytes: number;
}

const DEFAULT_WORKERS = 2;
const DEFAULT_IDLE_BYTES = 2 ** 30;
const DEFAULT_IDLE_TIMEOUT_MS = 600_000;

/** What is known to fail fails within this time. */
const AT_ONCE_MS = 50;

class BoundedCompilers implements Compilers {
  readonly #limits: CompilerLimits;
  readonly #finders: ReadonlyMap<Toolchain, CompilerFinder>;
  readonly #queue: WorkQueue;
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
    this.#queue = new WorkQueue(options.workers ?? DEFAULT_WORKERS);
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

  async compile(request: CompileRequest): Promise<CompileResult> {
    const { bytes, version, compileTimeMs } = await this.compileToBytes(request);
    return { output: parseOutput(bytes, version), version, compileTimeMs };
  }

  async compileToBytes({
    language,
    version,
    input,
    rootSource,
    signal,
  }: CompileRequest): Promise<RawCompileResult> {
    checkCompilerInput(language, input);
    const ending = followSignals([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
    try {
      ending.signal.throwIfAborted();
      const file = await ending.race(
        this.#finderOf(language, version).find(version, { soljsonOnly: rootSource !== undefined }),
      );
      return await this.#queue.run(
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

  async obtain({ language, version }: WantedCompiler): Promise<CompilerObtained | undefined> {
    try {
      const finder = this.#finderOf(language, version);
      const longVersion = await finder.resolve(version);
      if (!(await finder.needsDownload(longVersion))) return undefined;
      const finding = finder.find(longVersion);
      const ended = finding.then(
        () => undefined,
        () => undefined,
      );
      // What was refused not long ago is refused at once.
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
    return { ...this.#queue.describe(), idle, idleBytes };
  }

  async close(): Promise<void> {
    const reason = new FullmatchError('shutting_down', 'The compilers are shutting down.');
    this.#closing.abort(reason);
    this.#queue.close(reason);
    const finders = [...this.#finders.values()];
    await Promise.all([this.#pool.close(), ...finders.map((finder) => finder.close())]);
  }

  /** Whether a native build answers the smallest input: its loader or its libraries may be missing here. */
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

/** Makes the compilers of this machine ready. Close them to end their processes. */
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
