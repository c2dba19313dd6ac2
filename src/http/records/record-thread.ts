import { parentPort } from 'node:worker_threads';

import { messageOf } from '../../errors.ts';
import { type RecordTask, renderRecord } from './render-record.ts';
import { lowerThreadPriority } from '../../lib/thread-priority.ts';

/** Message from the thread: the bytes, or its failure. */
export type RecordAnswer =
  { readonly bytes: Uint8Array<ArrayBuffer> } | { readonly failed: string };

if (parentPort !== null) lowerThreadPriority();
parentPort?.on('message', (task: RecordTask) => {
  try {
    const bytes = renderRecord(task);
    parentPort?.postMessage({ bytes } satisfies RecordAnswer, [bytes.buffer]);
  } catch (error) {
    const failed = error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
    parentPort?.postMessage({ failed } satisfies RecordAnswer);
  }
});
