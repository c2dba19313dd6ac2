import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { EventLoopYielder } from './event-loop-yielder.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('yields between two pieces of long work', async () => {
  const pauses = new EventLoopYielder();
  const order: string[] = [];
  setImmediate(() => order.push('other'));
  for (let piece = 0; !order.includes('other'); piece += 1) {
    order.push('piece');
    const until = performance.now() + 6;
    while (performance.now() < until);
    await pauses.take();
  }
  expect(order).toEqual(['piece', 'other']);
});

test('lets other work run once 5 ms have passed, and not before', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  const pauses = new EventLoopYielder();
  let turns = 0;
  const other = nextTurn().then(() => (turns += 1));
  now.mockReturnValue(4.9);
  await pauses.take();
  expect(turns).toBe(0);
  now.mockReturnValue(5);
  await pauses.take();
  await other;
  expect(turns).toBe(1);
  const another = nextTurn().then(() => (turns += 1));
  await pauses.take();
  expect(turns).toBe(1);
  await another;
});
