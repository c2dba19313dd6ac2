import { setImmediate as nextPass } from 'node:timers/promises';
import { type Socket } from 'node:net';
import { expect, test } from 'vitest';

import { Cuts } from './cuts.ts';

test('connections are cut a few in each pass of the event loop, each of them once', async () => {
  const cuts = new Cuts();
  let ended = 0;
  const sockets = Array.from({ length: 1_000 }, () => {
    const socket: Pick<Socket, 'destroy'> = {
      destroy() {
        ended += 1;
        return this as Socket;
      },
    };
    return socket;
  });
  expect(sockets.filter((socket) => cuts.add(socket))).toHaveLength(1_000);
  expect(sockets.filter((socket) => cuts.add(socket))).toHaveLength(0);
  expect(ended).toBe(0);
  let most = 0;
  while (ended < 1_000) {
    const before = ended;
    await nextPass();
    most = Math.max(most, ended - before);
  }
  expect(most).toBeLessThan(50);
  await nextPass();
  expect(ended).toBe(1_000);
});
