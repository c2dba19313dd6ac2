import { expect, test } from 'vitest';
import { createTurns } from './in-turn.ts';

test('work runs one at a time, in order, also after a failure', async () => {
  const inTurn = createTurns();
  const steps: string[] = [];
  const run = (name: string): Promise<string> =>
    inTurn(async () => {
      steps.push(`${name} begins`);
      await Promise.resolve();
      steps.push(`${name} ends`);
      if (name === 'second') throw new Error('failed');
      return name;
    });
  const names = ['first', 'second', 'third'];
  expect(await Promise.allSettled(names.map(run))).toMatchObject([
    { value: 'first' },
    { reason: { message: 'failed' } },
    { value: 'third' },
  ]);
  expect(steps).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
});
