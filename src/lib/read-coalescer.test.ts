import { setImmediate as nextPass } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ReadCoalescer } from './read-coalescer.ts';

test('shares one reading per key among requests of one tick', async () => {
  const reads = new ReadCoalescer<number>();
  let readings = 0;
  const read = async (): Promise<number> => (readings += 1);
  const asked = ['a', 'a', 'b', 'a'].map((key) => reads.ask(key, read));
  expect(readings).toBe(0);
  expect(await Promise.all(asked)).toEqual([1, 1, 2, 1]);
});

test('never returns data read before the request', async () => {
  const reads = new ReadCoalescer<string>();
  let stored = 'old';
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const read = async (): Promise<string> => {
    const found = stored;
    await opened;
    return found;
  };
  const first = reads.ask('a', read);
  await nextPass();
  await nextPass();
  stored = 'new';
  const second = reads.ask('a', read);
  await nextPass();
  open();
  expect(await Promise.all([first, second])).toEqual(['old', 'new']);
});

test('rejects all sharers of a failed reading, and reads again next time', async () => {
  const reads = new ReadCoalescer<string>();
  const fails = async (): Promise<string> => Promise.reject(new Error('no database'));
  const asked = [reads.ask('a', fails), reads.ask('a', fails)];
  for (const each of await Promise.allSettled(asked)) expect(each.status).toBe('rejected');
  expect(await reads.ask('a', async () => 'read')).toBe('read');
});
