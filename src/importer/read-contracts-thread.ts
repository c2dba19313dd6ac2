import { parentPort } from 'node:worker_threads';
import { lowerThreadPriority } from '../lib/thread-priority.ts';
import { type ContractReadRequest } from './reading-threads.ts';
import { ThreadReader } from './thread-reader.ts';

/** A thread that reads and checks contracts and builds their rows: see {@link ThreadReader}. */
const port = parentPort;
if (port === null) throw new Error('this program is a thread');
// Requests to a service on the same machine take precedence.
lowerThreadPriority();
const reader = new ThreadReader();
port.on('message', (question: ContractReadRequest) => {
  void reader.answer(question).then((answer) => {
    port.postMessage(answer, [answer.packed.bytes.buffer as ArrayBuffer]);
  });
});
