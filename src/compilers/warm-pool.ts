import { type CompilerFile } from './compiler-file.ts';
import { type CompilerLimits } from './processes/compiler-limits.ts';
import { type Isolation } from './processes/isolation.ts';
import { SoljsonProcess } from './processes/soljson-process.ts';

/** Options of the pool. */
export interface WarmPoolOptions {
  readonly limits: CompilerLimits;
  readonly isolation: Isolation;
  /** Total memory limit of all idle processes, in bytes. */
  readonly idleBytes: number;
  /** Time after which an idle process ends, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Limit on the processes that are started in advance. */
  readonly preparations: number;
}

/** A process that waits for its next compilation. */
interface IdleProcess {
  readonly process: SoljsonProcess;
  readonly timer: NodeJS.Timeout;
  /** Its memory when it became idle; updated when the pool is trimmed. */
  bytes: number;
}

/** A process started in advance of its compilation. */
interface PreparedProcess {
  readonly file: CompilerFile;
  readonly starting: Promise<SoljsonProcess>;
  readonly giveUp: AbortController;
}

/**
 * Keeps processes with loaded compilers for the next compilation with the same version: loading takes most of
 * the time of a small contract. If the idle processes exceed their memory limit, the least recently used is
 * ended first.
 */
export class WarmPool {
  readonly #options: WarmPoolOptions;
  /** Least recently used first. */
  #idle: IdleProcess[] = [];
  readonly #busy = new Set<SoljsonProcess>();
  readonly #starting = new Set<Promise<SoljsonProcess>>();
  /** Processes started in advance, until they are acquired or abandoned. */
  readonly #prepared = new Set<PreparedProcess>();
  readonly #ending = new Set<Promise<void>>();
  #closed = false;

  constructor(options: WarmPoolOptions) {
    this.#options = options;
  }

  /**
   * Acquires a process for one compilation: an idle one, otherwise a prepared one, otherwise a new one.
   * Return it with `release`.
   * @throws as {@link SoljsonProcess.start}.
   */
  async acquire(file: CompilerFile, signal?: AbortSignal): Promise<SoljsonProcess> {
    for (let index = this.#idle.length - 1; index >= 0; index -= 1) {
      const idle = this.#idle[index];
      if (idle?.process.file.sha256 !== file.sha256) continue;
      this.#idle.splice(index, 1);
      clearTimeout(idle.timer);
      if (!idle.process.usable) continue;
      this.#busy.add(idle.process);
      return idle.process;
    }
    const starting = this.#claim(file, signal) ?? this.#start(file, signal);
    const started = await starting;
    this.#busy.add(started);
    return started;
  }

  /**
   * Starts a process for a likely compilation, unless an idle one is available or too many are being
   * prepared. The returned function ends it if nothing acquired it: it never displaces an idle one.
   */
  prepare(file: CompilerFile): () => void {
    const isWarm = this.#idle.some(({ process }) => process.file.sha256 === file.sha256);
    if (this.#closed || isWarm || this.#prepared.size >= this.#options.preparations) {
      return () => undefined;
    }
    const giveUp = new AbortController();
    const prepared = { file, giveUp, starting: this.#start(file, giveUp.signal) };
    this.#prepared.add(prepared);
    // The failure is reported to the compilation that acquires the process.
    prepared.starting.catch(() => undefined);
    return () => {
      if (this.#prepared.delete(prepared)) this.#discard(prepared);
    };
  }

  /** Returns a process that was prepared for the file; from now on, the signal aborts its start. */
  #claim(file: CompilerFile, signal?: AbortSignal): Promise<SoljsonProcess> | undefined {
    const found = [...this.#prepared].find((each) => each.file.sha256 === file.sha256);
    if (found === undefined) return undefined;
    this.#prepared.delete(found);
    const cancel = (): void => found.giveUp.abort(signal?.reason);
    signal?.addEventListener('abort', cancel, { once: true });
    const settled = (): void => signal?.removeEventListener('abort', cancel);
    found.starting.then(settled, settled);
    return found.starting;
  }

  #discard({ starting, giveUp }: PreparedProcess): void {
    giveUp.abort();
    starting.then(
      (process) => this.#end(process),
      () => undefined,
    );
  }

  #start(file: CompilerFile, signal?: AbortSignal): Promise<SoljsonProcess> {
    const starting = SoljsonProcess.start(file, this.#options, signal);
    this.#starting.add(starting);
    const settled = (): void => void this.#starting.delete(starting);
    starting.then(settled, settled);
    // An idle process may be killed, for example by the system's OOM killer, and then uses no memory.
    starting.then(
      (process) => void process.ended.then(() => this.#drop(process)),
      () => undefined,
    );
    return starting;
  }

  /** Returns a process to the pool. A failed or ended process is not kept. */
  async release(process: SoljsonProcess): Promise<void> {
    const bytes = process.usable ? await process.residentBytes() : 0;
    this.#busy.delete(process);
    if (!process.usable || this.#closed) {
      this.#end(process);
      return;
    }
    const timer = setTimeout(() => this.#drop(process), this.#options.idleTimeoutMs);
    // The timer must not keep the program alive.
    timer.unref();
    this.#idle.push({ process, timer, bytes });
    await this.#trim();
  }

  /** Returns the numbers of idle and busy processes, and the memory of the idle ones when last measured. */
  describe(): { readonly idle: number; readonly busy: number; readonly idleBytes: number } {
    return {
      idle: this.#idle.length,
      busy: this.#busy.size,
      idleBytes: this.#idle.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  /** Ends all processes, including busy ones, and settles when they have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { process, timer } of this.#idle) {
      clearTimeout(timer);
      this.#end(process);
    }
    this.#idle = [];
    for (const prepared of this.#prepared) this.#discard(prepared);
    this.#prepared.clear();
    for (const process of this.#busy) this.#end(process);
    // A process that is still starting is ended on release, since the pool is closed.
    await Promise.allSettled([...this.#ending, ...this.#starting]);
    for (const process of this.#busy) this.#end(process);
    await Promise.allSettled([...this.#ending]);
  }

  /**
   * Ends the least recently used processes until the rest fits. Their memory shrinks after a compilation, so
   * it is measured again.
   */
  async #trim(): Promise<void> {
    const total = (): number => this.describe().idleBytes;
    if (total() <= this.#options.idleBytes) return;
    await Promise.all(
      this.#idle.map(async (idle) => {
        idle.bytes = await idle.process.residentBytes();
      }),
    );
    while (total() > this.#options.idleBytes) {
      const oldest = this.#idle[0];
      if (oldest === undefined) return;
      this.#drop(oldest.process);
    }
  }

  #drop(process: SoljsonProcess): void {
    const idle = this.#idle.find((each) => each.process === process);
    if (idle === undefined) return;
    clearTimeout(idle.timer);
    this.#idle = this.#idle.filter((each) => each !== idle);
    this.#end(process);
  }

  #end(process: SoljsonProcess): void {
    const ending = process.end('shutting_down', 'was ended');
    this.#ending.add(ending);
    void ending.finally(() => this.#ending.delete(ending));
  }
}
