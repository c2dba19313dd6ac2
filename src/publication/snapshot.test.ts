import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { addBrotli, makeSnapshot } from './snapshot.ts';

const MODIFIED = new Date('2026-02-03T04:05:06.789Z');

describe('Snapshot', () => {
  test('has the same content in every coding', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        const snapshot = await addBrotli(await makeSnapshot(bytes, MODIFIED));
        expect(snapshot.bodies.identity.equals(bytes)).toBe(true);
        expect(gunzipSync(snapshot.bodies.gzip).equals(bytes)).toBe(true);
        expect(brotliDecompressSync(snapshot.bodies.br!).equals(bytes)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  test('is independent of later changes to its input bytes', async () => {
    const bytes = Buffer.from('[1,2,3]');
    const snapshot = await makeSnapshot(bytes, MODIFIED);
    bytes.fill(0);
    expect(snapshot.bodies.identity.toString()).toBe('[1,2,3]');
  });

  test('keeps its tags and bodies when br is added', async () => {
    const quick = await makeSnapshot(Buffer.from('[]'), MODIFIED);
    const complete = await addBrotli(quick);
    expect(quick.bodies.br).toBeUndefined();
    expect(complete.tags).toEqual(quick.tags);
    expect(complete.bodies.gzip).toBe(quick.bodies.gzip);
    expect(complete.lengths.br).toBe(complete.bodies.br?.byteLength);
  });
});
