import { type CompilerFile } from './compiler-file.ts';
import { type CompilerLimits } from './processes/compiler-limits.ts';
import { type Isolation } from './processes/isolation.ts';
import { SoljsonProcess } from './processes/soljson-process.ts';

/** What the pool keeps ready. */
export interface WarmPoolOptions {
  readonly limits: CompilerLimits;
  readonly isolation: Isolation;
  /** Bytes that all idle processes may hold together. */
  readonly idleBytes: number;
  /** Milliseconds after which an idle process ends. */
  readonly idleTimeoutMs: number;
  /** Processes that may be started at once before it is known that they are needed. */
  readonly preparations: number;
}

/** A process that waits for its next compilation. */
interface IdleProcess {
  readonly process: SoljsonProcess;
  readonly timer: NodeJS.Timeout;
  /** Its memory when it became idle; renewed when the pool is trimmed. */
  bytes: number;
}

/** A process that is started before its compilation may begin. */
interface PreparedProcess {
  readonly file: CompilerFile;
  readonly starting: Promise<SoljsonProcess>;
  readonly giveUp: AbortController;
}

/**
 * Keeps processes with loaded compilers for the next compilation with the same version: loading takes most of the time
 * of a small contract. What was used longest ago goes first when the idle ones hold more memory than they may.
 */
export class WarmPool {
  readonly #options: WarmPoolOptions;
  /** The one used longest ago first. */
  #idle: IdleProcess[] = [];
  readonly #busy = new Set<SoljsonProcess>();
  readonly #starting = new Set<Promise<SoljsonProcess>>();
  /** What is started in advance, until somebody acquires it or its preparation is given up. */
  readonly #prepared = new Set<PreparedProcess>();
  readonly #ending = new Set<Promise<void>>();
  #closed = false;

  constructor(options: WarmPoolOptions) {
    this.#options = options;
  }

  /**
   * A process for one compilation: a warm one when there is one, else one that was prepared, else a new one. Give it
   * back by `release`.
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
   * Starts a process for a compilation that will probably follow, unless a warm one waits or too many are being
   * prepared. The function given back ends it when nobody has acquired it: it never takes the place of a warm one.
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

  /** A process that was prepared for the file; the signal ends its start from now on. */
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
    // One that ends while it waits, such as by the system for its memory, holds none any more.
    starting.then(
      (process) => void process.ended.then(() => this.#drop(process)),
      () => undefined,
    );
    return starting;
  }

  /** Takes a process back. One that failed or ended is not kept. */
  async release(process: SoljsonProcess): Promise<void> {
    const bytes = process.usable ? await process.residentBytes() : 0;
    this.#busy.delete(process);
    if (!process.usable || this.#closed) {
      this.#end(process);
      return;
    }
    const timer = setTimeout(() => this.#drop(process), this.#options.idleTimeoutMs);
    // Waiting for nothing must not keep a program alive.
    timer.unref();
    this.#idle.push({ process, timer, bytes });
    await this.#trim();
  }

  /** How many processes wait and work, and what the waiting ones held when they were last looked at. */
  describe(): { readonly idle: number; readonly busy: number; readonly idleBytes: number } {
    return {
      idle: this.#idle.length,
      busy: this.#busy.size,
      idleBytes: this.#idle.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  /** Ends all processes, working ones too, and settles when they have ended. */
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
    // What is still starting sees that the pool is closed when it is released.
    await Promise.allSettled([...this.#ending, ...this.#starting]);
    for (const process of this.#busy) this.#end(process);
    await Promise.allSettled([...this.#ending]);
  }

  /** Ends the longest unused until the rest fits; their memory shrinks after a compilation, so it is read again. */
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
