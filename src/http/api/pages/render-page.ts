import { setImmediate as untilNextTurn } from 'node:timers/promises';
import { type Context } from 'hono';
import { type Admission } from '../../../lib/admission.ts';
import { recordFailure, type FailureTimes } from '../../../lib/failure-times.ts';
import { type InProcessEnv } from '../../client-of.ts';
import { withClientSignal } from '../../records/request-connection.ts';
import { type Requester, type RecordResponder } from '../../records/record-responder.ts';
import { type PageRenderer } from './page-renderer.ts';
import { type MissingResponse, type PageStep, type PageTask } from './page-thread.ts';
import { type PrefetchedResponse, type PageFacts } from './server-bundle.ts';

/** Dependencies of making a page. */
export interface PageDependencies {
  readonly renderer: Pick<PageRenderer, 'advance' | 'isLarge'>;
  /** Sends an in-process request to the host: pages read only the public API. */
  readonly ask: (
    path: string,
    init: RequestInit,
    env: InProcessEnv,
  ) => Response | Promise<Response>;
  readonly answers: Pick<RecordResponder, 'clientOf' | 'admit'>;
  /** Limit on pages made at once: they wait for the database. */
  readonly pages: Admission;
  /** When each part of the host's pages began to fail in this process. */
  readonly outages: FailureTimes;
}

/** A page as bytes, with its facts. */
export interface RenderedPage extends PageFacts {
  readonly bytes: Buffer<ArrayBuffer>;
  /** Whether all data that the page shows could be read. */
  readonly isWhole: boolean;
}

/** Routes answer in milliseconds; a page omits the data of a route that does not answer within this time. */
const TIMEOUT_MS = 3_000;

/**
 * Makes a page: reads its data here and writes it on another thread. A page with much data releases its slot
 * before it waits for that thread, so that it does not delay quick pages.
 * @returns undefined if no page has the path
 * @throws FullmatchError page_too_large, too_many_client_answers, too_many_answers
 */
export async function renderPage(
  c: Context,
  making: PageDependencies,
  asked: Pick<PageTask, 'question' | 'context'>,
): Promise<RenderedPage | undefined> {
  const { renderer, answers, pages } = making;
  let task: PageTask = { ...asked, answers: [] };
  let step: PageStep = { missing: [] };
  /** Reads and writes as long as there is little data. */
  const advanceSmall = async (requester: Requester): Promise<void> => {
    for (;;) {
      if ('missing' in step)
        task = await readMissing(c, making, task, { ...requester, missing: step.missing });
      if (renderer.isLarge(task.answers)) return;
      step = await renderer.advance(task, requester);
      if (!('missing' in step)) return;
    }
  };
  while ('missing' in step) {
    await answers.admit(c, advanceSmall, pages);
    if ('missing' in step && renderer.isLarge(task.answers)) {
      const client = answers.clientOf(c);
      step = await withClientSignal(c, (signal) => renderer.advance(task, { client, signal }));
    }
  }
  if ('none' in step) return undefined;
  const { page, bytes } = step;
  return {
    ...page,
    bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    isWhole: !task.answers.some(isOutage),
  };
}

/** Returns the task with the missing responses added; outdated responses are replaced. */
async function readMissing(
  c: Context,
  making: PageDependencies,
  task: PageTask,
  { missing, signal }: Pick<Requester, 'signal'> & { readonly missing: readonly MissingResponse[] },
): Promise<PageTask> {
  const read = await Promise.all(
    missing.map(async (each) => {
      // Most routes do all their work synchronously, so yield between them.
      await untilNextTurn();
      signal.throwIfAborted();
      return readAnswer(c, making, each);
    }),
  );
  const paths = new Set(missing.map(({ path }) => path));
  return { ...task, answers: [...task.answers.filter(({ path }) => !paths.has(path)), ...read] };
}

async function readAnswer(
  c: Context,
  { ask, answers, outages }: PageDependencies,
  { path, tag }: MissingResponse,
): Promise<PrefetchedResponse> {
  const at = new Date().toISOString();
  const read = async (): Promise<Pick<PrefetchedResponse, 'status' | 'tag' | 'body'>> => {
    const headers: Record<string, string> = tag === undefined ? {} : { 'if-none-match': tag };
    const response = await ask(`/${path}`, { headers }, { askedFor: answers.clientOf(c) });
    const etag = response.headers.get('etag');
    const { status } = response;
    const body = status === 304 ? undefined : new Uint8Array(await response.arrayBuffer());
    return { status, ...(etag !== null && { tag: etag }), ...(body && { body }) };
  };
  const answer = await within(TIMEOUT_MS, read());
  return { path, at, since: recordFailure(outages, path, at, isOutage(answer)), ...answer };
}

function isOutage({ status }: Pick<PrefetchedResponse, 'status'>): boolean {
  return status === 0 || status >= 500;
}

type Read = Pick<PrefetchedResponse, 'status' | 'tag' | 'body' | 'timeoutMs'>;

async function within(timeoutMs: number, reading: Promise<Read>): Promise<Read> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Read>((resolve) => {
    timer = setTimeout(() => resolve({ status: 0, timeoutMs }), timeoutMs);
  });
  const answered = reading.catch((): Read => ({ status: 0 }));
  const first = await Promise.race([answered, late]);
  clearTimeout(timer);
  return first;
}
