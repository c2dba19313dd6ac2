import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

test('works that share turns have one pass of the event loop together, however short each is', async () => {
  const shared = new Turns();
  let works = 0;
  let mostInPass = 0;
  let inPass = 0;
  let isWorking = true;
  const count = (): void => {
    mostInPass = Math.max(mostInPass, inPass);
    inPass = 0;
    if (isWorking) setImmediate(count);
  };
  setImmediate(count);
  const work = async (): Promise<void> => {
    for (let piece = 0; piece < 10; piece += 1) {
      await shared.give();
      const until = performance.now() + 6;
      while (performance.now() < until);
      works += 1;
      inPass += 1;
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  isWorking = false;
  expect(works).toBe(40);
  expect(mostInPass).toBe(1);
});
