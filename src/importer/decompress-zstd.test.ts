import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import cases from '../../test/cases/import/zstd-frames.json' with { type: 'json' };
import { decompressZstd } from './decompress-zstd.ts';

/** Written by zstd 1.5.4. */
const CONTENTS: Readonly<Record<string, Buffer>> = {
  text: Buffer.from(
    `pragma solidity ^0.8.0; // ${Array.from({ length: 60 }, (_, i) => `contract C${i} { uint x${i}; }`).join(' ')}`,
  ),
  zeros: Buffer.alloc(300_000),
};
const MAX_BLOCK_BYTES = 128 * 1024;

async function decompress(bytes: Buffer, chunkBytes = bytes.length): Promise<Buffer> {
  const chunks = async function* (): AsyncGenerator<Buffer, void, undefined> {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      yield await Promise.resolve(bytes.subarray(at, at + chunkBytes));
    }
  };
  const parts: Uint8Array[] = [];
  for await (const part of decompressZstd(chunks())) {
    expect(part.length).toBeLessThanOrEqual(MAX_BLOCK_BYTES);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
const bytesOf = (what: string): Buffer =>
  Buffer.from(cases.valid.find((each) => each.what === what)?.base64 ?? '', 'base64');

describe('decompressZstd', () => {
  test.each(cases.valid)('decompresses frames: $what', async ({ base64, content }) => {
    const bytes = Buffer.from(base64, 'base64');
    expect((await decompress(bytes)).equals(CONTENTS[content]!)).toBe(true);
    expect((await decompress(bytes, 1)).equals(CONTENTS[content]!)).toBe(true);
  });

  test('refuses every beginning of a frame as cut off', async () => {
    const whole = bytesOf('of unknown size');
    for (let length = 0; length < whole.length; length += 1) {
      await expect(decompress(whole.subarray(0, length))).rejects.toThrow('cut off');
    }
  });

  test('gives no other content if a bit of a frame with a checksum is changed', async () => {
    const whole = bytesOf('sized, with checksum');
    const content = CONTENTS['text']!;
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length * 8 - 1), async (bit) => {
        const changed = Buffer.from(whole);
        changed[bit >> 3]! ^= 1 << (bit & 7);
        const found = await decompress(changed).catch(() => content);
        expect(found.equals(content)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['a window of more than 8 MiB', cases.refused.window, 'window of 134217728 bytes'],
    ['a dictionary', cases.refused.dictionary, 'dictionary'],
  ])('refuses frames that need %s', async (_, base64, message) => {
    await expect(decompress(Buffer.from(base64, 'base64'))).rejects.toThrow(message);
  });

  test('refuses a block of repeated bytes that is larger than a block may be', async () => {
    const block = Buffer.alloc(4);
    block.writeUIntLE(((MAX_BLOCK_BYTES + 1) << 3) | 3, 0, 3);
    const frame = Buffer.concat([Buffer.from('28b52ffd0050', 'hex'), block]);
    await expect(decompress(frame)).rejects.toThrow('too large');
  });

  test('refuses other bytes after a frame', async () => {
    const frame = Buffer.concat([bytesOf('of unknown size'), Buffer.from('more')]);
    await expect(decompress(frame)).rejects.toThrow('other bytes');
  });
});
