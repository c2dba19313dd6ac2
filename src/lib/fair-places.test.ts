import { expect, test } from 'vitest';
import { FairPlaces } from './fair-places.ts';

const LIMITS = { places: 1, waiting: 3, waitingOfNetwork: 2, waitMs: 60_000 };
const GREEDY = '192.0.2.1';
const OTHER = '198.51.100.1';

test('a free place goes to the networks that wait in turn', async () => {
  const places = new FairPlaces(LIMITS);
  const order: string[] = [];
  const work = async (client: string, name: string): Promise<void> => {
    const giveBack = await places.take(client);
    order.push(giveBack === undefined ? `${name} refused` : name);
    await new Promise(setImmediate);
    giveBack?.();
  };
  await Promise.all([
    work(GREEDY, 'greedy 1'),
    work(GREEDY, 'greedy 2'),
    work(GREEDY, 'greedy 3'),
    work(GREEDY, 'greedy 4'),
    work(OTHER, 'other'),
  ]);
  expect(order).toContain('greedy 4 refused');
  const done = order.filter((name) => !name.endsWith('refused'));
  expect(done).toEqual(['greedy 1', 'greedy 2', 'other', 'greedy 3']);
  expect(await places.take(OTHER)).toBeTypeOf('function');
});

test('a place that is not free in time is not given later', async () => {
  const places = new FairPlaces({ ...LIMITS, waitMs: 5 });
  const giveBack = await places.take(GREEDY);
  expect(await places.take(OTHER)).toBeUndefined();
  giveBack?.();
  expect(await places.take(OTHER)).toBeTypeOf('function');
});
