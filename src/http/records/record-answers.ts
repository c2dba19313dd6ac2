import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { type Context } from 'hono';

import { FullmatchError } from '../../errors.ts';
import { Admission } from '../../lib/admission.ts';
import { packageFile } from '../../lib/package-file.ts';
import { TaskThread } from '../../lib/task-thread.ts';
import type { StoredSections } from '../../repository/repository.ts';
import { type Answer, BASE_HEADERS, makeAnswer, REVALIDATED } from '../answer.ts';
import { clientOf, type TrustedProxies } from '../client-of.ts';
import { chooseCoding, type ContentCoding, parseAcceptEncoding } from '../../lib/content-coding.ts';
import { type EntityTags, matchIfNoneMatch } from '../../lib/entity-tag.ts';
import { refuseForThread } from '../thread-refusal.ts';
import { connectionOf, isGone, whenEnded, withClientSignal } from './answer-connection.ts';
import { type CachedBody, createBodyCache } from './cached-body.ts';
import { refuseCrowded, tooManyAnswers } from './crowded.ts';
import { type RecordTask, renderRecord } from './render-record.ts';
import { type RecordAnswer } from './record-thread.ts';

/** What answers with records may cost. */
export interface RecordAnswersOptions {
  /** Of rendered answers that are kept. */
  readonly cacheBytes: number;
  /** Records that are read at once, each on one connection to the database. */
  readonly readers: number;
  readonly trustedProxies: TrustedProxies;
  /** Of the service: another one may write other bytes. */
  readonly version: string;
}

/** Whom work is done for. */
export interface Requester {
  readonly client: string;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
}

/** The content of an answer, and how it came about. */
export interface RecordQuestion {
  /**
   * What tells this content from every other: route, contract, and a version that was read for this request. It is
   * another text after every committed change of the content, so that nothing outdated is answered.
   */
  readonly key: readonly unknown[];
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Reads the content: its bytes, or what is to be made of a record. @throws FullmatchError where there is none */
  readonly read: () => Promise<Buffer<ArrayBuffer> | RecordTask>;
}

const TAG_LENGTH = 22;
const MIB = 2 ** 20;
/** Records up to this size take a few milliseconds, and handing them to a thread takes as long. */
const OFF_THREAD_FROM_BYTES = MIB / 2;
const RENDERING = { heapBytes: 384 * MIB, taskTimeoutMs: 20_000, queueLimit: 100, idleMs: 5_000 };
/** Requests that wait to be read. */
const WAITING = { waiting: 500, waitingPerClient: 200 };
/** Answers from this size on are few at once, each until its client has taken it. */
const LARGE_BYTES = MIB;
const LARGE = { total: 32, perClient: 8 };
/** Shorter bodies go in one packet anyway. */
const COMPRESSED_FROM_BYTES = 1_400;
const compress = promisify(gzip);

/**
 * Answers with records of contracts. A record is rendered once for each of its versions and kept; requests for one that is
 * being rendered wait for it together.
 */
export class RecordAnswers {
  readonly #options: RecordAnswersOptions;
  readonly #cache: ReturnType<typeof createBodyCache>;
  readonly #reading: Admission;
  readonly #large = new Admission(LARGE);
  readonly #rendering = new Map<string, Promise<CachedBody>>();
  readonly #compressing = new Map<CachedBody, Promise<void>>();
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
   * The bytes that are kept and how often a question found them, how often a record was rendered, how many questions wait,
   * and how many large answers clients have not taken yet.
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
   * Answers a request: 304 where the client holds the content, without reading it.
   * @throws FullmatchError too_many_answers, too_many_client_answers, answer_too_large; what `read` throws
   */
  async answer(c: Context, question: RecordQuestion): Promise<Answer> {
    const tag = this.#tagOf(question.key);
    const weights = parseAcceptEncoding(c.req.header('accept-encoding'));
    const ifNoneMatch = c.req.header('if-none-match');
    // Gzip is taken to be shorter where it is not made yet.
    const wished = chooseCoding(weights, { identity: 2, gzip: 1 }) === 'gzip' ? 'gzip' : 'identity';
    // `*` asks whether there is any content, which only reading it shows.
    if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== '*') {
      const held = matchIfNoneMatch(ifNoneMatch, tagsOf(tag), wished);
      if (held !== undefined) return notModified(tag, held);
    }
    const body = this.#find(tag) ?? (await this.#renderOnce(c, tag, question));
    if (ifNoneMatch?.trim() === '*') return notModified(tag, wished);
    const coding = wished === 'gzip' ? await this.#compressOnce(body) : 'identity';
    const bytes = body[coding] ?? body.identity;
    if (bytes.byteLength >= LARGE_BYTES) this.#admitLarge(c);
    return makeAnswer(bytes, {
      status: 200,
      headers: {
        ...BASE_HEADERS,
        ...validatorsOf(body.tag, coding),
        'content-type': question.type,
        'content-length': String(bytes.byteLength),
        ...(coding === 'gzip' && { 'content-encoding': 'gzip' }),
        ...question.headers,
      },
    });
  }

  /**
   * Makes something large once it is admitted, and nothing for a client that has left.
   * @param admission of what is made; without one that of readings, which take the connections of large answers.
   * @throws FullmatchError too_many_answers, too_many_client_answers; what `make` throws
   */
  async admit<T>(
    c: Context,
    make: (asker: Requester) => Promise<T>,
    admission = this.#reading,
  ): Promise<T> {
    const client = this.clientOf(c);
    return withClientSignal(c, (signal) =>
      admission.run(client, () => make({ client, signal }), signal).catch(refuseCrowded),
    );
  }

  /** For whom a request is answered, see {@link clientOf}. */
  clientOf(c: Pick<Context, 'env'>): string {
    return clientOf(c.env, this.#options.trustedProxies);
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    await this.#thread.close();
  }

  #tagOf(key: readonly unknown[]): string {
    const text = JSON.stringify([this.#options.version, ...key]);
    return createHash('sha256').update(text).digest('base64url').slice(0, TAG_LENGTH);
  }

  #find(tag: string): CachedBody | undefined {
    const body = this.#cache.get(tag);
    if (body === undefined) this.#misses += 1;
    else this.#hits += 1;
    return body;
  }

  /** Takes a place among the large answers until the client has this one. @throws FullmatchError too_many_answers, too_many_client_answers */
  #admitLarge(c: Context): void {
    const connection = connectionOf(c);
    if (connection === undefined || isGone(connection)) return;
    try {
      whenEnded(connection, this.#large.enterNow(this.clientOf(c)));
    } catch (error) {
      refuseCrowded(error);
    }
  }

  async #renderOnce(c: Context, tag: string, question: RecordQuestion): Promise<CachedBody> {
    const rendering = this.#rendering.get(tag) ?? this.#beginRendering(c, tag, question);
    return withClientSignal(c, () => rendering);
  }

  /** Others may wait for it when the client that asked first leaves, so that it goes on. */
  #beginRendering(c: Context, tag: string, question: RecordQuestion): Promise<CachedBody> {
    const client = this.clientOf(c);
    const rendering = this.#reading
      .run(client, async () => {
        const body = { tag, identity: await this.#render(client, question) };
        this.#cache.set(tag, body);
        return body;
      })
      .catch(refuseCrowded)
      .finally(() => this.#rendering.delete(tag));
    this.#rendering.set(tag, rendering);
    return rendering;
  }

  async #render(client: string, { read }: RecordQuestion): Promise<Buffer<ArrayBuffer>> {
    const found = await read();
    this.#renderings += 1;
    if (Buffer.isBuffer(found)) return found;
    // Packing takes ten times as long as writing.
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
      throw refuseForThread(error, { queueFull: tooManyAnswers, tooMuch: answerTooLarge });
    }
  }

  /** Makes the compressed form where it pays, once for all who ask. */
  async #compressOnce(body: CachedBody): Promise<'identity' | 'gzip'> {
    if (body.identity.byteLength < COMPRESSED_FROM_BYTES) return 'identity';
    if (body.gzip === undefined) {
      let underWay = this.#compressing.get(body);
      if (underWay === undefined) {
        underWay = this.#compress(body).finally(() => this.#compressing.delete(body));
        this.#compressing.set(body, underWay);
      }
      await underWay;
    }
    return 'gzip';
  }

  async #compress(body: CachedBody): Promise<void> {
    body.gzip = await compress(body.identity, { level: constants.Z_BEST_SPEED });
    // The cache weighs an entry when it is another object.
    this.#cache.set(body.tag, { ...body });
  }
}

function tagsOf(tag: string): EntityTags {
  return { identity: `"${tag}"`, gzip: `"${tag}-gzip"`, br: `"${tag}-br"` };
}

function validatorsOf(tag: string, coding: ContentCoding): Record<string, string> {
  return { etag: tagsOf(tag)[coding], 'cache-control': REVALIDATED, vary: 'Accept-Encoding' };
}

function notModified(tag: string, coding: ContentCoding): Answer {
  return makeAnswer(null, {
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
    'This answer takes longer or needs more memory than it may; ask for fewer fields, or for the sources page by page.',
  );
}
