import { expect, test } from 'vitest';
import { CoalescedRunner } from './coalesced.ts';

/** Work whose runs end when the test decides. */
function openWork() {
  const ends: (() => void)[] = [];
  const work = new CoalescedRunner(() => new Promise((resolve) => ends.push(resolve)));
  return { work, ends, endRun: () => ends.at(-1)?.() };
}

test('requests during a run share one further run', async () => {
  const { work, ends, endRun } = openWork();
  for (let asked = 0; asked < 5; asked += 1) work.ask();
  expect(ends).toHaveLength(1);
  endRun();
  await expect.poll(() => ends.length).toBe(2);
  endRun();
  await new Promise(setImmediate);
  expect(ends).toHaveLength(2);
  work.ask();
  expect(ends).toHaveLength(3);
});

test('closing waits for the current run and starts no other', async () => {
  const { work, ends, endRun } = openWork();
  work.ask();
  work.ask();
  let closed = false;
  const closing = work.close().then(() => (closed = true));
  await new Promise(setImmediate);
  expect(closed).toBe(false);
  endRun();
  await closing;
  work.ask();
  expect(ends).toHaveLength(1);
});
