import { EventEmitter } from 'node:events';
import { type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LoopShares } from './loop-shares.ts';

const socketFrom = (remoteAddress: string): Socket =>
  Object.assign(new EventEmitter(), { remoteAddress, destroyed: false }) as unknown as Socket;

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

test('keeps nothing of connections that have gone, however many come', async () => {
  const loop = new LoopShares();
  const gone = Array.from({ length: 1_000 }, () => socketFrom('203.0.113.1'));
  let worked = 0;
  for (const socket of gone) loop.runLater(socket, () => (worked += 1));
  for (const socket of gone) socket.emit('close');
  let done = false;
  await nextTurn();
  loop.run(socketFrom('203.0.113.1'), () => (done = true));
  expect([done, worked]).toEqual([true, 0]);
  expect(gone.every((socket) => socket.listenerCount('close') === 0)).toBe(true);
});
