import { type Transferable, Worker } from 'node:worker_threads';
import { Admission } from './admission.ts';
import { combineSignals } from './combine-signals.ts';

/** Why a task got no answer from its thread. */
export type ThreadFaultKind = 'queue_full' | 'timed_out' | 'out_of_memory' | 'crashed' | 'closed';

/** Thrown for a task that got no answer. */
export class ThreadFault extends Error {
  override readonly name = 'ThreadFault';
  readonly kind: ThreadFaultKind;

  constructor(kind: ThreadFaultKind, options?: ErrorOptions) {
    super(`thread: ${kind}`, options);
    this.kind = kind;
  }
}

/** Resource limits of a thread. */
export interface ThreadLimits {
  /** JavaScript heap size, in bytes. */
  readonly heapBytes: number;
  /** Timeout of a task, in milliseconds. */
  readonly taskTimeoutMs: number;
  /** Time without a task after which the thread ends and frees its memory, in milliseconds. */
  readonly idleMs: number;
  /** Maximum number of waiting tasks. */
  readonly queueLimit: number;
}

interface Task<Answer> {
  readonly settle: (answer: Answer) => void;
  readonly fail: (error: Error) => void;
}

const MIB = 2 ** 20;
/** How long a thread may continue with an abandoned task, in milliseconds. */
const LEFT_MS = 1_000;

/**
 * A thread that answers one question at a time. It starts with the first question, and again after one that
 * exceeded its time or memory. Clients are admitted in turn.
 */
export class TaskThread<Question, Answer> {
  readonly #program: URL;
  readonly #limits: ThreadLimits;
  readonly #workerData: unknown;
  readonly #admission: Admission;
  readonly #closing = new AbortController();
  #worker: Worker | undefined;
  #current: Task<Answer> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param workerData passed to the program on start. */
  constructor(program: URL, limits: ThreadLimits, workerData?: unknown) {
    this.#program = program;
    this.#limits = limits;
    this.#workerData = workerData;
    const places = { total: 1, waiting: limits.queueLimit };
    this.#admission = new Admission(places, () => new ThreadFault('queue_full'));
  }

  /**
   * Asks a question on behalf of a client, and transfers the memory of `transfer`. When `signal` aborts, a
   * waiting question is dropped; if the thread is already working on it, the thread is ended unless it
   * finishes soon.
   * @throws ThreadFault; the reason of `signal`
   */
  async ask(
    question: Question,
    {
      client,
      transfer = [],
      signal,
    }: { client: string; transfer?: readonly Transferable[]; signal?: AbortSignal },
  ): Promise<Answer> {
    const ending = combineSignals([this.#closing.signal, ...(signal ? [signal] : [])]);
    try {
      const work = (): Promise<Answer> => this.#work(question, transfer, signal);
      return await this.#admission.run(client, work, ending.signal);
    } finally {
      ending.release();
    }
  }

  /** Rejects all tasks and ends the thread. */
  async close(): Promise<void> {
    const fault = new ThreadFault('closed');
    this.#closing.abort(fault);
    await this.#end(fault);
  }

  #work(
    question: Question,
    transfer: readonly Transferable[],
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      // Most questions are answered soon, and a new thread costs more than letting the current one finish.
      const drop = (): void =>
        this.#setTimer(LEFT_MS, () => void this.#end(signal?.reason as Error));
      const end = (): void => signal?.removeEventListener('abort', drop);
      this.#current = {
        settle: (answer) => {
          end();
          resolve(answer);
        },
        fail: (error) => {
          end();
          reject(error);
        },
      };
      signal?.addEventListener('abort', drop, { once: true });
      const worker = (this.#worker ??= this.#start());
      worker.ref();
      const { taskTimeoutMs } = this.#limits;
      this.#setTimer(taskTimeoutMs, () => void this.#end(new ThreadFault('timed_out')));
      worker.postMessage(question, transfer);
    });
  }

  #start(): Worker {
    const { heapBytes } = this.#limits;
    const worker = new Worker(this.#program, {
      workerData: this.#workerData,
      resourceLimits: { maxOldGenerationSizeMb: heapBytes / MIB },
    });
    const isOurs = (): boolean => this.#worker === worker;
    worker.on('message', (answer: Answer) => {
      if (isOurs()) this.#settle(answer);
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const kind = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'out_of_memory' : 'crashed';
      if (isOurs()) void this.#end(new ThreadFault(kind, { cause: error }));
    });
    worker.on('exit', () => {
      if (isOurs()) void this.#end(new ThreadFault('crashed'));
    });
    return worker;
  }

  #settle(answer: Answer): void {
    const task = this.#current;
    this.#current = undefined;
    this.#worker?.unref();
    this.#setTimer(this.#limits.idleMs, () => void this.#end(new ThreadFault('closed')));
    task?.settle(answer);
  }

  /** Ends the thread. Its current question fails, and the next one starts a new thread. */
  async #end(fault: Error): Promise<void> {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    const task = this.#current;
    this.#worker = undefined;
    this.#current = undefined;
    await worker?.terminate();
    task?.fail(fault);
  }

  #setTimer(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
    this.#timer.unref();
  }
}
