import { type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LoopShares } from './loop-shares.ts';

const socketFrom = (remoteAddress: string): Socket =>
  ({ remoteAddress, destroyed: false }) as unknown as Socket;

/** Takes the loop for a while. */
function busy(ms: number): void {
  const start = performance.now();
  while (performance.now() - start < ms);
}

test('does at once what comes alone', () => {
  const loop = new LoopShares();
  let answered = 0;
  loop.run(socketFrom('127.0.0.1'), () => (answered += 1));
  expect(answered).toBe(1);
});

test('does one piece of work of each network in turn where many come at once', async () => {
  const loop = new LoopShares();
  const order: string[] = [];
  const ask = (address: string, name: string): void =>
    loop.run(socketFrom(address), () => {
      order.push(name);
      busy(4);
    });
  for (let index = 0; index < 20; index += 1) ask('203.0.113.1', `flood ${index}`);
  ask('203.0.113.9', 'same network');
  ask('198.51.100.7', 'other');
  expect(order.length).toBeLessThan(10);
  const before = order.length;
  while (order.length < 22) await nextTurn();
  expect(order.indexOf('other')).toBeLessThanOrEqual(before + 1);
  expect(order.indexOf('same network')).toBe(21);
  expect(order.filter((name) => name.startsWith('flood'))).toEqual(
    Array.from({ length: 20 }, (_, index) => `flood ${index}`),
  );
});

test('comes back to what is new between turns, however much waits', async () => {
  const loop = new LoopShares();
  let answered = 0;
  for (let index = 0; index < 30; index += 1) {
    loop.runLater(socketFrom('203.0.113.1'), () => {
      answered += 1;
      busy(4);
    });
  }
  expect(answered).toBe(0);
  let turns = 0;
  while (answered < 30) {
    const before = answered;
    await nextTurn();
    turns += 1;
    expect(answered - before).toBeLessThan(10);
  }
  expect(turns).toBeGreaterThan(5);
});

test('never works for a connection that has gone while it waited', async () => {
  const loop = new LoopShares();
  const gone = socketFrom('203.0.113.1');
  let answered = 0;
  loop.runLater(gone, () => (answered += 1));
  loop.runLater(socketFrom('203.0.113.1'), () => (answered += 10));
  Object.assign(gone, { destroyed: true });
  await nextTurn();
  await nextTurn();
  expect(answered).toBe(10);
});

test('does a few pieces in a turn, however little each takes', async () => {
  const loop = new LoopShares();
  let done = 0;
  for (let index = 0; index < 100; index += 1) {
    loop.runLater(socketFrom('203.0.113.1'), () => (done += 1));
  }
  await nextTurn();
  expect(done).toBeLessThan(100);
  while (done < 100) await nextTurn();
});

test('lets new connections be read at once, but not where they come turn after turn', async () => {
  const loop = new LoopShares();
  const read: boolean[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    read.push(loop.accept());
    await nextTurn();
  }
  expect(read.slice(0, 2)).toEqual([true, true]);
  expect(read.slice(3)).toEqual([false, false, false]);
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  expect(loop.accept()).toBe(true);
});

test('does work that waits also while connections keep coming', async () => {
  const loop = new LoopShares();
  let done = 0;
  for (let index = 0; index < 5; index += 1) {
    loop.runLater(socketFrom('203.0.113.1'), () => (done += 1));
  }
  while (done < 5) {
    loop.accept();
    await nextTurn();
  }
});
