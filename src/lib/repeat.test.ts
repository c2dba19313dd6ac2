import { expect, test } from 'vitest';
import { repeatUntilAborted } from './repeat.ts';

test('continues after failures, reports the first in a row and stops with the signal', async () => {
  const ending = new AbortController();
  const outcomes = ['a', 'b', undefined, 'c', undefined, undefined];
  const told: string[] = [];
  let runs = 0;
  await repeatUntilAborted(
    async () => {
      const failure = outcomes[runs];
      runs += 1;
      if (runs === outcomes.length) ending.abort();
      if (failure !== undefined) throw new Error(failure);
    },
    {
      signal: ending.signal,
      retryMs: 0,
      onFailure: (error) => told.push((error as Error).message),
    },
  );
  expect({ runs, told }).toEqual({ runs: outcomes.length, told: ['a', 'c'] });
});

test('does not report a failure at the end, and runs nothing after the signal', async () => {
  const ending = new AbortController();
  const told: unknown[] = [];
  const options = {
    signal: ending.signal,
    retryMs: 0,
    onFailure: (error: unknown) => told.push(error),
  };
  let runs = 0;
  const run = async (): Promise<void> => {
    runs += 1;
    ending.abort();
    throw new Error('aborted');
  };
  await repeatUntilAborted(run, options);
  await repeatUntilAborted(run, options);
  expect({ runs, told }).toEqual({ runs: 1, told: [] });
});
