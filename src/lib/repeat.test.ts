import { expect, test } from 'vitest';
import { repeatUntilAborted, repeatUntilClosed } from './repeat.ts';

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
      return 0;
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
  const run = async (): Promise<number> => {
    runs += 1;
    ending.abort();
    throw new Error('aborted');
  };
  await repeatUntilAborted(run, options);
  await repeatUntilAborted(run, options);
  expect({ runs, told }).toEqual({ runs: 1, told: [] });
});

test('closing aborts the pause or the run in progress and waits for its end', async () => {
  let runs = 0;
  let hasEnded = false;
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const repeated = repeatUntilClosed(
    async (signal) => {
      runs += 1;
      begin();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      hasEnded = true;
      return 3_600_000;
    },
    { retryMs: 0, onFailure: () => undefined },
  );
  await begun;
  await repeated.close();
  expect({ runs, hasEnded }).toEqual({ runs: 1, hasEnded: true });
});

test('waking ends the pause, and a wake during a run starts exactly one more', async () => {
  const ends: (() => void)[] = [];
  const repeated = repeatUntilClosed(
    async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return 3_600_000;
    },
    { retryMs: 0, onFailure: () => undefined },
  );
  expect(ends).toHaveLength(1);
  for (let times = 0; times < 5; times += 1) repeated.wake();
  ends[0]?.();
  await expect.poll(() => ends).toHaveLength(2);
  ends[1]?.();
  await new Promise(setImmediate);
  expect(ends).toHaveLength(2);
  repeated.wake();
  await expect.poll(() => ends).toHaveLength(3);
  const closing = repeated.close();
  ends[2]?.();
  await closing;
  expect(ends).toHaveLength(3);
});

test('a failed run is repeated at once after a wake', async () => {
  let runs = 0;
  const repeated = repeatUntilClosed(
    async () => {
      runs += 1;
      throw new Error('broken');
    },
    { retryMs: 3_600_000, onFailure: () => undefined },
  );
  await expect.poll(() => runs).toBe(1);
  repeated.wake();
  await expect.poll(() => runs).toBe(2);
  await repeated.close();
});
