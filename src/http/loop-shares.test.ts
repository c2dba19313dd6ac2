import { type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LoopShares } from './loop-shares.ts';

const requestFrom = (remoteAddress: string): IncomingMessage =>
  ({ socket: { remoteAddress, destroyed: false } }) as unknown as IncomingMessage;

/** Takes the loop for a while. */
function busy(ms: number): void {
  const start = performance.now();
  while (performance.now() - start < ms);
}

test('answers at once what comes alone', () => {
  const loop = new LoopShares();
  let answered = 0;
  loop.answer(requestFrom('127.0.0.1'), () => (answered += 1));
  expect(answered).toBe(1);
});

test('answers one request of each network in turn where many come at once', async () => {
  const loop = new LoopShares();
  const order: string[] = [];
  const ask = (address: string, name: string): void =>
    loop.answer(requestFrom(address), () => {
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

test('comes back to new requests between turns, however much waits', async () => {
  const loop = new LoopShares();
  let answered = 0;
  for (let index = 0; index < 30; index += 1) {
    loop.answerLater(requestFrom('203.0.113.1'), () => {
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

test('never answers a request whose connection has gone while it waited', async () => {
  const loop = new LoopShares();
  const gone = requestFrom('203.0.113.1');
  let answered = 0;
  loop.answerLater(gone, () => (answered += 1));
  loop.answerLater(requestFrom('203.0.113.1'), () => (answered += 10));
  Object.assign(gone.socket, { destroyed: true });
  await nextTurn();
  await nextTurn();
  expect(answered).toBe(10);
});
