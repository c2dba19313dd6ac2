import fc from 'fast-check';
import { base32 } from 'multiformats/bases/base32';
import { base58btc } from 'multiformats/bases/base58';
import { CID } from 'multiformats/cid';
import { create as createDigest } from 'multiformats/hashes/digest';
import { expect, test } from 'vitest';
import { cidOfFile, verifiesBlock, parseCid, readCid } from './cid.ts';

const HASH = fc.uint8Array({ minLength: 32, maxLength: 32 });

test('reads SHA-256 CIDs of version 0 and 1 from text and bytes', () => {
  fc.assert(
    fc.property(HASH, fc.constantFrom(0x70, 0x55), (hash, codec) => {
      const digest = createDigest(0x12, hash);
      const cids = [CID.createV1(codec, digest), ...(codec === 0x70 ? [CID.createV0(digest)] : [])];
      for (const cid of cids) {
        const spellings = [
          cid.toString(),
          ...(cid.version === 1 ? [cid.toString(base32), cid.toString(base58btc)] : []),
        ];
        for (const text of spellings) {
          expect(parseCid(text)?.hash).toEqual(hash);
          expect(parseCid(text)?.codec).toBe(codec === 0x55 ? 'raw' : 'dag-pb');
        }
        const more = Buffer.concat([cid.bytes, Buffer.from('the block')]);
        expect(readCid(more)?.length).toBe(cid.bytes.length);
        expect(readCid(more)?.cid?.hash).toEqual(hash);
      }
    }),
  );
});

/** Output of `ipfs add` for an empty file: as a UnixFS node, and as raw bytes. */
const EMPTY_FILE = 'QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH';
const EMPTY_BYTES = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku';

test('derives the CID of a file from the hash of its root', () => {
  expect(cidOfFile(parseCid(EMPTY_FILE)!.hash).text).toBe(EMPTY_FILE);
});

test('checks a block against its hash', () => {
  const node = Buffer.from('0a0408021800', 'hex');
  expect(verifiesBlock(parseCid(EMPTY_FILE)!, node)).toBe(true);
  expect(verifiesBlock(parseCid(EMPTY_BYTES)!, Buffer.alloc(0))).toBe(true);
  expect(verifiesBlock(parseCid(EMPTY_BYTES)!, node)).toBe(false);
});

test.each([
  ['no text', ''],
  ['a path behind it', 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPBdG/readme'],
  ['a letter that base58 does not have', 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPBd0'],
  ['SHA-512', CID.createV1(0x55, createDigest(0x13, new Uint8Array(64))).toString()],
  [
    'the content itself (identity)',
    CID.createV1(0x55, createDigest(0, Buffer.from('abc'))).toString(),
  ],
  ['half a SHA-256', CID.createV1(0x55, createDigest(0x12, new Uint8Array(16))).toString()],
  [
    'another codec (dag-cbor)',
    CID.createV1(0x71, createDigest(0x12, new Uint8Array(32))).toString(),
  ],
  ['a megabyte', `b${'a'.repeat(2 ** 20)}`],
])('rejects a CID with %s', (_what, text) => {
  expect(parseCid(text)).toBeUndefined();
});

test('never throws for arbitrary text or bytes', () => {
  fc.assert(
    fc.property(fc.string(), fc.uint8Array({ maxLength: 80 }), (text, bytes) => {
      parseCid(text);
      parseCid(`Qm${text}`);
      readCid(bytes);
      readCid(Buffer.concat([Buffer.from([1]), bytes]));
    }),
  );
});
