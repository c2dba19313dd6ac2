import { expect, test } from 'vitest';
import { repeat } from './repeat.ts';

test('what is repeated goes on after failures, of which the first in a row is told, and ends with the signal', async () => {
  const ending = new AbortController();
  const outcomes = ['a', 'b', undefined, 'c', undefined, undefined];
  const told: string[] = [];
  let runs = 0;
  await repeat(
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

test('a failure at the end is not told, and after the signal nothing runs', async () => {
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
  await repeat(run, options);
  await repeat(run, options);
  expect({ runs, told }).toEqual({ runs: 1, told: [] });
});
