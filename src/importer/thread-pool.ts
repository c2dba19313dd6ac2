import { availableParallelism } from 'node:os';
import { TaskThread, ThreadFault } from '../lib/task-thread.ts';

const MIB = 2 ** 20;
/** Timeout of a request. Requests are bounded in bytes, so no valid one takes that long. */
const TASK_TIMEOUT_MS = 10 * 60_000;
const LIMITS = {
  heapBytes: 1024 * MIB,
  taskTimeoutMs: TASK_TIMEOUT_MS,
  idleMs: TASK_TIMEOUT_MS,
  queueLimit: 1_000,
};
const MAX_THREADS = 8;
/** An import has a single client, so fairness does not matter. */
const CLIENT = 'import';

/** A pool of threads that run one program, one for each processor; each handles requests in sequence. */
export class ThreadPool<Question, Answer> {
  readonly #threads: { readonly thread: TaskThread<Question, Answer>; pending: number }[];

  constructor(program: URL) {
    const count = Math.min(MAX_THREADS, availableParallelism());
    this.#threads = Array.from({ length: count }, () => ({
      thread: new TaskThread<Question, Answer>(program, LIMITS),
      pending: 0,
    }));
  }

  get count(): number {
    return this.#threads.length;
  }

  /**
   * Sends a request to the least busy thread.
   * @throws ThreadFault
   */
  async ask(question: Question): Promise<Answer> {
    const [free] = [...this.#threads].sort((left, right) => left.pending - right.pending);
    if (free === undefined) throw new ThreadFault('closed');
    free.pending += 1;
    try {
      return await free.thread.ask(question, { client: CLIENT });
    } finally {
      free.pending -= 1;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map(({ thread }) => thread.close()));
  }
}
