import { setImmediate as nextPass, setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { OwnPasses } from './own-passes.ts';

test('passes of the event loop are each given to one asker', async () => {
  const passes = new OwnPasses();
  let ticks = 0;
  let isDone = false;
  const tick = async (): Promise<void> => {
    while (!isDone) {
      ticks += 1;
      await nextPass();
    }
  };
  void tick();
  const seen = await Promise.all(
    Array.from({ length: 5 }, async () => passes.next('a').then(() => ticks)),
  );
  isDone = true;
  await wait(1);
  expect(new Set(seen).size).toBe(5);
});

test('a network that asks for many passes delays another by one', async () => {
  const passes = new OwnPasses();
  const order: string[] = [];
  const ask = (client: string): Promise<void> =>
    passes.next(client).then(() => void order.push(client));
  const many = Array.from({ length: 50 }, (_, index) => ask(`192.0.2.${index}`));
  await Promise.all([...many, ask('198.51.100.1')]);
  expect(order).toHaveLength(51);
  expect(order.indexOf('198.51.100.1')).toBeLessThanOrEqual(1);
});
