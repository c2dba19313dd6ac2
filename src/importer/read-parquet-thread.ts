import { parentPort } from 'node:worker_threads';
import { lowerThreadPriority } from '../lib/thread-priority.ts';
import { type ParquetReadRequest, readParquetRows } from './parquet-rows.ts';

/** A thread that reads rows of Parquet files: see {@link readParquetRows}. */
const port = parentPort;
if (port === null) throw new Error('this program is a thread');
// Requests to a service on the same machine take precedence.
lowerThreadPriority();
port.on('message', (question: ParquetReadRequest) => {
  void readParquetRows(question).then((answer) => {
    port.postMessage(answer, 'bytes' in answer ? [answer.bytes.buffer as ArrayBuffer] : []);
  });
});
