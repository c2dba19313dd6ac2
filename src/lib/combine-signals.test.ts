import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { combineSignals } from './combine-signals.ts';

test('lets any number of requests share a signal and leaves no listeners', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  const { signal } = new AbortController();
  const endings = Array.from({ length: 20 }, () => combineSignals([signal]));
  await nextTurn();
  process.off('warning', note);
  expect(warnings).toEqual([]);
  for (const ending of endings) ending.release();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('rejects the raced promise with the reason of the first signal', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const ending = combineSignals([first.signal, second.signal]);
  const raced = ending.race(new Promise(() => undefined));
  second.abort('second');
  first.abort('first');
  await expect(raced).rejects.toBe('second');
});
