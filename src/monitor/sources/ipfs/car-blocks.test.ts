import fc from 'fast-check';
import { CID } from 'multiformats/cid';
import { create as createDigest } from 'multiformats/hashes/digest';
import { expect, test } from 'vitest';
import { IpfsStore, writeCar } from '../../../../test/support/ipfs-gateway.ts';
import { readCarBlocks } from './car-blocks.ts';
import { keyOfHash } from './cid.ts';

async function archive(): Promise<{ car: Buffer; keys: string[] }> {
  const store = new IpfsStore();
  const root = CID.parse(store.addFile(Buffer.from('0123456789'.repeat(9)), { chunkBytes: 7 }));
  const blocks = store.walk(root);
  return {
    car: await writeCar(root, blocks),
    keys: blocks.map(({ cid }) => keyOfHash(cid.multihash.digest)),
  };
}

const keysOf = (car: Uint8Array): string[] =>
  [...readCarBlocks(car)].map(({ cid }) => keyOfHash(cid.hash));

test('reads all blocks of an archive', async () => {
  const { car, keys } = await archive();
  expect(keys.length).toBeGreaterThan(5);
  expect(keysOf(car)).toEqual(keys);
});

test('reads the blocks before the cut of a truncated archive', async () => {
  const { car, keys } = await archive();
  for (let length = 0; length < car.length; length += 1) {
    const read = keysOf(car.subarray(0, length));
    expect(read).toEqual(keys.slice(0, read.length));
    expect(read.length).toBeLessThan(keys.length);
  }
});

test('never returns a block whose bytes do not match its hash', async () => {
  const { car, keys } = await archive();
  fc.assert(
    fc.property(fc.nat(car.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
      const mutant = Buffer.from(car);
      mutant[at] = (mutant[at] ?? 0) ^ mask;
      for (const { cid, bytes } of readCarBlocks(mutant)) {
        if (keys.includes(keyOfHash(cid.hash))) expect(car.includes(Buffer.from(bytes))).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

test('skips blocks that cannot be checked', async () => {
  const store = new IpfsStore();
  const root = store.addBlock(Buffer.from('sound'), 'raw');
  const identity = CID.createV1(0x55, createDigest(0, Buffer.from('abc')));
  const car = await writeCar(root, [
    { cid: identity, bytes: Buffer.from('abc') },
    { cid: root, bytes: Buffer.from('sound') },
  ]);
  expect([...readCarBlocks(car)].map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([
    'sound',
  ]);
});

test('finds no blocks in bytes that are no archive', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(keysOf(bytes)).toEqual([]);
    }),
  );
  expect(keysOf(Buffer.from('<!doctype html><title>Not found</title>'))).toEqual([]);
});
