import { setImmediate } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

import { messageOf } from '../../../errors.ts';
import {
  type PrefetchedResponse,
  importServerBundle,
  type PageContext,
  type PageFacts,
  type PageRequest,
  type ViewFiles,
} from './server-bundle.ts';
import { lowerThreadPriority } from '../../../lib/thread-priority.ts';

/** A page to write, with the responses read for it so far. */
export interface PageTask {
  readonly question: PageRequest;
  readonly context: PageContext;
  readonly answers: readonly PrefetchedResponse[];
}

/** A response that a page needs: a path of its host, and the entity tag of the content at hand. */
export interface MissingResponse {
  readonly path: string;
  readonly tag?: string;
}

/** A page, `none` if no page has the path, or the responses that must be read first. */
export type PageStep =
  | { readonly page: PageFacts; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly missing: readonly MissingResponse[] }
  | { readonly none: true };

/** A message from the page thread. */
export type PageThreadMessage = PageStep | { readonly failed: string };

/** Files of the views, passed to the thread at its start. */
export interface PageFiles {
  readonly script: string;
  readonly views: ReadonlyMap<string, ViewFiles>;
}

const bundle = importServerBundle();
const encoder = new TextEncoder();

function filesOf(view: string): ViewFiles {
  const { script, views } = workerData as PageFiles;
  return views.get(view) ?? { script, modules: [], styles: [] };
}

/** Writes the page as far as possible; returns the missing responses if there are any. */
async function advance({ question, context, answers }: PageTask): Promise<PageStep> {
  const { render } = await bundle;
  const given = new Map(answers.map((answer) => [answer.path, answer]));
  const missing = new Map<string, MissingResponse>();
  const find = (path: string): PrefetchedResponse | undefined => given.get(path);
  const miss = (path: string, tag: string | undefined): void => {
    missing.set(path, { path, ...(tag !== undefined && { tag }) });
  };
  let isWritten = false;
  const rendering = render(question, context, { find, miss }, filesOf);
  const end = (): void => {
    isWritten = true;
  };
  rendering.then(end, end);
  // Everything possible without further responses happens within one turn of the event loop.
  do await setImmediate();
  while (!isWritten && missing.size === 0);
  // This attempt ends here; the page is written again with the missing responses.
  if (!isWritten) return { missing: [...missing.values()] };
  const rendered = await rendering;
  if (rendered === undefined) return { none: true };
  const { html, ...page } = rendered;
  return { page, bytes: encoder.encode(html) };
}

if (parentPort !== null) lowerThreadPriority();
parentPort?.on('message', (task: PageTask) => {
  advance(task).then(
    (step: PageThreadMessage) => {
      parentPort?.postMessage(step, 'bytes' in step ? [step.bytes.buffer] : []);
    },
    (error: unknown) => {
      const failed = error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
      parentPort?.postMessage({ failed } satisfies PageThreadMessage);
    },
  );
});
