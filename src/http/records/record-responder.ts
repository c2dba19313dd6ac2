import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type Context } from 'hono';

import { FullmatchError } from '../../errors.ts';
import { Admission } from '../../lib/admission.ts';
import { packageFile } from '../../lib/package-file.ts';
import { TaskThread } from '../../lib/task-thread.ts';
import type { StoredSections } from '../../repository/repository.ts';
import { type Answer, BASE_HEADERS, makeResponse, REVALIDATED } from '../answer.ts';
import { type ClientOf } from '../client-of.ts';
import { chooseCoding, type ContentCoding, parseAcceptEncoding } from '../../lib/content-coding.ts';
import { type EntityTags, matchIfNoneMatch } from '../../lib/entity-tag.ts';
import { toThreadError } from '../thread-errors.ts';
import { connectionOf, isGone, whenEnded, withClientSignal } from './request-connection.ts';
import { type CachedBody, createBodyCache } from './cached-body.ts';
import { toOverloadError, tooManyResponses } from './overload-errors.ts';
import { type RecordTask, renderRecord } from './render-record.ts';
import { type RecordAnswer } from './record-thread.ts';

/** Limits on responses with records. */
export interface RecordAnswersOptions {
  /** Size of the cache of rendered responses. */
  readonly cacheBytes: number;
  /** Records read or compressed at once; each needs at most one database connection. */
  readonly readers: number;
  /** Names the client of a request. */
  readonly clientOf: ClientOf;
  /** Version of the service: another version may render different bytes. */
  readonly version: string;
}

/** The client on whose behalf work is done. */
export interface Requester {
  readonly client: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Content of a response, and how to obtain it. */
export interface RecordRequest {
  /**
   * Unique key of the content: route, contract, and a version read for this request. It changes with every
   * committed change of the content, so no outdated response is sent.
   */
  readonly key: readonly unknown[];
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Reads the content: its bytes, or the record to render.
   * @throws FullmatchError if there is none
   */
  readonly read: () => Promise<Buffer<ArrayBuffer> | RecordTask>;
}

const TAG_LENGTH = 22;
const MIB = 2 ** 20;
/** Rendering a record up to this size takes a few milliseconds, as long as passing it to a thread. */
const OFF_THREAD_FROM_BYTES = MIB / 2;
const RENDERING = { heapBytes: 384 * MIB, taskTimeoutMs: 20_000, queueLimit: 100, idleMs: 5_000 };
/** Limits on the requests that wait to read. */
const WAITING = { waiting: 500, waitingPerClient: 200 };
/** Responses from this size on are limited in number until their clients have received them. */
const LARGE_BYTES = MIB;
const LARGE = { total: 32, perClient: 8 };
/** A shorter body fits into one packet anyway. */
const COMPRESSED_FROM_BYTES = 1_400;
const GZIP = { level: constants.Z_BEST_SPEED, memLevel: 9 };
/**
 * At this quality Brotli takes half of the time of gzip, and its window of 256 KiB also covers most sources that a
 * record repeats.
 */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const [gzipAsync, brotliAsync] = [promisify(gzip), promisify(brotliCompress)];
/** Expected order of the lengths, before a body is compressed. */
const EXPECTED_LENGTHS = { identity: 3, gzip: 2, br: 1 };

/**
 * Builds responses with contract records. Each version of a record is rendered once and cached; concurrent
 * requests for it share the rendering.
 */
export class RecordResponder {
  readonly #options: RecordAnswersOptions;
  readonly #cache: ReturnType<typeof createBodyCache>;
  readonly #reading: Admission;
  readonly #large = new Admission(LARGE);
  /** Bodies that are being made, by their entity tags; those of several codings share a rendering. */
  readonly #underWay = new Map<string, Promise<CachedBody>>();
  readonly #rendering = new Map<string, Promise<CachedBody>>();
  readonly #thread: TaskThread<RecordTask, RecordAnswer>;
  #renderings = 0;
  #hits = 0;
  #misses = 0;

  constructor(options: RecordAnswersOptions) {
    this.#options = options;
    this.#cache = createBodyCache(options.cacheBytes);
    this.#reading = new Admission({ total: options.readers, ...WAITING });
    this.#thread = new TaskThread(packageFile('dist/http/records/record-thread.js'), RENDERING);
  }

  /**
   * Cached bytes, cache hits and misses, renderings, waiting requests, and large responses that clients have
   * not received yet.
   */
  get held(): {
    readonly cached: number;
    readonly hits: number;
    readonly misses: number;
    readonly renderings: number;
    readonly waiting: number;
    readonly large: number;
  } {
    return {
      cached: this.#cache.calculatedSize,
      hits: this.#hits,
      misses: this.#misses,
      renderings: this.#renderings,
      waiting: this.#reading.waiting,
      large: this.#large.running,
    };
  }

  /**
   * Answers a request; sends 304 without reading the content if the client already has it.
   * @throws FullmatchError too_many_answers, too_many_client_answers, answer_too_large; errors of `read`
   */
  async answer(c: Context, question: RecordRequest): Promise<Answer> {
    const tag = this.#tagOf(question.key);
    const weights = parseAcceptEncoding(c.req.header('accept-encoding'));
    const ifNoneMatch = c.req.header('if-none-match');
    const wished = chooseCoding(weights, EXPECTED_LENGTHS) ?? 'identity';
    // `*` matches any content, so the content must be read to know whether it exists.
    if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== '*') {
      const held = matchIfNoneMatch(ifNoneMatch, tagsOf(tag), wished);
      if (held !== undefined) return notModified(tag, held);
    }
    const { coding, bytes } = await this.#bodyOf(c, tag, wished, question);
    if (ifNoneMatch?.trim() === '*') return notModified(tag, coding);
    if (bytes.byteLength >= LARGE_BYTES) this.#admitLarge(c);
    return makeResponse(bytes, {
      status: 200,
      headers: {
        ...BASE_HEADERS,
        ...validatorsOf(tag, coding),
        'content-type': question.type,
        'content-length': String(bytes.byteLength),
        ...(coding !== 'identity' && { 'content-encoding': coding }),
        ...question.headers,
      },
    });
  }

  /**
   * Does expensive work once it is admitted; skips it if the client has disconnected.
   * @param admission limit to use; by default the one on reads of records, which use the connections for
   * large responses.
   * @throws FullmatchError too_many_answers, too_many_client_answers; errors of `make`
   */
  async admit<T>(
    c: Context,
    make: (requester: Requester) => Promise<T>,
    admission = this.#reading,
  ): Promise<T> {
    const client = this.clientOf(c);
    return withClientSignal(c, (signal) =>
      admission.run(client, () => make({ client, signal }), signal).catch(toOverloadError),
    );
  }

  /** Names the client of a request, see {@link ClientOf}. */
  clientOf(c: Pick<Context, 'env'>): string {
    return this.#options.clientOf(c);
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }

  #tagOf(key: readonly unknown[]): string {
    const text = JSON.stringify([this.#options.version, ...key]);
    return createHash('sha256').update(text).digest('base64url').slice(0, TAG_LENGTH);
  }

  /** Returns a body from the cache; otherwise renders it, and compresses it if that is worthwhile. */
  async #bodyOf(
    c: Context,
    tag: string,
    wished: ContentCoding,
    question: RecordRequest,
  ): Promise<CachedBody> {
    const tags = tagsOf(tag);
    const plain = this.#cache.peek(tags.identity);
    const short =
      plain !== undefined && isShort(plain) ? this.#cache.get(tags.identity) : undefined;
    const cached = this.#cache.get(tags[wished]) ?? short;
    if ((cached ?? plain) === undefined) this.#misses += 1;
    else this.#hits += 1;
    if (cached !== undefined) return cached;
    const client = this.clientOf(c);
    return withClientSignal(c, () => this.#makeOnce(client, tags, wished, question));
  }

  /**
   * Makes a body once for all concurrent requests. It does not abort when its first client disconnects, since others
   * may be waiting for it.
   */
  #makeOnce(
    client: string,
    tags: EntityTags,
    coding: ContentCoding,
    question: RecordRequest,
  ): Promise<CachedBody> {
    const render = async (): Promise<CachedBody> => ({
      coding: 'identity',
      bytes: await this.#render(client, question),
    });
    const make = async (): Promise<CachedBody> => {
      const plain =
        this.#cache.get(tags.identity) ?? (await share(this.#rendering, tags.identity, render));
      const body = coding === 'identity' ? plain : await compress(plain, coding);
      // What was only rendered to be compressed is not cached: it would take the place of five compressed bodies.
      this.#cache.set(tags[body.coding], body);
      return body;
    };
    return share(this.#underWay, tags[coding], () =>
      this.#reading.run(client, make).catch(toOverloadError),
    );
  }

  /**
   * Occupies a slot for large responses until the client has received this one.
   * @throws FullmatchError too_many_answers, too_many_client_answers
   */
  #admitLarge(c: Context): void {
    const connection = connectionOf(c);
    if (connection === undefined || isGone(connection)) return;
    try {
      whenEnded(connection, this.#large.enterNow(this.clientOf(c)));
    } catch (error) {
      toOverloadError(error);
    }
  }

  async #render(client: string, { read }: RecordRequest): Promise<Buffer<ArrayBuffer>> {
    const found = await read();
    this.#renderings += 1;
    if (Buffer.isBuffer(found)) return found;
    // Creating an archive takes ten times as long as rendering.
    const isSmall = sizeOf(found.parts) < OFF_THREAD_FROM_BYTES && found.form.kind !== 'zip';
    return isSmall ? renderRecord(found) : this.#renderOnThread(found, client);
  }

  async #renderOnThread(task: RecordTask, client: string): Promise<Buffer<ArrayBuffer>> {
    try {
      const answer = await this.#thread.ask(task, { client });
      if ('failed' in answer) throw new Error(`a record was not rendered: ${answer.failed}`);
      const { buffer, byteOffset, byteLength } = answer.bytes;
      return Buffer.from(buffer, byteOffset, byteLength);
    } catch (error) {
      throw toThreadError(error, { queueFull: tooManyResponses, tooMuch: answerTooLarge });
    }
  }
}

/** Returns the promise under way for a key, or makes one. */
function share<T>(
  underWay: Map<string, Promise<T>>,
  key: string,
  make: () => Promise<T>,
): Promise<T> {
  const making = underWay.get(key) ?? make().finally(() => underWay.delete(key));
  underWay.set(key, making);
  return making;
}

const isShort = ({ bytes }: CachedBody): boolean => bytes.byteLength < COMPRESSED_FROM_BYTES;

/** Compresses a body unless it is short. */
async function compress(
  plain: CachedBody,
  coding: Exclude<ContentCoding, 'identity'>,
): Promise<CachedBody> {
  if (isShort(plain)) return plain;
  // Nearly every result fits into one chunk.
  const chunkSize = Math.ceil(plain.bytes.byteLength / 4);
  const packed = await (coding === 'gzip'
    ? gzipAsync(plain.bytes, { ...GZIP, chunkSize })
    : brotliAsync(plain.bytes, { ...BROTLI, chunkSize }));
  // The result is a part of its chunk, and the cache would keep the whole chunk.
  const bytes = Buffer.allocUnsafeSlow(packed.byteLength);
  packed.copy(bytes);
  return { coding, bytes };
}

function tagsOf(tag: string): EntityTags {
  return { identity: `"${tag}"`, gzip: `"${tag}-gzip"`, br: `"${tag}-br"` };
}

function validatorsOf(tag: string, coding: ContentCoding): Record<string, string> {
  return { etag: tagsOf(tag)[coding], 'cache-control': REVALIDATED, vary: 'Accept-Encoding' };
}

function notModified(tag: string, coding: ContentCoding): Answer {
  return makeResponse(null, {
    status: 304,
    headers: { ...BASE_HEADERS, ...validatorsOf(tag, coding) },
  });
}

function sizeOf({ row, sources = [], sourceSizes = [] }: StoredSections): number {
  const columns = Object.values(row ?? {}) as (string | Uint8Array | boolean | null)[];
  const ofRow = columns.map((value) => (typeof value === 'boolean' ? 1 : (value?.length ?? 0)));
  const ofSources = sources.map(({ path, content }) => path.length + content.length);
  const ofPaths = sourceSizes.map(({ path }) => path.length);
  return [...ofRow, ...ofSources, ...ofPaths].reduce((sum, size) => sum + size, 0);
}

function answerTooLarge(): FullmatchError {
  return new FullmatchError(
    'answer_too_large',
    'The response is too large to render; request fewer fields, or the sources page by page.',
  );
}
