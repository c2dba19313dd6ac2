import { parentPort } from 'node:worker_threads';

import { FullmatchError, messageOf } from '../../errors.ts';
import { readRequest, type ParsedBody, type BodyForm } from './read-request.ts';
import { type RequestLimits } from './request-limits.ts';
import { lowerThreadPriority } from '../../lib/thread-priority.ts';

/** A body for the thread to read. */
export interface BodyReadTask {
  readonly form: BodyForm;
  readonly limits: RequestLimits;
  readonly blocks: readonly Uint8Array[];
}

/** Message from the thread: the parsed body, the fault of the body, or the thread's own failure. */
export type BodyReadResult =
  | { readonly read: ParsedBody }
  | { readonly refused: Pick<FullmatchError, 'code' | 'message' | 'details'> }
  | { readonly failed: string };

async function answer({ form, limits, blocks }: BodyReadTask): Promise<BodyReadResult> {
  try {
    return { read: await readRequest(Buffer.concat(blocks), form, limits) };
  } catch (error) {
    if (error instanceof FullmatchError) {
      const { code, message, details } = error;
      return { refused: { code, message, details } };
    }
    return { failed: error instanceof Error ? (error.stack ?? error.message) : messageOf(error) };
  }
}

/** Lists the buffers of a message that are transferred instead of copied. */
function handOver(result: BodyReadResult): ArrayBuffer[] {
  if (!('read' in result)) return [];
  const { read } = result;
  if ('request' in read) return [read.request.packed.buffer];
  return 'given' in read ? [read.given.request.packed.buffer] : [];
}

if (parentPort !== null) lowerThreadPriority();
parentPort?.on('message', (task: BodyReadTask) => {
  void answer(task).then((result) => parentPort?.postMessage(result, handOver(result)));
});
