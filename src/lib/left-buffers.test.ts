import { expect, test } from 'vitest';
import { LeftBuffers } from './left-buffers.ts';

const MIB = 2 ** 20;

test('gives back large buffers that nobody holds, after a quiet while', async () => {
  const left = new LeftBuffers();
  const held = [Buffer.alloc(10 * MIB, 1)];
  const before = process.memoryUsage().arrayBuffers;
  (() => {
    for (let index = 0; index < 200; index += 1) held.push(Buffer.alloc(MIB, 1));
    held.length = 1;
  })();
  left.tell();
  left.tell();
  await expect.poll(() => process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * MIB);
  expect(held[0]?.length).toBe(10 * MIB);
});
