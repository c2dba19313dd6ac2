import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { type Context } from 'hono';

import { FullmatchError } from '../../errors.ts';
import { OwnPasses } from '../../lib/own-passes.ts';
import { TaskThread } from '../../lib/task-thread.ts';
import type { StoredSections } from '../../repository/repository.ts';
import { type Answer, BASE_HEADERS, makeAnswer, REVALIDATED } from '../answer.ts';
import { clientOf, type TrustedProxies } from '../client-of.ts';
import { chooseCoding, type ContentCoding, parseAcceptEncoding } from '../../lib/content-coding.ts';
import { type EntityTags, findHeldCoding } from '../../lib/entity-tag.ts';
import { refuseForThread } from '../thread-refusal.ts';
import {
  AnswerBudget,
  type AnswerLimits,
  tooManyAnswers,
  tooManyClientQuestions,
} from './answer-budget.ts';
import { connectionOf, isGone, whenEnded, whileWaitedFor } from './answer-connection.ts';
import { BodyCache, type CachedBody } from './body-cache.ts';
import { type RecordTask, renderRecord } from './render-record.ts';
import { type RecordAnswer } from './record-thread.ts';
import { SharedWork } from './shared-work.ts';
import { NoPlace, Turns } from './turns.ts';

/** What answers with records may cost. */
export interface RecordAnswersOptions {
  /** Of rendered answers that are kept. */
  readonly cacheBytes: number;
  readonly limits: AnswerLimits;
  /** Records that are read at once, each on one connection to the database. */
  readonly readers: number;
  readonly trustedProxies: TrustedProxies;
  /** Of the service: another one may write other bytes. */
  readonly version: string;
}

/** Whom work is done for. */
export interface Asker {
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
/** Requests that wait for their turn to read. */
const WAITING = { total: 500, perClient: 200 };
/** Shorter bodies go in one packet anyway. */
const COMPRESSED_FROM_BYTES = 1_400;
const compress = promisify(gzip);

/**
 * Answers with records of contracts. A record is rendered once for each of its versions and kept; requests for one that is
 * being rendered wait for it together. What clients have not taken yet is counted.
 */
export class RecordAnswers {
  readonly #options: RecordAnswersOptions;
  readonly #cache: BodyCache;
  readonly #budget: AnswerBudget;
  readonly #turns: Turns;
  readonly #rendering: SharedWork<CachedBody>;
  readonly #compressing = new Map<CachedBody, Promise<void>>();
  readonly #thread: TaskThread<RecordTask, RecordAnswer>;
  readonly #passes = new OwnPasses();
  #renderings = 0;

  constructor(options: RecordAnswersOptions) {
    this.#options = options;
    this.#cache = new BodyCache(options.cacheBytes);
    this.#budget = new AnswerBudget(options.limits);
    this.#turns = new Turns(options.readers, WAITING);
    this.#rendering = new SharedWork(this.#turns);
    this.#thread = new TaskThread(new URL('./record-thread.ts', import.meta.url), RENDERING);
  }

  /**
   * The bytes that are kept and how often a question found them, those that clients have not taken, for how many
   * clients, how often a record was rendered, and how many questions wait.
   */
  get held(): {
    readonly cached: number;
    readonly hits: number;
    readonly misses: number;
    readonly bytes: number;
    readonly clients: number;
    readonly renderings: number;
    readonly waiting: number;
  } {
    return {
      ...this.#budget.held,
      ...this.#cache.lookUps,
      cached: this.#cache.bytes,
      renderings: this.#renderings,
      waiting: this.#turns.waiting,
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
      const held = findHeldCoding(ifNoneMatch, tagsOf(tag), wished);
      if (held !== undefined) return notModified(tag, held);
    }
    const body = this.#cache.get(tag) ?? (await this.#renderOnce(c, tag, question));
    if (ifNoneMatch?.trim() === '*') return notModified(tag, wished);
    const coding = wished === 'gzip' ? await this.#compressOnce(body) : 'identity';
    const bytes = body[coding] ?? body.identity;
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
   * Counts a body until the client of a request has taken it; the listener cuts one that takes it too slowly. It is
   * cut too where it loses its room to another client of its network.
   * @throws FullmatchError too_many_answers, too_many_client_answers
   */
  hold(c: Pick<Context, 'env'>, body: Uint8Array): void {
    const connection = connectionOf(c);
    if (connection === undefined || isGone(connection)) return;
    const cut = (): void => void connection.socket.destroy();
    whenEnded(connection, this.#budget.hold(this.clientOf(c), body, cut));
  }

  /**
   * Makes something large in the client's turn, and nothing for a client that has left.
   * @param turns of what is made; without them those of readings, which take the connections of large answers.
   * @throws FullmatchError too_many_answers, too_many_client_answers; what `make` throws
   */
  async inTurn<T>(c: Context, make: (asker: Asker) => Promise<T>, turns = this.#turns): Promise<T> {
    return this.forAsker(c, (asker) =>
      turns.run(asker.client, () => make(asker), asker.signal).catch(refuseOutOfPlace),
    );
  }

  /**
   * Makes something large outside of the turns, for a client that has taken enough of its answers.
   * @throws FullmatchError too_many_answers, too_many_client_answers; what `make` throws
   */
  async forAsker<T>(c: Context, make: (asker: Asker) => Promise<T>): Promise<T> {
    const client = this.clientOf(c);
    this.#budget.requireRoom(client);
    return whileWaitedFor(c, (signal) => make({ client, signal }));
  }

  /** For whom a request is answered, see {@link clientOf}. */
  clientOf(c: Pick<Context, 'env'>): string {
    return clientOf(c.env, this.#options.trustedProxies);
  }

  /** Resolves when something may be rendered that takes milliseconds: other requests come between two such answers. */
  ownPass(c: Context): Promise<void> {
    return this.#passes.next(this.clientOf(c));
  }

  /** Refuses a client that has taken too little of its answers. @throws FullmatchError too_many_client_answers */
  requireRoom(c: Context): void {
    this.#budget.requireRoom(this.clientOf(c));
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    await this.#thread.close();
  }

  #tagOf(key: readonly unknown[]): string {
    const text = JSON.stringify([this.#options.version, ...key]);
    return createHash('sha256').update(text).digest('base64url').slice(0, TAG_LENGTH);
  }

  async #renderOnce(c: Context, tag: string, question: RecordQuestion): Promise<CachedBody> {
    const client = this.clientOf(c);
    this.#budget.requireRoom(client);
    return whileWaitedFor(c, (signal) =>
      this.#rendering.ask(tag, { client, signal }, async (unwanted) => {
        const identity = await this.#render(client, question, unwanted);
        const body = { tag, identity };
        this.#cache.set(tag, body);
        return body;
      }),
    ).catch(refuseOutOfPlace);
  }

  async #render(
    client: string,
    { read }: RecordQuestion,
    unwanted: AbortSignal,
  ): Promise<Buffer<ArrayBuffer>> {
    const found = await read();
    unwanted.throwIfAborted();
    this.#renderings += 1;
    if (Buffer.isBuffer(found)) return found;
    // Packing takes ten times as long as writing.
    const isSmall = sizeOf(found.parts) < OFF_THREAD_FROM_BYTES && found.form.kind !== 'zip';
    return isSmall ? renderRecord(found) : this.#renderOnThread(found, client, unwanted);
  }

  async #renderOnThread(
    task: RecordTask,
    client: string,
    signal: AbortSignal,
  ): Promise<Buffer<ArrayBuffer>> {
    try {
      const answer = await this.#thread.ask(task, { client, signal });
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
    this.#cache.set(body.tag, body);
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

/** Says of a question without a place to wait that there are too many. */
function refuseOutOfPlace(error: unknown): never {
  if (!(error instanceof NoPlace)) throw error;
  throw error.kind === 'full' ? tooManyAnswers() : tooManyClientQuestions();
}

function answerTooLarge(): FullmatchError {
  return new FullmatchError(
    'answer_too_large',
    'This answer takes longer or needs more memory than it may; ask for fewer fields, or for the sources page by page.',
  );
}
