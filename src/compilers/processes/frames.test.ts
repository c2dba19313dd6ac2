import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameReader } from './frames.ts';

function encode(kind: string, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind, 0, 'latin1');
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

test('reads frames for any chunking of the bytes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom('R', 'O', 'F'), fc.uint8Array({ maxLength: 50 })), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
      async (frames, sizes) => {
        const stream = new PassThrough();
        const reader = new FrameReader(stream, 50, () => expect.unreachable());
        const bytes = Buffer.concat(frames.map(([kind, payload]) => encode(kind, payload)));
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          stream.write(bytes.subarray(at, at + size));
          at += size;
        }
        for (const [kind, payload] of frames) {
          const frame = await reader.next();
          expect(frame.kind).toBe(kind);
          expect([...frame.payload]).toEqual([...payload]);
        }
      },
    ),
  );
});

test('does not buffer a frame above the size limit', async () => {
  const stream = new PassThrough();
  const tooLarge = new Promise<number>((resolve) => {
    new FrameReader(stream, 10, resolve);
  });
  stream.write(encode('O', Buffer.alloc(11)));
  expect(await tooLarge).toBe(11);
});
