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
    Array.from({ length: 5 }, async () => passes.next().then(() => ticks)),
  );
  isDone = true;
  await wait(1);
  expect(new Set(seen).size).toBe(5);
});
