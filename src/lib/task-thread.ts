import { type Transferable, Worker } from 'node:worker_threads';
import { FairShares, type Share } from './fair-shares.ts';
import { NetworkTurns } from './network-turns.ts';
import { programFile } from './program-file.ts';

/** How a task of a thread failed without an answer. */
export type ThreadFaultKind = 'queue_full' | 'timed_out' | 'out_of_memory' | 'crashed' | 'closed';

/** A task that a thread did not answer. */
export class ThreadFault extends Error {
  override readonly name = 'ThreadFault';
  readonly kind: ThreadFaultKind;

  constructor(kind: ThreadFaultKind, options?: ErrorOptions) {
    super(`thread: ${kind}`, options);
    this.kind = kind;
  }
}

/** What a thread may cost. */
export interface ThreadLimits {
  /** Its JavaScript heap, in bytes. */
  readonly heapBytes: number;
  /** One task, in milliseconds. */
  readonly taskTimeoutMs: number;
  /** How long it stays without a task; its memory goes with it. */
  readonly idleMs: number;
  /** Tasks that may wait. */
  readonly queueLimit: number;
}

interface Task<Question, Answer> {
  readonly question: Question;
  readonly transfer: readonly Transferable[];
  readonly place: Share;
  readonly settle: (answer: Answer) => void;
  readonly fail: (error: Error) => void;
}

const MIB = 2 ** 20;
/** How long a thread works on for somebody who has left, in milliseconds. */
const LEFT_MS = 1_000;

/**
 * A thread that answers one question after the other. It starts with the first question, and again after one that took
 * too long or too much memory. Networks of clients take turns, so that none waits for more than one question of each
 * other. Where as many questions wait as may, the network with most of them gives one up, see {@link FairShares}.
 */
export class TaskThread<Question, Answer> {
  readonly #program: URL;
  readonly #limits: ThreadLimits;
  readonly #workerData: unknown;
  readonly #waiting = new NetworkTurns<Task<Question, Answer>>();
  readonly #places: FairShares;
  #worker: Worker | undefined;
  #current: Task<Question, Answer> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param workerData what the program is given at its start. */
  constructor(program: URL, limits: ThreadLimits, workerData?: unknown) {
    this.#program = program;
    this.#limits = limits;
    this.#workerData = workerData;
    this.#places = new FairShares({ total: limits.queueLimit, perClient: Infinity });
  }

  /**
   * Asks for a client, and hands over the memory of `transfer`. When `signal` fires, a question that still waits is
   * dropped, and the thread ends that works on one for much longer.
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
    signal?.throwIfAborted();
    if (this.#isClosed) throw new ThreadFault('closed');
    return new Promise<Answer>((resolve, reject) => {
      const place = this.#places.open(client, () => {
        if (leave()) task.fail(new ThreadFault('queue_full'));
      });
      const drop = (): void => {
        const reason = signal?.reason as Error;
        if (leave()) task.fail(reason);
        else if (this.#current === task) {
          // Most questions are soon answered, and a new thread costs more than the rest of such a one.
          this.#setTimer(LEFT_MS, () => void this.#end(reason));
        }
      };
      const end = (): void => signal?.removeEventListener('abort', drop);
      const task: Task<Question, Answer> = {
        question,
        transfer,
        place,
        settle: (answer) => {
          end();
          resolve(answer);
        },
        fail: (error) => {
          end();
          reject(error);
        },
      };
      if (place.grow(1) !== 'granted') {
        reject(new ThreadFault('queue_full'));
        return;
      }
      signal?.addEventListener('abort', drop, { once: true });
      const remove = this.#waiting.add(client, task);
      const leave = (): boolean => {
        place.release();
        return remove();
      };
      this.#next();
    });
  }

  /** Fails what waits and ends the thread. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (let task = this.#waiting.next(); task !== undefined; task = this.#waiting.next()) {
      task.place.release();
      task.fail(new ThreadFault('closed'));
    }
    await this.#end(new ThreadFault('closed'));
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const task = this.#waiting.next();
    if (task === undefined) return;
    task.place.release();
    this.#current = task;
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    this.#setTimer(this.#limits.taskTimeoutMs, () => void this.#end(new ThreadFault('timed_out')));
    worker.postMessage(task.question, task.transfer);
  }

  #start(): Worker {
    const { heapBytes } = this.#limits;
    const worker = new Worker(programFile(this.#program), {
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
    this.#next();
  }

  /** Ends the thread; its question fails, and the next one gets a new thread. */
  async #end(fault: Error): Promise<void> {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    const task = this.#current;
    this.#worker = undefined;
    this.#current = undefined;
    await worker?.terminate();
    task?.fail(fault);
    if (!this.#isClosed) this.#next();
  }

  #setTimer(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, ms);
    this.#timer.unref();
  }
}
