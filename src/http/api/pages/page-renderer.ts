import { createHash } from 'node:crypto';
import { packageFile } from '../../../lib/package-file.ts';
import { TaskThread, type ThreadLimits } from '../../../lib/task-thread.ts';
import { type Requester } from '../../records/record-responder.ts';
import { tooManyResponses } from '../../records/overload-errors.ts';
import { toThreadError } from '../../thread-errors.ts';
import {
  type PageThreadMessage,
  type PageFiles,
  type PageStep,
  type PageTask,
} from './page-thread.ts';
import { type PrefetchedResponse } from './server-bundle.ts';
import { pageTooLarge, TooLargePages } from './too-large-pages.ts';

/** Resource limits of the page threads. */
export interface PageLimits {
  /** Limits of the thread for pages with little data, which never wait for large pages. */
  readonly small: ThreadLimits;
  readonly large: ThreadLimits;
}

const MIB = 2 ** 20;
/** Pages with less data than this take milliseconds; most pages are smaller. */
const SMALL_BYTES = 2 ** 18;
/** Most data of one page: pages in the queue of a thread hold their data. */
const MAX_BYTES = 8 * MIB;
/** Long documents of the service itself; a thread parses each only once per change. */
const KEPT_DOCUMENTS = ['v1/registry', 'v1/statistics'];
/** A thread starts with its first task. The thread for small pages stays alive, so that they are served at once. */
export const PAGE_LIMITS: PageLimits = {
  small: { heapBytes: 128 * MIB, taskTimeoutMs: 10_000, queueLimit: 256, idleMs: 3_600_000 },
  large: { heapBytes: 384 * MIB, taskTimeoutMs: 15_000, queueLimit: 16, idleMs: 30_000 },
};

/**
 * Writes pages off the main thread. Pages with much data have a thread of their own. A page that exceeds its
 * time or memory is refused for a while.
 */
export class PageRenderer {
  readonly #small: TaskThread<PageTask, PageThreadMessage>;
  readonly #large: TaskThread<PageTask, PageThreadMessage>;
  readonly #tooLarge = new TooLargePages();

  constructor(files: PageFiles, { small, large }: PageLimits) {
    const program = packageFile('dist/http/api/pages/page-thread.js');
    this.#small = new TaskThread(program, small, files);
    this.#large = new TaskThread(program, large, files);
  }

  /** Returns whether a page with these responses belongs to the thread for large pages. */
  isLarge(answers: readonly PrefetchedResponse[]): boolean {
    return sizeOf(answers) > SMALL_BYTES;
  }

  /**
   * Writes a page, or returns the responses that must be read first.
   * @throws FullmatchError page_too_large, too_many_answers, shutting_down; the reason of the requester's
   * signal
   */
  async advance(task: PageTask, { client, signal }: Requester): Promise<PageStep> {
    if (sizeOf(task.answers) > MAX_BYTES) throw pageTooLarge();
    const thread = this.isLarge(task.answers) ? this.#large : this.#small;
    return this.#tooLarge.write(keyOf(task), signal, async (either) => {
      try {
        const step = await thread.ask(task, { client, signal: either });
        if ('failed' in step) throw new Error(`a page could not be written: ${step.failed}`);
        return step;
      } catch (error) {
        throw toThreadError(error, { queueFull: tooManyResponses, tooMuch: pageTooLarge });
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#small.close(), this.#large.close()]);
  }
}

function sizeOf(answers: readonly PrefetchedResponse[]): number {
  const counted = answers.filter(({ path }) => !KEPT_DOCUMENTS.includes(path));
  return counted.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
}

/**
 * Returns the identity of a page: its path and the data that it shows. The query is not part of it, since
 * pages ignore unknown parameters.
 */
function keyOf({ question: { path, problem }, context: { host }, answers }: PageTask): string {
  const data = answers.map((answer) => answer.path).sort();
  const text = JSON.stringify([host, path, problem?.code, data]);
  return createHash('sha256').update(text).digest('base64url');
}
