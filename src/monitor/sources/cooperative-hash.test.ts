import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { hashMetadata } from '../../bytecode/metadata-hash.ts';
import { bytesToHex } from '../../lib/hex.ts';
import { EventLoopYielder } from '../../lib/event-loop-yielder.ts';
import { keccak256 } from '../../lib/keccak.ts';
import { hashContent, hashMetadataCooperatively } from './cooperative-hash.ts';

test('content hashes equal those computed in one go', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 200_000 }), fc.nat(255), async (size, byte) => {
      const bytes = Buffer.alloc(size, Buffer.from([byte, 1, 2]));
      expect(await hashContent(bytes)).toBe(bytesToHex(keccak256(bytes)));
    }),
    { numRuns: 10 },
  );
});

test.each(['ipfs', 'bzzr0', 'bzzr1'] as const)(
  'metadata hashes equal those computed in one go (%s)',
  async (kind) => {
    for (const size of [0, 1, 4096, 4097, 100_000]) {
      const text = 'metadata '.repeat(40_000).slice(0, size);
      const hash = await hashMetadataCooperatively(kind, Buffer.from(text));
      expect(Buffer.from(hash)).toEqual(Buffer.from(hashMetadata(kind, text)));
    }
  },
);

test('offers a pause after each piece of 64 kB', async () => {
  const bytes = Buffer.alloc(2_000_000, 'abc');
  const hashes = [
    (pauses: EventLoopYielder) => hashContent(bytes, pauses),
    (pauses: EventLoopYielder) => hashMetadataCooperatively('bzzr1', bytes, pauses),
  ];
  for (const hash of hashes) {
    const pauses = new EventLoopYielder();
    const take = vi.spyOn(pauses, 'take');
    await hash(pauses);
    expect(take.mock.calls.length).toBeGreaterThanOrEqual(bytes.length / 65_536);
  }
});
