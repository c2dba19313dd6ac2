import { expect, test } from 'vitest';
import { EventLoopYielder } from './event-loop-yielder.ts';

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
