import { FullmatchError } from '../errors.ts';
import { ThreadFault } from '../lib/task-thread.ts';

/** Errors for a request that a thread did not complete. */
export interface ThreadErrors {
  /** Error if the thread's queue is full. */
  readonly queueFull: () => FullmatchError;
  /** Error if the task took too long or too much memory. */
  readonly tooMuch: () => FullmatchError;
}

/** Converts a thread fault into the error for the request; returns any other error unchanged. */
export function toThreadError(error: unknown, { queueFull, tooMuch }: ThreadErrors): unknown {
  if (!(error instanceof ThreadFault)) return error;
  switch (error.kind) {
    case 'queue_full':
      return queueFull();
    case 'closed':
      return new FullmatchError('shutting_down', 'The service is about to end; ask again.');
    case 'timed_out':
    case 'out_of_memory':
      return tooMuch();
    case 'crashed':
      return error;
  }
}
