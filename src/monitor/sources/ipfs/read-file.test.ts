import fc from 'fast-check';
import { CID } from 'multiformats/cid';
import { describe, expect, test } from 'vitest';
import { countReads } from '../../../../test/support/counted-bytes.ts';
import { type FileLayout, IpfsStore } from '../../../../test/support/ipfs-gateway.ts';
import { hashMetadata } from '../../../bytecode/metadata-hash.ts';
import { ContentFault } from '../content-fault.ts';
import { SearchBudget } from '../gateways/search-budget.ts';
import { DEFAULT_SOURCE_LIMITS } from '../source-limits.ts';
import { EventLoopYielder } from '../../../lib/event-loop-yielder.ts';
import { type BlockCid, cidOfFile, parseCid } from './cid.ts';
import { type BlockSource, IpfsFiles } from './read-file.ts';
import { readFileNode } from './unixfs-node.ts';

const MIB = 1024 * 1024;

function cidOf(text: string | CID): BlockCid {
  const cid = parseCid(String(text));
  if (cid === undefined) throw new Error('the test made a CID that cannot be read');
  return cid;
}

/** Returns the blocks of a store, and a count of the requests for them. */
function blocksOf(store: IpfsStore): BlockSource & { readonly asked: () => number } {
  let asked = 0;
  return {
    asked: () => asked,
    async getBlock({ text }) {
      asked += 1;
      const block = store.get(CID.parse(text));
      if (block === undefined) throw new ContentFault('unavailable', 'No such block.');
      return block;
    },
  };
}

/** Returns the files of one search. */
function filesOf(
  blocks: BlockSource,
  spending: Pick<SearchBudget, 'takeStep' | 'takeFileBytes'> = new SearchBudget(
    DEFAULT_SOURCE_LIMITS,
  ),
): IpfsFiles {
  return new IpfsFiles({ blocks, spending, pauses: new EventLoopYielder() });
}

const readFile = (cid: BlockCid, blocks: BlockSource, limitBytes: number): Promise<Buffer> =>
  filesOf(blocks).read(cid, limitBytes);

const uncounted = (): void => undefined;

const read = (store: IpfsStore, cid: string | CID, limitBytes = MIB): Promise<Buffer> =>
  readFile(cidOf(cid), blocksOf(store), limitBytes);

const kindOf = (reading: Promise<unknown>): Promise<string> =>
  reading.then(
    () => 'read',
    (error: unknown) => (error instanceof ContentFault ? error.kind : String(error)),
  );

const LAYOUT: fc.Arbitrary<FileLayout> = fc.record({
  chunkBytes: fc.integer({ min: 1, max: 64 }),
  links: fc.integer({ min: 2, max: 8 }),
  rawLeaves: fc.boolean(),
});

describe('IPFS file', () => {
  test('is read as written for any chunking', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 600 }), LAYOUT, async (bytes, layout) => {
        const store = new IpfsStore();
        const cid = store.addFile(bytes, layout);
        expect(await read(store, cid, bytes.length)).toEqual(Buffer.from(bytes));
        if (bytes.length > 0) {
          expect(await kindOf(read(store, cid, bytes.length - 1))).toBe('too_large');
        }
      }),
      { numRuns: 60 },
    );
  });

  test.each([0, 1, 256 * 1024, 256 * 1024 + 1, 700_001])(
    'of %i bytes has the CID that solc computes for metadata',
    async (size) => {
      const store = new IpfsStore();
      const text = 'abcdefg'.repeat(100_001).slice(0, size);
      const cid = cidOfFile(hashMetadata('ipfs', text));
      expect(store.addFile(Buffer.from(text))).toBe(cid.text);
      expect((await readFile(cid, blocksOf(store), MIB)).toString()).toBe(text);
    },
  );

  test('contains its own bytes before those of its links', async () => {
    const store = new IpfsStore();
    const cid = store.addBlock(Buffer.from(' and below'), 'raw');
    const root = store.addNode([{ cid, fileBytes: 10 }], { data: Buffer.from('here') });
    expect((await read(store, root)).toString()).toBe('here and below');
  });

  test('is unavailable if a block is missing', async () => {
    const store = new IpfsStore();
    const bytes = Buffer.from('0123456789');
    const cid = store.addFile(bytes, { chunkBytes: 4 });
    const [, , last] = store.walk(CID.parse(cid));
    store.blocks.delete(Buffer.from(last!.cid.multihash.digest).toString('hex'));
    expect(await kindOf(read(store, cid))).toBe('unavailable');
  });
});

describe('Invalid file', () => {
  const leaf = Buffer.from('leaf');

  test.each(['directory', 'symlink', 'metadata', 'hamt-sharded-directory'])(
    'is rejected: a %s',
    async (type) => {
      const store = new IpfsStore();
      expect(await kindOf(read(store, store.addNode([], { data: leaf, type })))).toBe('malformed');
    },
  );

  test.each([
    ['longer', 5],
    ['shorter', 3],
  ])('is rejected: a block %s than its parent declares', async (_what, length) => {
    const store = new IpfsStore();
    for (const cid of [store.addBlock(leaf, 'raw'), store.addNode([], { data: leaf })]) {
      const root = store.addNode([{ cid, fileBytes: length === 5 ? 3 : 5 }]);
      expect(await kindOf(read(store, root))).toBe('malformed');
    }
  });

  test('is rejected before reading its blocks if it declares too large a size', async () => {
    const store = new IpfsStore();
    const cid = store.addBlock(leaf, 'raw');
    const root = store.addNode([{ cid, fileBytes: 2 ** 40 }]);
    const blocks = blocksOf(store);
    expect(await kindOf(readFile(cidOf(root), blocks, MIB))).toBe('too_large');
    expect(blocks.asked()).toBe(1);
  });

  test('is rejected: nested links that expand to gigabytes', async () => {
    const store = new IpfsStore();
    let cid = store.addBlock(Buffer.alloc(1000), 'raw');
    let fileBytes = 1000;
    for (let level = 0; level < 8; level += 1) {
      cid = store.addNode(Array.from({ length: 100 }, () => ({ cid, fileBytes })));
      fileBytes *= 100;
      if (fileBytes > MIB) break;
    }
    expect(await kindOf(read(store, cid))).toBe('too_large');
  });

  test('is rejected after 8,192 blocks: nested links that expand to nothing', async () => {
    const store = new IpfsStore();
    let cid = store.addBlock(Buffer.alloc(0), 'raw');
    for (let level = 0; level < 6; level += 1) {
      cid = store.addNode(Array.from({ length: 100 }, () => ({ cid, fileBytes: 0 })));
    }
    const blocks = blocksOf(store);
    expect(await kindOf(readFile(cidOf(cid), blocks, MIB))).toBe('too_large');
    expect(blocks.asked()).toBeLessThanOrEqual(7);
  });

  test.each([
    [32, 'read'],
    [33, 'malformed'],
  ])('is rejected below 32 levels: a file of %i levels is %s', async (levels, outcome) => {
    const store = new IpfsStore();
    let cid = store.addBlock(leaf, 'raw');
    for (let level = 1; level < levels; level += 1) {
      cid = store.addNode([{ cid, fileBytes: leaf.length }]);
    }
    expect(await kindOf(read(store, cid))).toBe(outcome);
  });

  test('is rejected at its first bytes: a 2 MiB block of only links, fields or lengths', () => {
    const cid = cidOf(new IpfsStore().addNode([]));
    const filled = (pair: readonly number[]): Buffer => Buffer.alloc(2 * MIB, Buffer.from(pair));
    const packed = Buffer.concat([
      Buffer.from([0x0a, 0x80, 0x80, 0x40, 0x22, 0xfc, 0xff, 0x3f]),
      Buffer.alloc(MIB, 1),
    ]);
    for (const block of [
      filled([0x12, 0x00]),
      filled([0x08, 0x00]),
      filled([0x0a, 0x00]),
      packed,
    ]) {
      const { bytes, reads } = countReads(block);
      expect(() => readFileNode(cid, bytes, uncounted)).toThrow(ContentFault);
      expect(reads()).toBeLessThan(100);
    }
  });

  /** Encodes a bytes field in protobuf. */
  const field = (number: number, bytes: Uint8Array): Buffer => {
    const [low, high] = [bytes.length & 0x7f, bytes.length >> 7];
    return Buffer.concat([Buffer.from([number * 8 + 2, low | 0x80, high]), bytes]);
  };
  const linkTo = (cid: CID, more: Uint8Array): Buffer =>
    field(2, Buffer.concat([field(1, cid.bytes), more]));

  test.each([
    ['name', [0x12, 0x00]],
    ['size', [0x18, 0x00]],
    ['CID', []],
  ])('is rejected at the second %s of a link, before the rest is parsed', async (what, pair) => {
    const store = new IpfsStore();
    const cid = store.addBlock(leaf, 'raw');
    const second = pair.length === 0 ? field(1, cid.bytes) : Buffer.from([...pair, ...pair]);
    const link = linkTo(cid, Buffer.concat([second, Buffer.alloc(400, Buffer.from([0x12, 0x00]))]));
    const block = store.addBlock(Buffer.concat(Array.from({ length: 4000 }, () => link)));
    let fields = 0;
    const count = (): void => void (fields += 1);
    expect(() => readFileNode(cidOf(block), store.get(block)!, count)).toThrow('a link is wrong');
    expect({ what, fields }).toEqual({ what, fields: what === 'CID' ? 3 : 4 });
  });

  test('is parsed once per search for any number of files and CID spellings', async () => {
    const store = new IpfsStore();
    const wrong = store.addBlock(field(2, Buffer.from([0x12, 0x00])));
    const sound = store.addNode([], { data: leaf });
    let fields = 0;
    const spending = { takeStep: () => void (fields += 1), takeFileBytes: uncounted };
    const files = filesOf(blocksOf(store), spending);
    const readAll = async (): Promise<number> => {
      const before = fields;
      for (const { multihash } of [wrong, sound].map((cid) => cid.toV0())) {
        for (const cid of [CID.createV0(multihash), CID.createV1(0x70, multihash)]) {
          await Promise.all([1, 2].map(() => kindOf(files.read(cidOf(cid), MIB))));
        }
      }
      return fields - before;
    };
    const visits = 8;
    const parsed = (await readAll()) - visits;
    expect(parsed).toBeGreaterThan(0);
    expect(parsed).toBeLessThan(10);
    expect((await readAll()) - visits).toBe(0);
  });

  test('is rejected if all files of a search exceed the field, block or byte limits', async () => {
    const store = new IpfsStore();
    const block = store.addBlock(Buffer.alloc(100), 'raw');
    const limits = { ...DEFAULT_SOURCE_LIMITS, steps: 100 };
    const files = filesOf(blocksOf(store), new SearchBudget(limits));
    const kinds: string[] = [];
    for (let index = 0; index < 40; index += 1) {
      const root = store.addNode([{ cid: block, fileBytes: 100 }], { data: Buffer.from([index]) });
      kinds.push(await kindOf(files.read(cidOf(root), MIB)));
    }
    expect(kinds.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 'read'));
    expect(kinds.slice(15)).toEqual(Array.from({ length: 25 }, () => 'too_large'));

    const bytes = { ...DEFAULT_SOURCE_LIMITS, fileBytes: 1000 };
    const few = filesOf(blocksOf(store), new SearchBudget(bytes));
    const readings: string[] = [];
    for (let index = 0; index < 11; index += 1) {
      readings.push(await kindOf(few.read(cidOf(block), MIB)));
    }
    expect(readings).toEqual([...Array.from({ length: 10 }, () => 'read'), 'too_large']);
  });

  test('is rejected with the expected error type for arbitrary bytes', async () => {
    const store = new IpfsStore();
    const cid = store.addFile(Buffer.from('0123456789'), { chunkBytes: 3 });
    const block = store.get(CID.parse(cid))!;
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc
            .tuple(fc.nat(block.length - 1), fc.nat(255), fc.nat(block.length))
            .map(([at, byte, length]) => {
              const mutant = Uint8Array.from(block);
              mutant[at] = byte;
              return mutant.subarray(0, length);
            }),
        ),
        (bytes) => {
          try {
            const { data, links, fileBytes } = readFileNode(cidOf(cid), bytes, uncounted);
            expect(links.reduce((sum, link) => sum + link.fileBytes, data.length)).toBe(fileBytes);
          } catch (error) {
            expect(error).toBeInstanceOf(ContentFault);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
