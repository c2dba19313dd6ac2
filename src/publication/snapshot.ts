import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createBrotliCompress, gzip } from 'node:zlib';

import { type ContentCoding } from '../http/content-coding.ts';
import { entityTags, type EntityTags } from '../http/entity-tag.ts';
import { BASE_HEADERS, CORS_HEADERS, JSON_TYPE, type ResponseHeaders } from '../http/answer.ts';

const compressGzip = promisify(gzip);
/** The bytes that brotli compresses at a time, as a power of two: at its best level about a tenth of a second of work. */
const BROTLI_BLOCK_BITS = 16;

/**
 * Both documents are read together and every key of stats.json has a record in /chains, so neither may come out of a
 * cache while the other is fresh: a cache asks each time (a 304 costs no body) and may answer on its own for a second
 * while it asks, or for a day while the service cannot be reached.
 */
const CACHE_CONTROL = 'public, max-age=0, stale-while-revalidate=1, stale-if-error=86400';

/** Headers of an answer in the two forms that are written without work: for the Node adapter, and for Node. */
export interface PreparedHeaders {
  readonly record: ResponseHeaders;
  /** Names and values in turn. */
  readonly raw: readonly string[];
}

/** The bytes of a document in one coding, with the headers of a 200. */
export interface Representation {
  readonly body: Buffer<ArrayBuffer>;
  readonly headers: PreparedHeaders;
}

/**
 * One version of a published document: immutable, made once per change and never per request.
 * `br` is absent until its slow level is ready ({@link addBrotli}).
 */
export interface Snapshot {
  readonly tags: EntityTags;
  readonly lastModified: Date;
  /**
   * Whether this process has published another version in the same second. Last-Modified holds whole seconds, so
   * it cannot tell the two apart, and only the entity tag is believed.
   */
  readonly sharesSecond: boolean;
  /** The length of each body in bytes: what {@link chooseCoding} decides on. */
  readonly lengths: Readonly<Partial<Record<ContentCoding, number>>>;
  readonly identity: Representation;
  readonly gzip: Representation;
  readonly br?: Representation;
  /** The headers of a 304 for a client that holds the content in this coding. */
  readonly notModified: Readonly<Record<ContentCoding, PreparedHeaders>>;
}

/**
 * Makes the snapshot of a document from its bytes, with the codings that are quick to make.
 * `previous` is the version that it will replace.
 */
export async function makeSnapshot(
  bytes: Uint8Array,
  lastModified: Date,
  previous?: Snapshot,
): Promise<Snapshot> {
  const body = Buffer.from(bytes);
  const tags = entityTags(body);
  const zipped = await compressGzip(body, { level: constants.Z_BEST_COMPRESSION });
  const sharesSecond =
    previous !== undefined && secondOf(previous.lastModified) === secondOf(lastModified);
  const notModified = (coding: ContentCoding): PreparedHeaders =>
    prepareHeaders({ ...validatorsOf(tags, lastModified, coding), ...CORS_HEADERS });
  return withLengths({
    tags,
    lastModified,
    sharesSecond,
    identity: makeRepresentation('identity', body, tags, lastModified),
    gzip: makeRepresentation('gzip', zipped, tags, lastModified),
    notModified: {
      identity: notModified('identity'),
      gzip: notModified('gzip'),
      br: notModified('br'),
    },
  });
}

/**
 * The same snapshot with its br body at the best level.
 *
 * The level takes a second and a half for the whole chain list, so it never runs on the main thread. It runs on
 * zlib's thread pool and not in a worker of our own: a worker costs a second heap (10 MB at rest) for work that
 * happens once per change and takes one buffer in and gives one out. The caller runs one at a time, which leaves
 * the pool's other threads to everyone else. What runs there cannot be interrupted, so it is given one block after the
 * other: an abort waits for one block at most.
 *
 * There is no quick br body in the meantime: a strong tag may never name two byte strings, and the two levels would
 * differ in their bytes. Clients that take br get gzip until it is ready.
 */
export async function addBrotli(snapshot: Snapshot, signal?: AbortSignal): Promise<Snapshot> {
  const { body } = snapshot.identity;
  const compression = createBrotliCompress({
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_LGBLOCK]: BROTLI_BLOCK_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
    },
  });
  const [packed] = await Promise.all([
    buffer(compression),
    pipeline(Readable.from(blocksOf(body)), compression, { ...(signal && { signal }) }),
  ]);
  const br = makeRepresentation('br', packed, snapshot.tags, snapshot.lastModified);
  return withLengths({ ...snapshot, br });
}

function* blocksOf(body: Buffer): Generator<Buffer> {
  const size = 2 ** BROTLI_BLOCK_BITS;
  for (let at = 0; at < body.byteLength; at += size) yield body.subarray(at, at + size);
}

/** The time in whole seconds: all that an HTTP date holds. */
export function secondOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

function withLengths(snapshot: Omit<Snapshot, 'lengths'>): Snapshot {
  const lengths: Partial<Record<ContentCoding, number>> = {
    identity: snapshot.identity.body.byteLength,
    gzip: snapshot.gzip.body.byteLength,
  };
  if (snapshot.br !== undefined) lengths.br = snapshot.br.body.byteLength;
  return Object.freeze({ ...snapshot, lengths: Object.freeze(lengths) });
}

function makeRepresentation(
  coding: ContentCoding,
  body: Buffer<ArrayBuffer>,
  tags: EntityTags,
  lastModified: Date,
): Representation {
  const headers = prepareHeaders({
    'content-type': JSON_TYPE,
    'content-length': String(body.byteLength),
    ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
    ...validatorsOf(tags, lastModified, coding),
    ...BASE_HEADERS,
  });
  return Object.freeze({ body, headers });
}

function validatorsOf(
  tags: EntityTags,
  lastModified: Date,
  coding: ContentCoding,
): ResponseHeaders {
  return {
    etag: tags[coding],
    'last-modified': lastModified.toUTCString(),
    'cache-control': CACHE_CONTROL,
    vary: 'Accept-Encoding',
  };
}

function prepareHeaders(record: ResponseHeaders): PreparedHeaders {
  return Object.freeze({
    record: Object.freeze(record),
    raw: Object.freeze(Object.entries(record).flat()),
  });
}
