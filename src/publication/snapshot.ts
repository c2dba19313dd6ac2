import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createBrotliCompress, gzip } from 'node:zlib';

import { type ContentCoding } from '../lib/content-coding.ts';
import { entityTags, type EntityTags } from '../lib/entity-tag.ts';

const compressGzip = promisify(gzip);
/** Bytes that brotli compresses at a time, as a power of two: about a tenth of a second of work at its best level. */
const BROTLI_BLOCK_BITS = 16;

/**
 * One version of a published document: immutable, made once per change and never per request. `br` is absent
 * until its slow level is ready ({@link addBrotli}).
 */
export interface Snapshot {
  readonly tags: EntityTags;
  readonly lastModified: Date;
  /**
   * Whether this process published another version in the same second. Last-Modified has a resolution of
   * seconds and cannot distinguish the two, so only the entity tag is valid.
   */
  readonly sharesSecond: boolean;
  /** The content in each coding. */
  readonly bodies: Readonly<
    Record<'identity' | 'gzip', Buffer<ArrayBuffer>> & { br?: Buffer<ArrayBuffer> }
  >;
  /** Length of each body in bytes, on which {@link chooseCoding} decides. */
  readonly lengths: Readonly<Partial<Record<ContentCoding, number>>>;
}

/**
 * Makes the snapshot of a document with the codings that are quick to make. `previous` is the version that it
 * will replace.
 */
export async function makeSnapshot(
  bytes: Uint8Array,
  lastModified: Date,
  previous?: Snapshot,
): Promise<Snapshot> {
  const identity = Buffer.from(bytes);
  const tags = entityTags(identity);
  const zipped = await compressGzip(identity, { level: constants.Z_BEST_COMPRESSION });
  const sharesSecond =
    previous !== undefined && secondOf(previous.lastModified) === secondOf(lastModified);
  return freeze({ tags, lastModified, sharesSecond }, { identity, gzip: zipped });
}

/**
 * Adds a br body at the best level to a snapshot.
 *
 * The level takes a second and a half for the whole chain list, so it never runs on the main thread. It runs
 * on zlib's thread pool instead of a worker of our own: a worker costs a second heap (10 MB at rest) for work
 * that happens once per change, with one buffer in and one out. The caller runs one at a time, which leaves
 * the pool's other threads to everyone else. Compression cannot be interrupted, so it processes one block at
 * a time: an abort waits for one block at most.
 *
 * There is no quick br body in the meantime: a strong tag must never name two byte strings, and the two
 * levels would differ in their bytes. Clients that accept br get gzip until it is ready.
 */
export async function addBrotli(snapshot: Snapshot, signal?: AbortSignal): Promise<Snapshot> {
  const { identity } = snapshot.bodies;
  const compression = createBrotliCompress({
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_LGBLOCK]: BROTLI_BLOCK_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: identity.byteLength,
    },
  });
  const [br] = await Promise.all([
    buffer(compression),
    pipeline(Readable.from(blocksOf(identity)), compression, { ...(signal && { signal }) }),
  ]);
  return freeze(snapshot, { ...snapshot.bodies, br });
}

function* blocksOf(body: Buffer): Generator<Buffer> {
  const size = 2 ** BROTLI_BLOCK_BITS;
  for (let at = 0; at < body.byteLength; at += size) yield body.subarray(at, at + size);
}

/** The time in whole seconds, the resolution of an HTTP date. */
export function secondOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

function freeze(
  { tags, lastModified, sharesSecond }: Omit<Snapshot, 'bodies' | 'lengths'>,
  bodies: Snapshot['bodies'],
): Snapshot {
  const lengths = Object.fromEntries(
    Object.entries(bodies).map(([coding, body]) => [coding, body.byteLength]),
  );
  return Object.freeze({
    tags,
    lastModified,
    sharesSecond,
    bodies: Object.freeze(bodies),
    lengths: Object.freeze(lengths),
  });
}
