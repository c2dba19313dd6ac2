import { FullmatchError } from '../errors.ts';
import { ThreadFault } from '../lib/task-thread.ts';

/** What a request is told whose question a thread did not answer. */
export interface ThreadRefusals {
  /** Too many questions wait. */
  readonly queueFull: () => FullmatchError;
  /** The question took too long or too much memory. */
  readonly tooMuch: () => FullmatchError;
}

/** The fault of a thread as the error for the request; anything else stays what it is. */
export function refuseForThread(error: unknown, { queueFull, tooMuch }: ThreadRefusals): unknown {
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
