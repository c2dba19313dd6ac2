import { afterAll, expect, test } from 'vitest';
import { TaskThread } from './task-thread.ts';

/** Echoes each question after a given number of milliseconds of work. */
const PROGRAM = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (ms) => {
      const start = performance.now();
      while (performance.now() - start < ms);
      parentPort.postMessage(ms);
    });
  `)}`,
);
const DAY_MS = 86_400_000;
const thread = new TaskThread<number, number>(PROGRAM, {
  heapBytes: 2 ** 26,
  taskTimeoutMs: DAY_MS,
  idleMs: 5_000,
  queueLimit: 10,
});
afterAll(() => thread.close());

test('aborts a running task when its client leaves and runs the next one', async () => {
  const leaving = new AbortController();
  const left = thread.ask(DAY_MS, { client: 'a', signal: leaving.signal });
  const next = thread.ask(1, { client: 'a' });
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  expect(await next).toBe(1);
});

test('drops a waiting task when its client leaves without affecting the running one', async () => {
  const leaving = new AbortController();
  const running = thread.ask(300, { client: 'a' });
  const left = thread.ask(DAY_MS, { client: 'a', signal: leaving.signal });
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  expect(await running).toBe(300);
});
