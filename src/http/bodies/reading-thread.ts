import { readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

import { FullmatchError, messageOf } from '../../errors.ts';
import { readRequest, type ReadRequest, type RequestForm } from './read-request.ts';
import { type BodyBytes } from './receive-body.ts';
import { type RequestLimits } from './request-limits.ts';
import { giveWay } from '../../lib/give-way.ts';

/** A body for the thread. */
export interface ReadingTask {
  readonly form: RequestForm;
  readonly limits: RequestLimits;
  readonly bytes: BodyBytes;
}

/** What the thread answers: what the body asks, what is wrong with it, or how the thread failed. */
export type ReadingAnswer =
  | { readonly read: ReadRequest }
  | { readonly refused: Pick<FullmatchError, 'code' | 'message' | 'details'> }
  | { readonly failed: string };

function loadBytes(body: BodyBytes): Buffer<ArrayBuffer> {
  if ('blocks' in body) return Buffer.concat(body.blocks);
  const bytes = Buffer.allocUnsafeSlow(body.length);
  let filled = 0;
  while (filled < body.length) {
    const count = readSync(body.file, bytes, filled, body.length - filled, filled);
    if (count === 0) throw new Error('a spool file is shorter than what was written to it');
    filled += count;
  }
  return bytes;
}

async function answer({ form, limits, bytes }: ReadingTask): Promise<ReadingAnswer> {
  try {
    return { read: await readRequest(loadBytes(bytes), form, limits) };
  } catch (error) {
    if (error instanceof FullmatchError) {
      const { code, message, details } = error;
      return { refused: { code, message, details } };
    }
    return { failed: error instanceof Error ? (error.stack ?? error.message) : messageOf(error) };
  }
}

/** The memory of an answer that the thread hands over in place of copying it. */
function handOver(result: ReadingAnswer): ArrayBuffer[] {
  if (!('read' in result)) return [];
  const { read } = result;
  if ('request' in read) return [read.request.packed.buffer];
  return 'given' in read ? [read.given.request.packed.buffer] : [];
}

if (parentPort !== null) giveWay();
parentPort?.on('message', (task: ReadingTask) => {
  void answer(task).then((result) => parentPort?.postMessage(result, handOver(result)));
});
