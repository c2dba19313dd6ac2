import { expect, test } from 'vitest';
import { WorkQueue } from './work-queue.ts';

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A task that ends when the test decides. */
function task(): { run: () => Promise<void>; started: () => boolean; end: () => void } {
  let started = false;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    run: () => {
      started = true;
      return ended;
    },
    started: () => started,
    end,
  };
}

test('runs as many tasks at once as it has workers, the rest in order', async () => {
  const queue = new WorkQueue(2);
  const tasks = [task(), task(), task(), task()];
  const all = tasks.map(({ run }) => queue.run(run));
  await tick();
  expect(tasks.map(({ started }) => started())).toEqual([true, true, false, false]);
  expect(queue.describe()).toEqual({ running: 2, waiting: 2 });
  tasks[1]?.end();
  await all[1];
  await tick();
  expect(tasks.map(({ started }) => started())).toEqual([true, true, true, false]);
  for (const { end } of tasks) end();
  await Promise.all(all);
  expect(queue.describe()).toEqual({ running: 0, waiting: 0 });
});

test('continues after a failed task', async () => {
  const queue = new WorkQueue(1);
  await expect(queue.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await queue.run(() => Promise.resolve('fine'))).toBe('fine');
});

test('drops a waiting task when its signal aborts', async () => {
  const queue = new WorkQueue(1);
  const first = task();
  const running = queue.run(first.run);
  const second = task();
  const controller = new AbortController();
  const waiting = queue.run(second.run, controller.signal);
  controller.abort(new Error('not wanted any more'));
  await expect(waiting).rejects.toThrow('not wanted any more');
  await expect(queue.run(second.run, controller.signal)).rejects.toThrow('not wanted any more');
  first.end();
  await running;
  await tick();
  expect(second.started()).toBe(false);
  expect(queue.describe()).toEqual({ running: 0, waiting: 0 });
});

test('rejects waiting and new tasks after close', async () => {
  const queue = new WorkQueue(1);
  const first = task();
  const running = queue.run(first.run);
  const waiting = queue.run(task().run);
  queue.close(new Error('closed'));
  await expect(waiting).rejects.toThrow('closed');
  await expect(queue.run(task().run)).rejects.toThrow('closed');
  first.end();
  await running;
});
